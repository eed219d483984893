# SPDX-License-Identifier: Apache-2.0
"""What judges a refactoring tells every change, and marks what is beyond the limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.kernels import table
from cortexm_tools.target import Isa, Target

from benchmarks import ablate, goldens, programs
from tests.support.graphs import Net

M55 = Target.parse("cortex-m55")


def plan() -> Plan:
    net = Net("net", 1)
    x = net.conv(net.input((1, 8, 6, 6)), 8, (3, 3), padding=(1, 1, 1, 1))
    return make_plan(net.finish(net.conv(x, 8, (1, 1))), M55)


def test_the_record_has_every_program_on_every_core() -> None:
    _, rows = goldens.load()
    assert rows.keys() == {f"{name} {cpu}" for name in programs.names() for cpu in goldens.CPUS}
    digests = [row[column] for row in rows.values() for column in goldens.DIGESTS]
    assert {len(digest) for digest in digests} == {8}


def test_a_digest_tells_a_constant_an_offset_a_field_and_a_kernel() -> None:
    whole = plan()
    before = goldens.of_plan(whole)
    assert goldens.of_plan(plan()) == before
    first = whole.steps[0]
    call = first.calls[0]
    name, value = next((n, v) for n, v in call.fields if isinstance(v, int))

    def with_call(**changes: object) -> Plan:
        step = replace(first, calls=(replace(call, **changes), *first.calls[1:]))
        return replace(whole, steps=(step, *whole.steps[1:]))

    largest = max(range(len(whole.buffers)), key=lambda i: whole.buffers[i].offset)
    buffer = whole.buffers[largest]
    moved = [*whole.buffers]
    moved[largest] = replace(buffer, offset=buffer.offset + 16)
    weights = whole.constants[0]
    other = replace(weights, data=weights.data ^ 1)
    changed = {
        "constant": replace(whole, constants=(other, *whole.constants[1:])),
        "offset": replace(whole, buffers=tuple(moved)),
        "field": with_call(
            fields=tuple((n, v + (n == name)) if n == name else (n, v) for n, v in call.fields)
        ),
    }
    for what, other_plan in changed.items():
        after = goldens.of_plan(other_plan)
        assert after["plan"] != before["plan"] and after["kernels"] == before["kernels"], what
    renamed = goldens.of_plan(with_call(kernel=replace(call.kernel, op="conv2d_other")))
    assert renamed["plan"] == before["plan"] and renamed["kernels"] != before["kernels"]


def row(**changes: int | str) -> goldens.Row:
    costs = {"instructions": 100_000, "code": 1000, "constants": 1000, "ram": 1000}
    return dict.fromkeys(goldens.DIGESTS, "0") | costs | changes


@pytest.mark.parametrize(
    ("changes", "marked"),
    [
        ({}, []),
        ({"plan": "1", "kernels": "1"}, []),
        ({"program": "1"}, ["1 !"] * 2),
        ({"outputs": "1"}, ["1 !"] * 2),
        ({"instructions": 101_000}, []),
        ({"instructions": 104_000}, ["+1.98 % !"]),
        ({"instructions": 120_000, "code": 900}, ["+9.54 % !", "int8/a +20.00 % !"]),
        ({"ram": 1001}, ["+0.05 % !"]),
    ],
)
def test_what_is_beyond_a_limit_is_marked(changes: goldens.Row, marked: list[str]) -> None:
    before = {f"int8/{name} cortex-m4": row() for name in "ab"}
    _, *lines = goldens.compared(before, before | {"int8/a cortex-m4": row(**changes)})
    assert [line[1] for line in lines] == ["int8", "all"]
    assert [cell for line in lines for cell in line if "!" in cell] == marked


def test_where_nothing_was_run_plans_must_be_equal() -> None:
    before = {"float/a cortex-m4": row()}
    after = {"float/a cortex-m4": {"program": "0", "plan": "1", "kernels": "0", "constants": 1000}}
    assert not goldens.show(before, after)
    assert goldens.show(before, {key: each | {"plan": "0"} for key, each in after.items()})
    assert not goldens.show(before, {"float/a cortex-m4": {"program": "0", "error": "no room"}})
    assert not goldens.show({}, after)


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table of kernels is whole again afterwards."""
    with monkeypatch.context() as patch:
        patch.setattr(table, "kernels", table.kernels)
        yield
    table.variants.cache_clear()


def test_a_plan_does_without_kernels_that_are_taken_out(kernels: None) -> None:
    with_all = {call.kernel.symbol for step in plan().steps for call in step.calls}
    ablate.take_out(with_all)
    assert with_all.isdisjoint(call.kernel.symbol for step in plan().steps for call in step.calls)


def test_a_kernel_needs_the_lines_that_the_preprocessor_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ablate, "KERNELS", tmp_path)
    lines = ["#define TWICE(x) \\", "    (2 * (x))", "/* A", " * B */", "#ifdef WIDE", "int wide;"]
    lines += ["int two(int x)", "{", "    return TWICE(x);", "}", "#else", "int narrow;", "#endif"]
    (tmp_path / "template.inc").write_text("\n".join(lines) + "\n")
    (tmp_path / "wide.c").write_text('#define WIDE\n\n#include "template.inc"\nint last;\n')
    found = ablate.kept(tmp_path / "wide.c", Isa.DSP)
    by_file = {
        name: [n for file, n in sorted(found) if file.endswith(name)] for name in (".c", ".inc")
    }
    assert by_file == {".c": [1, 4], ".inc": [1, 3, 4, *range(6, 11)]}
