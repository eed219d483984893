# SPDX-License-Identifier: Apache-2.0
"""Every network of the corpus is lowered and runs, on the M55 and on one other core, with the bytes of the
interpreter; what it costs is what docs/networks.md says."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.report import float_ops
from cortexm_tools.runner import run_in_order

from tests.networks import record
from tests.networks.corpus import networks
from tests.networks.measured import CALLS, CPU, Subject, other_core, row, run, subject
from tests.support.batches import Done
from tests.support.reference import ExactPools

NAMES = tuple(networks())
PARTS = 2  # of the list, one for each worker


def part(name: str) -> int:
    return NAMES.index(name) % PARTS


each_network = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.xdist_group(f"networks{part(name)}")) for name in NAMES],
)
Results = Callable[[str, str], tuple[Done, Path]]


def compare(found: Subject, done: Done) -> None:
    """Every value that the board gave is the interpreter's, in every byte where arithmetic is exact."""
    graph = done.compiled.plan.graph
    wanted = run_sequence(graph, found.rows[:CALLS])
    for got, want in zip(done.outputs, wanted, strict=True):
        for a, b, tolerance in zip(got, want, tolerances(graph), strict=True):
            assert differing(a, b, tolerance) == 0


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What a network did on a core, and where; those that were asked for run in one image."""
    selected = [getattr(item, "callspec", None) for item in request.session.items]
    asked = {spec.params["name"] for spec in selected if spec and spec.params.get("name") in NAMES}
    work = tmp_path_factory.mktemp("networks")
    found: dict[tuple[int, str], dict[str, Done]] = {}

    def result(name: str, cpu: str) -> tuple[Done, Path]:
        key = part(name), cpu
        folder = work / f"{cpu}-{part(name)}"
        if key not in found:
            names = [n for n in NAMES if n in asked and part(n) == part(name)]
            if cpu != CPU:
                names = [n for n in names if other_core(n) == cpu]
            found[key] = run(names, cpu, folder)
        return found[key][name], folder

    return result


@each_network
def test_every_byte_and_every_cost(name: str, results: Results) -> None:
    net, found = networks()[name], subject(name)
    if net.refused:
        assert isinstance(found, CortexMError) and found.message == net.refused, found
        assert f"{net.kind}.py:" in found.where and found.hint
        return
    if isinstance(found, CortexMError):
        raise found
    done, folder = results(name, CPU)
    compare(found, done)
    compiler_then, recorded = record.load()
    measured = row(name, done, folder)
    if record.compiler() != compiler_then:
        pytest.skip(f"sizes were recorded with {compiler_then}, this is {record.compiler()}")
    worse, better = record.changes(recorded[name], measured)
    assert not worse, f"{', '.join(worse)}; {record.REFRESH}"
    if better:
        warnings.warn(f"{name} is better than recorded: {', '.join(better)}", stacklevel=1)


@each_network
def test_every_byte_on_another_core(name: str, results: Results) -> None:
    found = subject(name)
    if isinstance(found, CortexMError):
        assert networks()[name].refused
        return
    compare(found, results(name, other_core(name))[0])


@each_network
def test_interpreter_gives_what_executorch_does(name: str) -> None:
    """In every byte of what is computed in integers; sums of floats have another order in PyTorch, and
    codes that are made of them may be others."""
    found = subject(name)
    if isinstance(found, CortexMError):
        assert networks()[name].refused
        return
    rows = found.rows[:2]
    with ExactPools():
        wanted = run_in_order(found.reference, rows)
    share = 0.05 if float_ops(found.program.graph()) else 0.0
    for outputs, expected in zip(run_sequence(found.program.graph(), rows), wanted, strict=True):
        for got, want in zip(outputs, expected, strict=True):
            largest = float(np.abs(want.astype(np.float64)).max())
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=share * largest)


def test_the_record_is_complete_and_the_page_is_made_of_it() -> None:
    _, recorded = record.load()
    assert list(recorded) == [name for name, net in networks().items() if not net.refused]
    assert record.PAGE.read_text(encoding="utf-8") == record.page()


def test_changes_are_told_and_judged() -> None:
    old = {"program": "a", "instructions": 1000, "int8": 4, "ram": 100, "decibels": 30.0}
    assert record.changes(old, old | {"instructions": 1016, "decibels": 29.6}) == ([], [])
    worse, better = record.changes(old, old | {"instructions": 1017, "int8": 3, "ram": 96})
    assert worse == ["instructions: 1,000 -> 1,017", "int8: 4 -> 3"]
    assert better == ["ram: 100 -> 96"]
    joined = record.changes(old | {"operators": 5}, old | {"operators": 4, "int8": 3})
    assert joined == ([], ["int8: 4 -> 3", "operators: 5 -> 4"])
    assert record.changes(old, old | {"decibels": 29.4})[0] == ["decibels: 30.0 -> 29.4"]
    assert record.changes(old, old | {"decibels": None})[0] == ["decibels: 30.0 -> None"]
    assert record.changes(old, old | {"program": "b", "ram": 102, "decibels": 28.1}) == ([], [])
