# SPDX-License-Identifier: Apache-2.0
"""Concatenations in place: every byte where it belongs, and mutated plans are refused.

tests/device computes the same networks on the cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, contiguous, ops
from cortexm_tools.plan import Chain, KernelChoice, Plan, SearchSpace, assemble, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.memory.concat_in_place import joinable
from cortexm_tools.plan.search.bands import is_chain
from cortexm_tools.plan.types import Step, TensorArg
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.random_graphs import random_branches
from tests.support.recurrent import add_layer

CODES = (DType.S8, DType.S16)
CPUS = ("cortex-m55", "cortex-m4", "cortex-m0")
M55 = Target.parse("cortex-m55")
_POINTWISE = {"kernel": (1, 1), "padding": (0, 0, 0, 0)}


def copies(plan: Plan) -> list[int]:
    """Of each concatenation, how many operands it copies."""
    return [len(step.calls) for step in plan.steps if step.op.kind == "concat"]


def without_joins(graph: Graph) -> Plan:
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    candidates.joined = frozenset()
    return assemble(candidates, ())


def with_joins(graph: Graph) -> Plan:
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    assert candidates.joined
    return assemble(candidates, ())


def fire() -> Net:
    """Two of SqueezeNet's modules."""
    net = Net("fire")
    x = net.input((1, 16, 16, 16))
    for wide in (32, 64):
        x = net.conv(x, 16, (1, 1), padding=(0, 0, 0, 0))
        branches = [net.conv(x, wide, (1, 1), padding=(0, 0, 0, 0)), net.conv(x, wide)]
        x = net.concat(branches, 1)
    net.conv(x, 10, (3, 3), (2, 2))
    return net


def test_channels_are_written_where_they_belong() -> None:
    net = fire()
    graph = simplify(net.finish(len(net.tensors) - 1))
    joined, copied = with_joins(graph), without_joins(graph)
    assert copies(joined) == [0, 0] and copies(copied) == [2, 2]
    # the operands of the second concatenation beside its result; and the result beside its operands'
    assert copied.arena_size == 2 * 128 * 256
    assert joined.arena_size < 0.6 * copied.arena_size
    assert {part.pitch for part in joined.parts.values()} == {64, 128}


def test_features_lie_beside_each_other() -> None:
    net = Net()
    flat = net.view(net.input((1, 40, 1, 1)), (1, 40))
    branches = [net.linear(flat, 8), net.activation(net.linear(flat, 8)), net.linear(flat, 5)]
    plan = with_joins(simplify(net.finish(net.linear(net.concat(branches, 1), 3))))
    replay(plan)
    assert copies(plan) == [0]
    assert sorted({part.offset for part in plan.parts.values()}) == [0, 8, 16]
    assert not any(part.pitch for part in plan.parts.values())


def test_last_states_lie_beside_each_other() -> None:
    net = Net()
    x = net.input((3, 1, 8), order=contiguous(3))
    states = [add_layer(net, ops.Gru, x, 8, sequence=False)[0] for _ in range(2)]
    graph = simplify(net.finish(net.concat(states, 0)))
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    candidates.joined = joinable(graph)
    plan = assemble(candidates, ())
    replay(plan)
    check_plan(plan)
    assert copies(plan) == [0]


@pytest.mark.parametrize("order", [contiguous(4), (0, 2, 3, 1)])
def test_floats_that_are_copied_as_halves_lie_beside_each_other(order: tuple[int, ...]) -> None:
    net = Net()
    pixels = ops.Slice((0, 0, 0, 1), (1, 1, 2, 2))
    parts = [
        net.add(
            pixels, [net.input((1, 8, 16, 16), DType.F32, order)], (1, 8, 8, 8), DType.F32, order
        )
        for _ in range(2)
    ]
    graph = simplify(net.finish(net.add(ops.Concat(1), parts, (1, 16, 8, 8), DType.F32, order)))
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    candidates.joined = joinable(graph)
    plan = assemble(candidates, ())
    replay(plan)
    check_plan(plan)
    calls = [call for step in plan.steps for call in step.calls]
    assert [call.kernel.types for call in calls] == ["x16"] * 2
    assert any(part.pitch for part in plan.parts.values()) == (order != contiguous(4))


def _outputs_and_inputs(net: Net, x: int) -> list[int]:
    y = net.conv(x, 4)
    return [net.concat([y, x], 1), y]


