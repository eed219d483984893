# SPDX-License-Identifier: Apache-2.0
"""State in plans: where it lies, when it is written, and that broken plans are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.options.memories import parse_regions
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.memory.regions import NoRoom
from cortexm_tools.plan.memory.states import settle
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.streams import random_stream

M55 = Target.parse("cortex-m55")


def _mean(first: bool = True) -> Graph:
    net = Net()
    x = net.input((1, 4, 8, 8))
    total = net.tensor((1, 4, 8, 8))
    net.keep(total, net.sum(total, x) if first else net.sum(x, total))
    return simplify(net.finish(net.conv(net.states[0].after, 4)))


def _stream() -> Graph:
    """The last two rows before those of the input, then a convolution over all."""
    net = Net()
    x, cache = net.input((1, 8, 1, 16)), net.tensor((1, 8, 2, 16))
    window = net.concat([cache, x], 2)
    cut = ops.Slice((0, 0, 1, 0), (1, 1, 1, 1))
    net.keep(cache, net.add(cut, [window], (1, 8, 2, 16)))
    return simplify(net.finish(net.conv(window, 8, padding=(0, 1, 0, 1))))


def _exchange() -> Graph:
    net = Net()
    x = net.input((1, 16))
    a, b = net.tensor((1, 16)), net.tensor((1, 16))
    net.keep(a, b)
    net.keep(b, a)
    return simplify(net.finish(net.sum(a, x)))


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("ram_limit", [None, 1])
def test_random_streams(cpu: str, ram_limit: int | None) -> None:
    """Plans whose every byte is replayed, with states from the first step to the last."""
    for seed in range(40):
        graph = simplify(random_stream(seed))
        plan = make_plan(graph, Target.parse(cpu), ram_limit=ram_limit)
        replay(plan)
        assert plan.state_size >= sum(graph.tensors[s.before].nbytes for s in graph.states)


@pytest.mark.parametrize("first", [True, False])
def test_an_element_wise_state_is_updated_in_place(first: bool) -> None:
    plan = make_plan(_mean(first), M55)
    assert len(plan.steps) == 2
    assert plan.state_size == 4 * 8 * 8
    assert plan.working_size < 2 * 4 * 8 * 8  # the input, then the result of the convolution


def test_a_stream_needs_no_copy_at_its_end() -> None:
    graph = _stream()
    assert settle(graph) == graph
    plan = make_plan(graph, M55)
    assert plan.state_size == 8 * 2 * 16
    written = [step for step in plan.steps if graph.states[0].after in step.op.outputs]
    assert [step.op.kind for step in written] == ["slice"]


def _ring(read: str) -> Graph:
    """Rows of a state that are written by index; `read` says which value goes on."""
    net = Net()
    row, ring = net.input((1, 4, 1, 8)), net.tensor((1, 4, 3, 8))
    place = net.input((1,), DType.S64)
    new = net.keep(ring, net.add(ops.IndexPut((2,), False), [ring, row, place], (1, 4, 3, 8)))
    return simplify(net.finish(net.conv(new if read == "new" else ring, 4)))


def test_rows_are_written_into_a_state_in_place() -> None:
    plan = make_plan(_ring("new"), M55)
    replay(plan)
    (put,) = (step for step in plan.steps if step.op.kind == "index_put")
    assert [call.kernel.op for call in put.calls] == ["index_offsets", "scatter"]
    old = make_plan(_ring("old"), M55)
    replay(old)
    assert [step.op.kind for step in old.steps] == ["index_put", "conv2d", "clone"] or (
        [step.op.kind for step in old.steps] == ["conv2d", "index_put"]
    )


def test_states_that_change_places_take_one_copy() -> None:
    graph = _exchange()
    assert [op.kind for op in settle(graph).ops][len(graph.ops) :] == ["clone"]
    replay(make_plan(graph, M55))


def test_a_state_that_nothing_depends_on_is_dropped() -> None:
    net = Net()
    x, count = net.input((1, 8)), net.tensor((1, 8))
    net.keep(count, net.sum(count, x))
    graph = simplify(net.finish(net.activation(x)))
    assert not graph.states and len(graph.ops) == 1


def test_state_lies_behind_the_arena_and_is_counted() -> None:
    plan = make_plan(_stream(), M55)
    state = plan.state_arena
    assert state is not None and state.base == plan.main_size
    assert plan.arena_size == plan.main_size + plan.state_size
    limited = make_plan(_stream(), M55, ram_limit=plan.arena_size)
    assert limited.arena_size <= plan.arena_size


def test_state_takes_its_part_of_the_main_region() -> None:
    whole = make_plan(_stream(), M55).arena_size
    plan = make_plan(_stream(), M55, parse_regions([f"sram={whole}@.sram", "flash=64K:weights"]))
    assert plan.state_arena is not None and plan.state_arena.region.section == ".sram"
    with pytest.raises(NoRoom):
        make_plan(_stream(), M55, parse_regions([f"sram={whole - 16}"]))
    with pytest.raises(NoRoom, match="state"):
        make_plan(_stream(), M55, parse_regions(["sram=128"]))


def _moved(plan: Plan, by: int) -> Plan:
    """The plan with the state somewhere else."""
    own = plan.buffer_of[plan.graph.states[0].before]
    buffers = [
        replace(b, offset=b.offset + by) if n == own else b for n, b in enumerate(plan.buffers)
    ]
    return replace(plan, buffers=tuple(buffers))


def _into_arena(plan: Plan) -> Plan:
    """The plan with a tensor of the arena where the state lies."""
    state = plan.graph.states[0]
    buffers = [
        replace(b, offset=plan.offset(state.before), region=len(plan.arenas) - 1)
        if n == plan.buffer_of[plan.steps[0].op.outputs[0]]
        else b
        for n, b in enumerate(plan.buffers)
    ]
    return replace(plan, buffers=tuple(buffers))


def _other_buffer(plan: Plan) -> Plan:
    """The plan with the new state where it was computed before."""
    state = plan.graph.states[0]
    first = plan.buffer_of[plan.graph.inputs[0]]
    return replace(plan, buffer_of=plan.buffer_of | {state.after: first})


def _late_reader(plan: Plan) -> Plan:
    """The plan with the writer of the state before its readers."""
    after = plan.graph.states[0].after
    writer = next(n for n, step in enumerate(plan.steps) if after in step.op.outputs)
    steps = list(plan.steps)
    clone = replace(steps[writer].op, attrs=ops.Clone(), inputs=plan.graph.inputs[:1])
    early = replace(steps.pop(writer), op=clone)
    later = {number + (number < writer): buffer for number, buffer in plan.scratch_of.items()}
    return replace(plan, steps=(early, *steps), scratch_of=later)


@pytest.mark.parametrize(
    "change",
    [
        lambda plan: _moved(plan, 16),
        lambda plan: _moved(plan, -16),
        _into_arena,
        _other_buffer,
        _late_reader,
    ],
)
def test_broken_plans_are_refused(change: object) -> None:
    plan = make_plan(_stream(), M55)
    check_plan(plan)
    with pytest.raises(CortexMError):
        check_plan(change(plan))  # type: ignore[operator]


def test_the_old_value_is_read_before_it_is_overwritten() -> None:
    """A convolution of the state onto itself goes through the arena; in place it is refused."""
    net = Net()
    x, old = net.input((1, 4, 1, 1)), net.tensor((1, 4, 6, 6))
    net.keep(old, net.conv(old, 4), np.zeros((1, 4, 6, 6), np.int8))
    graph = simplify(net.finish(net.mul(net.states[0].after, x)))
    plan = make_plan(graph, M55)
    replay(plan)
    settled = plan.graph
    assert len(settled.ops) == len(graph.ops) + 1
    state, first = settled.states[0], settled.ops[0].outputs[0]
    buffer_of = plan.buffer_of | {first: plan.buffer_of[state.before]}
    with pytest.raises(CortexMError):
        check_plan(replace(plan, buffer_of=buffer_of))
