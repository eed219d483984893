# SPDX-License-Identifier: Apache-2.0
"""Plans of random networks: no live bytes are shared, and mutated plans are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.errors import CortexMError
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.arena import lower_bound, place
from cortexm_tools.plan.checks import check_plan
from cortexm_tools.plan.kernel_table import kernels
from cortexm_tools.plan.lower.data import merge_dims
from cortexm_tools.plan.param_blocks import field_types
from cortexm_tools.plan.types import Buffer, TensorArg
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from graphs import Net, random_network

M55 = Target.parse("cortex-m55")


def plan_of(seed: int) -> Plan:
    return make_plan(simplify(random_network(seed)), M55)


buffers = st.lists(
    st.builds(
        lambda size, align, first, length: Buffer("b", size, align, first, first + length),
        st.integers(1, 5000),
        st.sampled_from([4, 8, 16]),
        st.integers(0, 12),
        st.integers(0, 6),
    ),
    min_size=1,
    max_size=14,
).map(tuple)


@given(buffers)
@settings(max_examples=200, deadline=None)
def test_buffers_that_live_together_lie_apart(pieces: tuple[Buffer, ...]) -> None:
    placed, size = place(pieces)
    assert size >= lower_bound(pieces)
    for step in range(20):
        used: set[int] = set()
        for buffer in placed:
            assert buffer.offset % buffer.align == 0
            if buffer.first <= step <= buffer.last:
                span = set(range(buffer.offset, buffer.offset + buffer.nbytes))
                assert not span & used
                assert buffer.offset + buffer.nbytes <= size
                used |= span


def test_known_arena_sizes() -> None:
    chain = tuple(Buffer(str(i), 100 + 4 * i, 4, i, i + 1) for i in range(6))
    assert place(chain)[1] == lower_bound(chain) == 120 + 116
    assert place((Buffer("a", 64, 16, 0, 3), Buffer("b", 64, 16, 4, 5)))[1] == 64


@pytest.mark.parametrize("seed", range(40))
def test_live_bytes_are_never_overwritten(seed: int) -> None:
    """Replays the plan on tags: every byte an operator reads still holds what was put there."""
    plan = plan_of(seed)
    graph = plan.graph
    memory: list[object] = [None] * plan.arena_size
    content: dict[int, list[object]] = {}

    def write(index: int) -> None:
        start, size = plan.offset(index), graph.tensors[index].nbytes
        content[index] = [(index, i) for i in range(size)]
        memory[start : start + size] = content[index]

    def check(index: int) -> None:
        start, size = plan.offset(index), graph.tensors[index].nbytes
        assert memory[start : start + size] == content[index]

    for index in graph.inputs:
        write(index)
    for step in plan.steps:
        operands = [i for i in step.op.inputs if not graph.tensors[i].is_constant]
        for index in operands:
            check(index)
        if step.calls:
            for index in step.op.outputs:
                write(index)
        else:
            content[step.op.outputs[0]] = content[operands[0]]
            check(step.op.outputs[0])
    for index in graph.outputs:
        check(index)


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


def test_element_wise_results_take_their_operands_place() -> None:
    net = Net()
    x = net.conv(net.input((1, 4, 8, 8)), 4)
    plan = make_plan(simplify(net.finish(net.conv(net.activation(net.activation(x)), 2))), M55)
    calls = [step.calls[0] for step in plan.steps if step.op.kind == "activation"]
    for call in calls:
        ends = [arg.index for arg in call.args if isinstance(arg, TensorArg)]
        assert plan.offset(ends[0]) == plan.offset(ends[1])


def test_views_cost_nothing() -> None:
    net = Net()
    x = net.conv(net.input((1, 4, 1, 1)), 4, (1, 1), padding=(0, 0, 0, 0))
    plan = make_plan(simplify(net.finish(net.linear(net.view(x, (1, 4)), 3))), M55)
    assert [len(step.calls) for step in plan.steps] == [1, 0, 1]


def test_equal_constants_are_stored_once() -> None:
    net = Net()
    x = net.input((1, 4))
    table = net.codes(256)
    first = net.add(ops_activation(), [x, table], (1, 4))
    copy = net.constant(net.tensors[table].data, net.tensors[table].dtype)  # type: ignore[arg-type]
    plan = make_plan(simplify(net.finish(net.add(ops_activation(), [first, copy], (1, 4)))), M55)
    assert [constant.nbytes for constant in plan.constants] == [256]


def test_a_batch_is_a_call_per_image() -> None:
    net = Net()
    plan = make_plan(simplify(net.finish(net.conv(net.input((3, 4, 8, 8)), 2))), M55)
    (step,) = plan.steps
    places = [arg.offset for call in step.calls for arg in call.args if isinstance(arg, TensorArg)]
    assert places == [0, 0, 256, 128, 512, 256]
    assert len({call.fields for call in step.calls}) == 1
    assert sum(call.macs for call in step.calls) == 3 * 8 * 8 * 2 * 3 * 3 * 4


def test_a_parameter_beyond_its_field_is_an_error() -> None:
    net = Net()
    graph = net.finish(net.pool(net.input((1, 1, 1, 65536)), (1, 1), largest=True))
    with pytest.raises(CortexMError, match="in_w is 65536, the kernel takes at most 65535"):
        make_plan(simplify(graph), M55)


def test_every_block_of_the_table_is_in_the_header() -> None:
    blocks = field_types()
    assert {kernel.params for kernel in kernels()} <= blocks.keys()
    assert blocks["cortexm_conv_s8_t"]["multiplier"] == "int32_t*"
    assert blocks["cortexm_conv_s8_t"]["in_w"] == "uint16_t"
    assert blocks["cortexm_copy_t"]["dims"] == "int32_t"


def ops_activation() -> object:
    from cortexm_tools.ir import ops

    return ops.Activation()


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