def _read_later(net: Net, x: int) -> list[int]:
    y, z = net.conv(x, 4), net.conv(x, 4)
    joined = net.concat([y, z], 1)
    return [net.conv(joined, 4), net.conv(y, 4), net.conv(z, 4)]


def _twice(net: Net, x: int) -> list[int]:
    y = net.conv(x, 4)
    return [net.conv(net.concat([y, y], 1), 4)]


@pytest.mark.parametrize("make", [_outputs_and_inputs, _read_later, _twice])
def test_what_cannot_lie_in_the_result_is_copied(make: object) -> None:
    net = Net()
    plan = make_plan(simplify(net.finish(*make(net, net.input((1, 4, 6, 6))))), M55)  # type: ignore[operator]
    replay(plan)
    assert copies(plan) == [2] and not plan.parts


def test_kernels_of_other_libraries_leave_no_gaps() -> None:
    net = fire()
    graph = simplify(net.finish(len(net.tensors) - 1))
    plan = assemble(SearchSpace(graph, M55, KernelChoice.CMSIS_NN).as_given(Optimize.BALANCED), ())
    assert copies(plan) == [2, 2]


def test_a_result_that_would_live_too_long_is_copied() -> None:
    """A small branch computed early, then much memory, then a large branch beside the small one."""
    net = Net()
    x = net.input((1, 8, 8, 8))
    early = net.conv(x, 4, (3, 3), (2, 2))
    late = net.conv(net.conv(x, 64), 64, (3, 3), (2, 2))
    late = net.conv(net.conv(late, 80, **_POINTWISE), 60, **_POINTWISE)  # type: ignore[arg-type]
    graph = simplify(net.finish(net.pool(net.concat([early, late], 1), (4, 4), largest=True)))
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    (operand,) = candidates.joined
    assert graph.tensors[operand[1]].shape[1] == 60
    size = candidates.smallest(())
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    candidates.joined = joinable(graph)
    assert size < candidates.smallest(())


def test_a_limit_reaches_kernels_that_write_into_a_result() -> None:
    """The DSP kernel of linear layers needs scratch, others hardly any."""
    net = Net()
    x = net.input((1, 640))
    graph = simplify(net.finish(net.concat([net.linear(x, 64), net.linear(x, 64)], 1)))
    target = Target.parse("cortex-m4")
    fast = make_plan(graph, target, optimize=Optimize.SPEED)
    small = make_plan(graph, target, optimize=Optimize.SPEED, ram_limit=fast.arena_size - 16)
    assert copies(fast) == copies(small) == [0]
    assert small.arena_size < 640 + 128 + 128 < fast.arena_size


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("cpu", CPUS)
def test_no_byte_is_lost(cpu: str, codes: DType) -> None:
    beside = apart = 0
    for seed in range(40):
        plan = make_plan(simplify(random_branches(seed, codes)), Target.parse(cpu))
        replay(plan)
        beside += sum(not part.pitch for part in plan.parts.values())
        apart += sum(part.pitch > 0 for part in plan.parts.values())
    assert beside > 40 and apart > 25


def banded(seed: int) -> Iterator[Plan]:
    """Plans with one band each, of those that write into a joined result."""
    graph = simplify(random_branches(seed))
    candidates = SearchSpace(graph, M55).as_given(Optimize.BALANCED)
    count = len(candidates.graph.ops)
    for first in range(count):
        for last in range(first + 1, min(first + 3, count)):
            if is_chain(candidates.graph, candidates.calls, first, last):
                plan = assemble(candidates, (Chain(first, last, 2),))
                if candidates.graph.ops[last].outputs[0] in plan.parts:
                    yield plan


def test_bands_are_written_into_a_result() -> None:
    plans = [plan for seed in range(24) for plan in banded(seed)]
    assert len(plans) > 5
    for plan in plans:
        replay(plan)


