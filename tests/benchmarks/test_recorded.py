# SPDX-License-Identifier: Apache-2.0
"""Exact instruction counts and sizes against benchmarks/recorded.json, and the tables made of it."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from benchmarks.suite.measure import (
    CONFIGURATIONS,
    CORES,
    compiler_version,
    digest,
    measure,
    ram_of,
)
from benchmarks.suite.page import BASELINE, document, with_table
from benchmarks.suite.record import Record, changes, load, merge, missing, save
from tests.support.lowered import lowered

ROOT = Path(__file__).parents[2]

# The others take minutes; benchmarks/run.py --check compares all.
MODELS = ("ds_cnn", "resnet8", "deep_autoencoder")
REFRESH = "benchmarks/run.py --record writes the new numbers, if they are meant to be so"
# Where this machine lowers a model to other codes than the recorded one, counts that depend on
# the values (clamping, rounding) differ a little.
OTHER_PROGRAM = 0.01


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in MODELS]
)
def test_no_number_is_worse_than_recorded(name: str, tmp_path: Path) -> None:
    recorded = load()
    if compiler_version() != recorded.compiler:
        pytest.skip(
            f"recorded with {recorded.compiler}, this is {compiler_version()}: counts and sizes "
            f"differ by compiler, nothing was compared; {REFRESH}"
        )
    net = lowered(name)
    tolerance = 0.0 if recorded.programs[name] == digest(net) else OTHER_PROGRAM
    new = Record(recorded.compiler, {}, {"float": {}})
    for cpu in CORES:
        new.tables["float"][cpu] = {name: measure(net, "float", cpu, tmp_path)}
    found = changes(recorded, new, tolerance=tolerance)
    if found:
        text = "\n".join(map(str, found))
        if tolerance:
            text += f"\n(the program is not the recorded one: {tolerance:.0%} is tolerated)"
        assert not any(change.worse for change in found), f"\n{text}\n{REFRESH}"
        warnings.warn(f"better than recorded:\n{text}\n{REFRESH}", stacklevel=1)


def test_record_is_complete_and_its_tables_are_in_the_documents() -> None:
    record = load()
    assert missing(record) == []
    assert (ROOT / "docs" / "benchmarks.md").read_text() == document(record)
    readme = (ROOT / "README.md").read_text()
    assert with_table(readme, record) == readme


def test_fewer_instructions_and_less_flash_than_other_generators() -> None:
    record = load()
    for peer in BASELINE["generators"]:
        ours = record.tables[peer["configuration"]][peer["cpu"]]
        assert set(peer["models"]) <= set(ours)
        for model, theirs in peer["models"].items():
            row = ours[model]
            assert row["instructions"] < theirs["instructions"]
            assert row["code_flash"] + row["constants"] < theirs["code_flash"] + theirs["constants"]


# Bytes of RAM in all that no model exceeds with int8 inputs and outputs.
MOST_RAM = {
    "ds_cnn": 12 << 10,
    "resnet8": 32 << 10,
    "mobilenet_v1_025": 64 << 10,
    "deep_autoencoder": 4 << 10,
    "mobilenet_v2": 170 << 10,
    "mobilenet_v2_224": 800 << 10,
}


def test_ram_stays_a_fraction_of_the_baselines() -> None:
    """At most half with int8 inputs and outputs, 0.8 with float ones as the baseline has them."""
    for name, share in (("int8", 0.5), ("float", 0.8)):
        rows = load().tables[name]["cortex-m55"]
        for model, row in rows.items():
            assert ram_of(row) <= share * BASELINE["ram"]["cortex-m55"][model], (name, model)
            assert name == "float" or ram_of(row) <= MOST_RAM[model], model
        assert rows.keys() >= MOST_RAM.keys() - ({"mobilenet_v2_224"} if name == "float" else set())


def test_stack_is_below_a_kilobyte_everywhere() -> None:
    for cores in load().tables.values():
        for rows in cores.values():
            assert all(row["stack_bound"] <= 1024 for row in rows.values())
            assert all(row.get("stack", 0) <= row["stack_bound"] for row in rows.values())


def test_changes_are_told_and_judged(tmp_path: Path) -> None:
    row = {"instructions": 1000, "code_flash": 500, "arena_lower_bound": 80}
    old = Record("gcc 1", {"net": "ab"}, {"float": {"cortex-m4": {"net": row}}})
    save(old, tmp_path / "r.json")
    assert load(tmp_path / "r.json").programs == {"net": "ab"}
    new = Record("gcc 1", {}, {"float": {"cortex-m4": {"net": {**row, "instructions": 1005}}}})
    (change,) = changes(old, new)
    assert change.worse
    assert str(change) == "net (float) cortex-m4 instructions: 1,000 -> 1,005 (+0.50%)"
    assert changes(old, new, tolerance=0.01) == []
    (change,) = changes(new, old)
    assert not change.worse and "-0.50%" in str(change)
    grown = Record("", {}, {"float": {"cortex-m4": {"net": {**row, "arena_lower_bound": 90}}}})
    assert [change.worse for change in changes(old, grown)] == [False]
    other = Record("", {}, {"float": {"cortex-m4": {"more": row}}})
    assert {str(c).partition(": ")[2] for c in changes(old, other)} >= {"new, 1,000"}
    both = merge(old, other)
    assert set(both.tables["float"]["cortex-m4"]) == {"net", "more"}
    assert both.programs == {"net": "ab"}


def test_every_measured_core_and_model_exists() -> None:
    for cores in CONFIGURATIONS.values():
        assert set(cores) <= set(CORES)
        for models in cores.values():
            for name in models:
                file = name.removesuffix("_224") + ".py"
                assert (ROOT / "benchmarks" / "models" / file).is_file()
