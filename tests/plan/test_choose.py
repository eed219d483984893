# SPDX-License-Identifier: Apache-2.0
"""Which bands, and which kernels, a plan takes for less memory, and no more than a limit asks for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from cortexm_tools.ir import DType, Graph
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.search.choose_bands import choose_chains
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.report import report_data, summary
from cortexm_tools.simplify import simplify
from cortexm_tools.target import CORES, Isa, Optimize, Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.random_graphs import random_network, random_tower

M55 = Target.parse("cortex-m55")


@pytest.mark.parametrize("optimize", [Optimize.BALANCED, Optimize.SIZE])
@pytest.mark.parametrize("make", [random_network, random_tower])
def test_bands_are_there_for_a_smaller_arena(
    make: Callable[[int], Graph], optimize: Optimize
) -> None:
    for seed in range(24):
        graph = simplify(make(seed))
        candidates = SearchSpace(graph, M55).as_given(optimize)
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
    assert plan.arena_size <= middle
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
    assert too_small.arena_size <= small.arena_size


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
    """A kernel widens its input in scratch. Only the layer that needs too much goes without."""
    net = Net()
    x = net.linear(net.linear(net.input((1, 640)), 64), 64)
    graph = simplify(net.finish(x))
    plan = partial(make_plan, graph, Target.parse("cortex-m4"), optimize=Optimize.SPEED)
    fast = plan()
    assert all(step.scratch for step in fast.steps)
    assert plan(ram_limit=fast.arena_size).steps == fast.steps
    small = plan(ram_limit=fast.arena_size - 16)
    assert small.steps[0].scratch < fast.steps[0].scratch and small.steps[1] == fast.steps[1]
    assert small.arena_size < 640 + 64 + 64 < fast.arena_size
    assert (fast.spared, small.spared) == (0, 1)
    assert "slower 1 operators" in summary(report_data(small, name="net", digest=""))
    assert {constant.name for constant in small.constants} >= {"w_layer0", "w_layer1"}


@pytest.mark.parametrize("cpu", ["cortex-m3", "cortex-m0"])
def test_a_limit_takes_portable_kernels_of_int16_where_it_must(cpu: str) -> None:
    """Those of a core without SIMD gather windows in scratch, those in portable C need none."""
    net = Net()
    x = net.input((1, 16, 4, 4), DType.S16)
    graph = simplify(net.finish(net.conv(net.conv(x, 16), 4, (1, 1), padding=(0, 0, 0, 0))))
    target = Target.parse(cpu)
    fast = make_plan(graph, target)
    base = CORES[target.core].base
    assert [step.calls[0].kernel.isa for step in fast.steps] == [base, base]
    small = make_plan(graph, target, ram_limit=1)
    convolutions = [c for step in small.steps for c in step.calls if c.kernel.op == "conv2d"]
    assert {call.kernel.isa for call in convolutions} == {Isa.SCALAR}
    assert small.arena_size < fast.arena_size - 4 * 5 * 144