def mutations(plan: Plan) -> Iterator[Plan]:
    """The plan with a part elsewhere, with a call less, or with one that writes elsewhere."""
    places = list(plan.parts.values())
    for index, part in plan.parts.items():
        if places.count(part) > 1:
            continue  # computed in place there: each call alone writes all of it
        changes = [{"offset": part.offset + 1}, {"offset": part.offset + max(part.pixel, 4)}]
        changes += [{"pitch": part.pitch - 1}, {"pixel": part.pixel + 1}] if part.pitch else []
        for change in changes:
            yield replace(plan, parts=plan.parts | {index: replace(part, **change)})
        number, step = next(
            (n, step) for n, step in enumerate(plan.steps) if index in step.op.outputs
        )
        for calls in _other_calls(step):
            steps = list(plan.steps)
            steps[number] = replace(step, calls=calls)
            yield replace(plan, steps=tuple(steps))


def _other_calls(step: Step) -> Iterator[tuple[object, ...]]:
    for number, call in enumerate(step.calls):
        *rest, target = [arg for arg in call.args if hasattr(arg, "index")]
        place = call.args.index(target)
        moved = replace(target, offset=max(0, target.offset - 1) or target.offset + 1)
        args = (*call.args[:place], moved, *call.args[place + 1 :])
        yield (*step.calls[:number], replace(call, args=args), *step.calls[number + 1 :])
        yield (*step.calls[:number], *step.calls[number + 1 :])
        fields = dict(call.fields)
        if "out_pixel_stride" in fields and (fields["out_h"], fields["out_w"]) != (1, 1):
            fields["out_pixel_stride"] += 1  # type: ignore[operator]
            other = replace(call, fields=tuple(fields.items()))
            yield (*step.calls[:number], other, *step.calls[number + 1 :])


def test_mutated_parts_are_noticed() -> None:
    tried = 0
    for seed in range(24):
        plan = make_plan(simplify(random_branches(seed, CODES[seed % 3 == 2])), M55)
        for mutated in mutations(plan):
            tried += 1
            with pytest.raises(CortexMError):
                check_plan(mutated)
    assert tried > 100


def turns(of: DType = DType.S8) -> Graph:
    """An input and what has no kernel that leaves gaps, of one channel each, and two convolutions'."""
    net = Net("turns")
    x = net.input((1, 1, 6, 7), of)
    y = net.activation(net.input((1, 1, 6, 7), of))
    branches = [net.conv(net.input((1, 8, 6, 7), of), 1) for _ in range(2)]
    outs = [net.concat([x, y], 1), net.concat(branches, 1), net.concat([branches[0], y], 1)]
    return simplify(net.finish(*outs))


@pytest.mark.parametrize("of", CODES)
def test_elements_of_two_operands_are_taken_in_turn(of: DType) -> None:
    """Where neither can be made in the result, on a core that loads words from any address."""
    for cpu in ("cortex-m4", "cortex-m3"):
        plan = make_plan(turns(of), Target.parse(cpu))
        replay(plan)
        joins = [step.calls for step in plan.steps if step.op.kind == "concat"]
        assert [call.kernel.op for call in joins[0]] == ["interleave"]
        assert joins[0][0].kernel.types == f"x{8 * of.size}"
        assert {call.kernel.op for calls in joins[1:] for call in calls} <= {"copy"}
    for cpu in ("cortex-m55", "cortex-m0"):
        plan = make_plan(turns(of), Target.parse(cpu))
        calls = [call for step in plan.steps for call in step.calls]
        assert not any(call.kernel.op == "interleave" for call in calls)


def test_single_elements_lie_in_one_piece() -> None:
    net = Net("single")
    parts = [net.input((1, 1, 1, 1)) for _ in range(2)]
    plan = make_plan(simplify(net.finish(net.concat(parts, 1))), Target.parse("cortex-m4"))
    assert [call.kernel.op for step in plan.steps for call in step.calls] == ["copy"] * 2


def test_other_turns_are_refused() -> None:
    plan = make_plan(turns(), Target.parse("cortex-m4"))
    number = next(n for n, step in enumerate(plan.steps) if step.op.kind == "concat")
    (call,) = plan.steps[number].calls
    first, second, out = call.args
    assert isinstance(second, TensorArg)
    for changed in (
        replace(call, args=(second, first, out)),
        replace(call, args=(first, replace(second, offset=1), out)),
        replace(call, fields=(("count", 41),)),
        replace(call, kernel=replace(call.kernel, types="x16")),
    ):
        step = replace(plan.steps[number], calls=(changed,))
        steps = (*plan.steps[:number], step, *plan.steps[number + 1 :])
        with pytest.raises(CortexMError, match="has not its operands' elements in turn"):
            check_plan(replace(plan, steps=steps))
