# SPDX-License-Identifier: Apache-2.0
"""Plans of random networks: no live bytes are shared, and mutated plans are refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ownership import replay

from cortexm_tools.emit import EmitOptions
from cortexm_tools.emit.model import model_text
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import Candidates, Chain, Lowerings, Plan, assemble, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.kernels.params import field_types
from cortexm_tools.plan.kernels.table import code_sizes, kernels
from cortexm_tools.plan.lower.copies import merge_dims
from cortexm_tools.plan.memory.offset_search import Problem
from cortexm_tools.plan.memory.offsets import fits, lower_bound, place
from cortexm_tools.plan.search.bands import is_chain
from cortexm_tools.plan.search.choose_bands import choose_chains
from cortexm_tools.plan.types import Buffer, Call, Step, TensorArg
from cortexm_tools.report import report_data, summary
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Isa, Optimize, Target

from graphs import Net, random_layer, random_network, random_tower

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
    placement = place(pieces)
    assert placement.size >= placement.bound >= lower_bound(pieces)
    for step in range(20):
        used: set[int] = set()
        for buffer in placement.buffers:
            assert buffer.offset % buffer.align == 0
            if buffer.first <= step <= buffer.last:
                span = set(range(buffer.offset, buffer.offset + buffer.nbytes))
                assert not span & used
                assert buffer.offset + buffer.nbytes <= placement.size
                used |= span


@given(buffers)
@settings(max_examples=100, deadline=None)
def test_fits_is_what_place_says(pieces: tuple[Buffer, ...]) -> None:
    size = place(pieces).size
    bound = max(  # by its definition
        sum(b.nbytes for b in pieces if b.first <= step <= b.last) for step in range(20)
    )
    assert lower_bound(pieces) == bound
    for limit in (bound - 1, bound, size - 1, size, size + 1, 2 * size):
        assert fits(pieces, {}, limit) == (size <= limit)


@given(buffers, st.floats(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_what_is_placed_last_finds_a_place(
    pieces: tuple[Buffer, ...], room: float, random: Random
) -> None:
    """Wherever the others lie, even if they collide."""
    size = int(room * max(buffer.nbytes for buffer in pieces))
    distances = {
        (i, j): random.randrange(a.nbytes + 1)
        for i, a in enumerate(pieces)
        for j, b in enumerate(pieces)
        if i != j and a.last == b.first and a.first < b.first
    }
    problem = Problem.of(pieces, distances)
    core, others = problem.core(size)
    assert sorted((*core, *others)) == list(range(len(pieces)))
    fixed = {i: random.randrange(size - pieces[i].nbytes + 1) for i in core}
    offsets = problem.lowest(others, fixed)
    assert all(offsets[i] + pieces[i].nbytes <= size for i in others)


def test_known_arena_sizes() -> None:
    chain = tuple(Buffer(str(i), 100 + 4 * i, 4, i, i + 1) for i in range(6))
    assert place(chain).size == lower_bound(chain) == 120 + 116
    assert place((Buffer("a", 64, 16, 0, 3), Buffer("b", 64, 16, 4, 5))).size == 64


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 3), st.integers(0, 2)), max_size=5),
    st.integers(1, 40),
)
@settings(max_examples=150, deadline=None)
def test_the_smallest_arena_is_found(sizes: list[tuple[int, int, int]], least: int) -> None:
    """Against all ways to order the pairs that live together, some of which may overlap."""
    pieces = tuple(Buffer("b", 4 * n, 4, first, first + more) for n, first, more in sizes)
    distances = {
        (i, j): 4 * min(least, b.nbytes // 4)
        for i, a in enumerate(pieces)
        for j, b in enumerate(pieces)
        if i != j and a.last == b.first and a.first < b.first
    }
    placement = place(pieces, distances)
    pairs = [
        (i, j)
        for i, a in enumerate(pieces)
        for j, b in enumerate(pieces[:i])
        if a.first <= b.last and b.first <= a.last
    ]

    def apart(low: int, high: int) -> int:
        return distances.get((high, low), pieces[low].nbytes)

    def is_placed(offsets: list[int]) -> bool:
        return all(
            offsets[i] - offsets[j] >= apart(j, i) or offsets[j] - offsets[i] >= apart(i, j)
            for i, j in pairs
        )

    assert is_placed([buffer.offset for buffer in placement.buffers])
    best = min(
        _stack(
            pieces,
            [(j, i) if up else (i, j) for (i, j), up in zip(pairs, order, strict=True)],
            apart,
        )
        for order in product((False, True), repeat=len(pairs))
    )
    assert placement.size == placement.bound == best


def _stack(
    pieces: tuple[Buffer, ...], arcs: list[tuple[int, int]], apart: Callable[[int, int], int]
) -> float:
    """The arena if for each arc the first buffer lies below the second; infinite in a circle."""
    offsets = [0] * len(pieces)
    for _ in range(len(pieces) + 1):
        before = list(offsets)
        for low, high in arcs:
            offsets[high] = max(offsets[high], offsets[low] + apart(low, high))
        if offsets == before:
            return max((o + b.nbytes for o, b in zip(offsets, pieces, strict=True)), default=0)
    return math.inf


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
    for cpu in ("cortex-m55", "cortex-m4", "cortex-m0"):
        for graph in [*map(random_layer, range(60)), *map(random_network, range(40))]:
            plan = make_plan(simplify(graph), Target.parse(cpu))
            used |= {call.kernel.symbol for step in plan.steps for call in step.calls}
    assert {kernel.symbol for kernel in kernels() if kernel.order} <= used


def chains_of(candidates: Candidates, rows: int) -> list[Chain]:
    """All that the graph allows, of up to four operators."""
    count = len(candidates.graph.ops)
    return [
        Chain(first, last, rows)
        for first in range(count)
        for last in range(first + 1, min(first + 4, count))
        if is_chain(candidates.graph, candidates.calls, first, last)
    ]


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m0"])
@pytest.mark.parametrize("seed", range(6))
def test_bands_hold_the_rows_they_need(seed: int, cpu: str) -> None:
    """Every chain of a network, in bands of one and three rows: bytes are never lost, no row is
    computed twice, and a buffer one row shorter is refused."""
    graph = simplify(random_tower(seed))
    candidates = Candidates(graph, Lowerings(graph, Target.parse(cpu)))
    for rows in (1, 3):
        for chain in chains_of(candidates, rows):
            plan = assemble(candidates, (chain,))
            replay(plan)
            (step,) = (step for step in plan.steps if step.fused)
            for op in step.ops:
                made = [
                    dict(call.fields).get("out_h", 0)
                    for call in step.trace()
                    if call.kernel.op == op.kind and tensors_of(call)[-1] == op.outputs[0]
                ]
                out = plan.graph.tensors[op.outputs[0]]
                assert sum(made) <= out.shape[2]  # type: ignore[arg-type]
            total = sum(call.macs for single in candidates.calls for call in single)
            assert sum(call.macs for step in plan.steps for call in step.calls) <= total
            number = plan.buffer_of[step.inside[0]]
            row = plan.graph.tensors[step.inside[0]]
            short = list(plan.buffers)
            short[number] = replace(
                short[number], nbytes=short[number].nbytes - row.nbytes // row.shape[2]
            )
            with pytest.raises(CortexMError, match="larger than its buffer"):
                check_plan(replace(plan, buffers=tuple(short)))


def tensors_of(call: Call) -> list[int]:
    return [arg.index for arg in call.args if isinstance(arg, TensorArg)]


def mutations(step: Step) -> Iterator[Step]:
    """The step with one parameter or place of one call changed, or without the call."""
    for number, call in enumerate(step.calls):
        changed = [call_with(call, name, by) for name, by in (("in_y0", 1), ("in_h", -1))]
        if call.kernel.op == "move":
            changed.append(None)
        for new in changed:
            if new != call:
                calls = [*step.calls[:number], *([new] if new else []), *step.calls[number + 1 :]]
                yield replace(step, calls=tuple(calls))


def call_with(call: Call, name: str, by: int) -> Call:
    fields = {key: value + by if key == name else value for key, value in call.fields}  # type: ignore[operator]
    return replace(call, fields=tuple(fields.items()))


@pytest.mark.parametrize("seed", range(4))
def test_mutated_bands_are_noticed(seed: int) -> None:
    graph = simplify(random_tower(seed))
    candidates = Candidates(graph, Lowerings(graph, M55))
    for chain in chains_of(candidates, 2):
        plan = assemble(candidates, (chain,))
        number = next(i for i, step in enumerate(plan.steps) if step.fused)
        for step in mutations(plan.steps[number]):
            mutated = replace(plan, steps=(*plan.steps[:number], step, *plan.steps[number + 1 :]))
            with pytest.raises((CortexMError, AssertionError)):
                check_plan(mutated)


@pytest.mark.parametrize("optimize", [Optimize.BALANCED, Optimize.SIZE])
@pytest.mark.parametrize("make", [random_network, random_tower])
def test_bands_are_there_for_a_smaller_arena(
    make: Callable[[int], Graph], optimize: Optimize
) -> None:
    for seed in range(24):
        graph = simplify(make(seed))
        candidates = Candidates(graph, Lowerings(graph, M55), optimize)
        chains = choose_chains(candidates, optimize, None)
        assert not chains or candidates.smallest(chains) < candidates.smallest(())


def _moved_bytes(plan: Plan) -> int:
    """Rows that bands keep for the next one, in bytes."""
    calls = [call for step in plan.steps for call in step.trace()]
    return sum(call.int_fields["count"] for call in calls if call.kernel.op == "move")


@pytest.mark.parametrize("optimize", [Optimize.BALANCED, Optimize.SPEED])
def test_a_ram_limit_is_leave_to_use_it(optimize: Optimize) -> None:
    """No bands where none are needed; else no more than with a smaller limit, or without any."""
    graph = simplify(random_tower(1))
    fast = make_plan(graph, M55, optimize=Optimize.SPEED)
    smallest = make_plan(graph, M55, ram_limit=1)
    assert _moved_bytes(smallest) > 0 == _moved_bytes(fast)
    assert smallest.arena_size < fast.arena_size
    roomy = make_plan(graph, M55, optimize=optimize, ram_limit=fast.arena_size)
    assert not any(step.fused for step in roomy.steps)
    middle = (smallest.arena_size + fast.arena_size) // 2
    plan = make_plan(graph, M55, optimize=optimize, ram_limit=middle)
    assert plan.arena_size <= middle and any(step.fused for step in plan.steps)
    assert _moved_bytes(plan) <= _moved_bytes(smallest)


def test_a_ram_limit_is_met_or_refused() -> None:
    graph = simplify(random_tower(1))
    fast = make_plan(graph, M55, optimize=Optimize.SPEED)
    small = make_plan(graph, M55, optimize=Optimize.SIZE)
    assert not any(step.fused for step in fast.steps)
    assert small.arena_size < fast.arena_size
    for limit in range(small.arena_size, fast.arena_size + 16, 16):
        plan = make_plan(graph, M55, optimize=Optimize.SPEED, ram_limit=limit)
        assert plan.arena_size <= limit
    assert not any(step.fused for step in plan.steps)
    too_small = make_plan(graph, M55, optimize=Optimize.SPEED, ram_limit=small.arena_size - 16)
    assert too_small.arena_size == small.arena_size


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m0"])
@pytest.mark.parametrize("make", [random_network, random_tower])
def test_the_smallest_arena_is_reached(make: Callable[[int], Graph], cpu: str) -> None:
    """A limit that no plan meets gives the smallest plan; a limit of just that is met."""
    target = Target.parse(cpu)
    for seed in range(16):
        graph = simplify(make(seed))
        free = make_plan(graph, target).arena_size
        smallest = make_plan(graph, target, ram_limit=1).arena_size
        for limit in (smallest, (smallest + free) // 2):
            plan = make_plan(graph, target, ram_limit=limit)
            assert plan.arena_size <= max(limit, smallest)
            replay(plan)


def test_a_limit_takes_kernels_without_scratch_where_it_must() -> None:
    """The DSP kernel widens its input in scratch. Only the layer that needs too much goes without."""
    net = Net()
    x = net.linear(net.linear(net.input((1, 640)), 64), 64)
    graph = simplify(net.finish(x))
    target = Target.parse("cortex-m4")
    fast = make_plan(graph, target)
    assert [step.calls[0].kernel.isa for step in fast.steps] == [Isa.DSP, Isa.DSP]
    assert make_plan(graph, target, ram_limit=fast.arena_size).steps == fast.steps
    small = make_plan(graph, target, ram_limit=fast.arena_size - 16)
    assert [step.calls[0].kernel.isa for step in small.steps] == [Isa.SCALAR, Isa.DSP]
    assert small.arena_size < 640 + 64 + 64 < fast.arena_size
    assert (fast.spared, small.spared) == (0, 1)
    assert "slower 1 operators" in summary(report_data(small, name="net", digest=""))
    assert {constant.name for constant in small.constants} >= {"w_layer0", "w_layer1"}


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


@pytest.mark.parametrize("channels", [4, 100])
def test_size_weighs_code_against_constants(channels: int) -> None:
    """The DSP kernel packs an odd channel with one of zeros."""
    net = Net()
    graph = simplify(net.finish(net.conv(net.input((1, channels, 4, 4)), 5)))
    target = Target.parse("cortex-m4")
    fast, small = (make_plan(graph, target, optimize=o) for o in (Optimize.BALANCED, Optimize.SIZE))
    assert _kernels(fast) == {"cortexm_conv2d_s8_dsp"}
    saved = fast.constant_bytes - small.constant_bytes
    assert saved == (9 * channels if channels > 50 else 0)
    assert _kernels(small) == {f"cortexm_conv2d_s8_{'scalar' if saved else 'dsp'}"}


def _kernels(plan: Plan) -> set[str]:
    return {call.kernel.symbol for step in plan.steps for call in step.calls}


def test_sizes_are_known_of_all_variants() -> None:
    by_op = Counter((kernel.op, kernel.types) for kernel in kernels())
    expected = {kernel.symbol for kernel in kernels() if by_op[kernel.op, kernel.types] > 1}
    assert expected == code_sizes().keys()


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


def test_equal_blocks_are_banded_together() -> None:
    """A chain for one of them alone saves nothing."""
    net = Net()
    x = net.input((1, 8, 16, 16))
    for _ in range(3):
        narrow = net.conv(x, 8, (1, 1), padding=(0, 0, 0, 0))
        wide = net.conv(x, 24, (1, 1), padding=(0, 0, 0, 0))
        x = net.sum(narrow, net.conv(wide, 8, (3, 3)))
    graph = simplify(net.finish(x))
    plan = make_plan(graph, M55, optimize=Optimize.SIZE)
    assert sum(bool(step.fused) for step in plan.steps) >= 3
    assert plan.arena_size < 0.8 * make_plan(graph, M55, optimize=Optimize.SPEED).arena_size
