# SPDX-License-Identifier: Apache-2.0
"""Plans of random networks: no live bytes are shared, and mutated plans are refused."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortexm_tools.emit import EmitOptions
from cortexm_tools.emit.model import model_text
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, ops
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.lanes import check_lanes
from cortexm_tools.plan.kernels.table import kernels
from cortexm_tools.plan.lower.copies import cheapest_order, merge_dims
from cortexm_tools.plan.lower.lanes import with_lanes
from cortexm_tools.plan.memory.offsets import lower_bound, place
from cortexm_tools.plan.types import Buffer, Step
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.random_graphs import (
    random_branches,
    random_bytes,
    random_few,
    random_layer,
    random_narrow,
    random_network,
    random_wide,
)
from tests.support.ways import kernels_for

M55 = Target.parse("cortex-m55")


def plan_of(seed: int) -> Plan:
    return make_plan(simplify(random_network(seed)), M55)


def test_known_arena_sizes() -> None:
    chain = tuple(Buffer(str(i), 100 + 4 * i, 4, i, i + 1) for i in range(6))
    assert place(chain).size == lower_bound(chain) == 120 + 116
    assert place((Buffer("a", 64, 16, 0, 3), Buffer("b", 64, 16, 4, 5))).size == 64


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m0"])
@pytest.mark.parametrize("seed", range(40))
def test_live_bytes_are_never_overwritten(seed: int, cpu: str) -> None:
    replay(make_plan(simplify(random_network(seed)), Target.parse(cpu)))


def layer(seed: int, cpu: str) -> Plan:
    """One operator alone: its result overlaps the input as far as it may."""
    return make_plan(simplify(random_layer(seed)), Target.parse(cpu))


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m0"])
def test_results_overlap_their_operands(cpu: str) -> None:
    """… and not one byte further: a result that is moved up by what it is aligned to is refused."""
    saved = refused = 0
    for seed in range(60):
        plan = layer(seed, cpu)
        replay(plan)
        total = sum(plan.graph.tensors[i].nbytes for i in (*plan.graph.inputs, *plan.graph.outputs))
        saved += plan.arena_size < total
        number = plan.buffer_of[plan.graph.outputs[0]]
        if plan.arena_size >= total or number == plan.buffer_of[plan.graph.inputs[0]]:
            continue
        moved = list(plan.buffers)
        result = moved[number]
        moved[number] = replace(result, offset=result.offset + 2 * result.align)
        size = plan.arena_size + 2 * result.align
        arenas = (replace(plan.arenas[0], size=size),)
        mutated = replace(plan, buffers=tuple(moved), arena_size=size, arenas=arenas)
        with pytest.raises(CortexMError, match="overlap"):
            check_plan(mutated)
        refused += 1
    assert saved > 20 and refused > 20


def test_every_kernel_with_an_order_is_among_the_networks() -> None:
    """tests/device runs the same networks on the cores."""
    used = set()
    for cpu in ("cortex-m55", "cortex-m33", "cortex-m4", "cortex-m3", "cortex-m0", "any"):
        layers, networks = map(random_layer, range(60)), map(random_network, range(40))
        others = [*map(random_bytes, range(12)), *map(random_few, range(12))]
        others += [*map(random_narrow, range(2)), *map(random_branches, range(9))]
        for graph in [*layers, *networks, *others, *map(random_wide, range(36))]:
            used |= {kernel.symbol for kernel in kernels_for(simplify(graph), Target.parse(cpu))}
    assert {kernel.symbol for kernel in kernels() if kernel.order} <= used


@pytest.mark.parametrize("seed", range(12))
def test_moved_buffers_are_noticed(seed: int) -> None:
    """Each buffer laid onto one that lives at the same time is refused."""
    plan = plan_of(seed)
    tried = 0
    for i, a in enumerate(plan.buffers):
        for b in plan.buffers[:i]:
            if a.first < b.last and b.first < a.last:
                moved = list(plan.buffers)
                moved[i] = replace(a, offset=b.offset)
                with pytest.raises(CortexMError):
                    check_plan(replace(plan, buffers=tuple(moved)))
                tried += 1
    size = max(b.offset + b.nbytes for b in plan.buffers) - 1
    (arena,) = plan.arenas
    shrunk = replace(plan, arena_size=size, arenas=(replace(arena, size=size),))
    with pytest.raises(CortexMError, match="outside the arena"):
        check_plan(shrunk)


def test_equal_constants_are_stored_once() -> None:
    net = Net()
    x = net.input((1, 4))
    table = net.codes(256)
    first = net.add(ops.Activation(), [x, table], (1, 4))
    copy = net.constant(net.tensors[table].data, net.tensors[table].dtype)  # type: ignore[arg-type]
    plan = make_plan(simplify(net.finish(net.add(ops.Activation(), [first, copy], (1, 4)))), M55)
    assert [constant.nbytes for constant in plan.constants] == [256]


def test_a_batch_is_a_loop_over_its_images() -> None:
    net = Net()
    plan = make_plan(simplify(net.finish(net.conv(net.input((3, 4, 8, 8)), 2))), M55)
    (step,) = plan.steps
    (call,) = step.calls
    assert call.turns == 3 and call.macs == 3 * 2 * 8 * 8 * 4 * 9
    places = [arg.offset for call in step.trace() for arg in call.tensors]
    assert places == [0, 0, 256, 128, 512, 256]
    code = model_text(plan, EmitOptions(name="net", command="", digest=""))
    assert "for (int32_t image = 0; image < 3; ++image) {" in code
    assert "+ 256 * image)" in code and "+ 128 * image)" in code
    assert sum(call.macs for call in step.calls) == 3 * 8 * 8 * 2 * 3 * 3 * 4


@pytest.mark.parametrize(
    ("dims", "a", "b", "expected"),
    [
        ((2, 3, 4), (12, 4, 1), (12, 4, 1), [(24, 1, 1)]),
        ((2, 3, 4), (12, 1, 3), (12, 4, 1), [(2, 12, 12), (3, 1, 4), (4, 3, 1)]),
        ((1, 1), (1, 1), (1, 1), [(1, 1, 1)]),
        ((5, 4), (0, 1), (4, 1), [(5, 0, 4), (4, 1, 1)]),
    ],
)
def test_copies_use_few_dimensions(
    dims: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...], expected: list[tuple[int, ...]]
) -> None:
    assert merge_dims(dims, a, b) == expected


@pytest.mark.parametrize(
    ("box", "scalar", "mve"),
    [
        # An image becomes channels last: rows of three are too short for a turn of four.
        ([(1024, 1, 3), (3, 1024, 1)], [3, 1024], [3, 1024]),
        # Channels shuffled in two groups: a vector of eight pixels of a pair; a row of all pixels.
        ([(100, 16, 16), (8, 1, 2), (2, 8, 1)], [8, 2, 100], [2, 100, 8]),
        # Rows of twelve bytes of a slice: a vector has room for one.
        ([(64, 48, 12), (12, 1, 1)], [12, 64], [64, 12]),
        ([(7, 1, 1)], [7], [7]),
    ],
)
def test_copies_walk_the_cheapest_dimensions(
    box: list[tuple[int, int, int]], scalar: list[int], mve: list[int]
) -> None:
    for cpu, isa, expected in (("cortex-m0", "scalar", scalar), ("cortex-m55", "mve", mve)):
        kernel = next(k for k in kernels() if k.serves == "copy" and k.isa.value == isa)
        ordered = cheapest_order(box, kernel, Target.parse(cpu).core)
        assert [extent for extent, _, _ in ordered] == expected
        assert sorted(ordered) == sorted(box)


@cache
def columns_padded() -> tuple[Plan, Step]:
    """A plan, and its step, whose last call gathers and scatters columns of images."""
    net = Net()
    plan = make_plan(
        net.finish(net.pad(net.input((2, 6, 30, 4)), (0, 1, 0, 1), (0, 0, 2, 0), 3)), M55
    )
    (step,) = plan.steps
    return plan, step


@settings(max_examples=100, deadline=None)
@example(dims=[1, 2, 2], size=1, gap=0, steps=[0, 0, 0, 0])
@given(
    dims=st.lists(st.integers(0, 20), min_size=1, max_size=4),
    size=st.sampled_from([1, 2]),
    gap=st.integers(0, 2),
    steps=st.lists(st.integers(-40, 300), min_size=4, max_size=4),
)
def test_lanes_move_what_a_box_does(dims: list[int], size: int, gap: int, steps: list[int]) -> None:
    """Of any strides in the operand, negative ones too, and a result that is dense or has gaps."""
    steps = steps[: len(dims)]
    pitches = [math.prod(extent + gap for extent in dims[d + 1 :]) for d in range(len(dims))]
    plan, step = columns_padded()
    call = step.calls[-1]
    fields = {"dims": tuple(dims), "in_stride": tuple(steps), "out_stride": tuple(pitches)}
    kernel = replace(call.kernel, types=f"x{8 * size}")
    made = with_lanes(replace(call, kernel=kernel, fields=tuple(fields.items())))
    check_lanes(plan, replace(step, calls=(made,)))


def test_lanes_that_are_elsewhere_are_found_out() -> None:
    plan, step = columns_padded()
    call = step.calls[-1]
    check_lanes(plan, step)
    named = {name: value for name, value in call.fields if name != "rank"}
    assert {"outer_dims", "in_lanes", "out_lanes"} < named.keys()
    for name, value in named.items():
        wrong = (*value[:-1], value[-1] + 1) if isinstance(value, tuple) else int(value) + 1
        fields = tuple((dict(call.fields) | {name: wrong}).items())
        with pytest.raises(CortexMError, match="the lanes of a copy are not its box"):
            check_lanes(plan, replace(step, calls=(replace(call, fields=fields),)))


def copying(net: Net, out: int, cpu: str) -> list[str]:
    """The kernels of a graph that computes nothing."""
    steps = make_plan(net.finish(out), Target.parse(cpu)).steps
    return [call.kernel.symbol for step in steps for call in step.calls]


@pytest.mark.parametrize(
    ("channels", "kernel"), [(3, "avg_pool2d_s8_scalar"), (4, "avg_pool2d_s8_dsp")]
)
def test_few_channels_are_averaged_one_by_one(channels: int, kernel: str) -> None:
    net = Net("pool", 1)
    x = net.input((1, channels, 16, 16))
    found = copying(net, net.pool(x, (8, 8), largest=False), "cortex-m4")
    assert found == [f"cortexm_{kernel}"]


def test_what_lies_in_one_piece_is_moved() -> None:
    for cpu, kernel in (("cortex-m55", "move_x8_mve"), ("cortex-m4", "copy_x16_v7m")):
        column = Net("column", 1)
        x = column.input((40, 1), DType.S16)
        plan = make_plan(column.finish(column.transpose(x, (1, 0))), Target.parse(cpu))
        (call,) = (call for step in plan.steps for call in step.calls)
        assert call.kernel.symbol == f"cortexm_{kernel}"
        assert dict(call.fields).get("count", 80) == 80  # bytes
    rows = Net("rows", 1)
    assert copying(rows, rows.transpose(rows.input((40, 3)), (1, 0)), "cortex-m55") == [
        "cortexm_copy_lanes_x8_mve"
    ]


def test_operands_of_a_concatenation_are_copied() -> None:
    """They may get gaps."""
    net = Net("parts", 1)
    images = [net.transpose(net.input((1, 1, 8, 8)), (0, 1, 3, 2)) for _ in range(2)]
    turned = [net.transpose(x, (0, 1, 3, 2)) for x in images]
    assert "cortexm_move_x8_mve" not in copying(net, net.concat(turned, 1), "cortex-m55")


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_what_is_pushed_needs_no_kernel_of_copies(cpu: str) -> None:
    net = Net("pushed", 1)
    memory, new = net.input((4, 12)), net.input((4, 3))
    moved = copying(net, net.add(ops.Push(1), [memory, new], (4, 12)), cpu)
    assert [symbol[:13] for symbol in moved] == ["cortexm_move_", "cortexm_copy_"]
    one = Net("one", 1)
    memory, new = one.input((12, 4)), one.input((3, 4))
    moved = copying(one, one.add(ops.Push(0), [memory, new], (12, 4)), cpu)
    assert [symbol[:13] for symbol in moved] == ["cortexm_move_"] * 2


@pytest.mark.parametrize(
    ("cpu", "rows", "kernel"),
    [
        ("cortex-m4", 3, "cortexm_conv2d_symmetric_s8_dsp"),
        ("cortex-m4", 2, "cortexm_linear_symmetric_s8_dsp"),
        ("cortex-m55", 3, "cortexm_linear_s8_mve"),
    ],
)
def test_rows_of_a_linear_layer_as_pixels(cpu: str, rows: int, kernel: str) -> None:
    net = Net("rows", 1)
    graph = net.finish(net.linear(net.input((rows, 20)), 6))
    assert kernel in {each.symbol for each in kernels_for(graph, Target.parse(cpu))}
