# SPDX-License-Identifier: Apache-2.0
"""The order of operators with the lowest peak, against all orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.ir import Graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.search.order import least_peak, peak, smallest_order
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs


def branches(seed: int) -> Graph:
    """Two or three branches of pointwise convolutions with many or few channels, then summed."""
    net = Net(f"branches{seed}", seed)
    pick = net.random.integers
    x = net.input((1, int(pick(1, 6)), 4, 4))
    ends = []
    for _ in range(int(pick(2, 4))):
        y = x
        for _ in range(int(pick(1, 3))):
            y = net.conv(y, int(pick(1, 40)), (1, 1), padding=(0, 0, 0, 0))
        ends.append(net.conv(y, 3, (1, 1), padding=(0, 0, 0, 0)))
    total = ends[0]
    for end in ends[1:]:
        total = net.sum(total, end)
    # The branches side by side, as breadth-first lowering leaves them.
    order = sorted(range(len(net.ops)), key=lambda n: (_depth(net, n), n))
    net.ops = [net.ops[n] for n in order]
    return net.finish(total)


def _depth(net: Net, number: int) -> int:
    makers = {op.outputs[0]: n for n, op in enumerate(net.ops)}
    before = [makers[i] for i in net.ops[number].inputs if i in makers]
    return 1 + max((_depth(net, n) for n in before), default=0)


def orders(graph: Graph, done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if len(done) == len(graph.ops):
        yield done
    made = {*graph.inputs, *(i for n in done for i in graph.ops[n].outputs)}
    made |= {i for i, tensor in enumerate(graph.tensors) if tensor.is_constant}
    for number, op in enumerate(graph.ops):
        if number not in done and made.issuperset(op.inputs):
            yield from orders(graph, (*done, number))


@pytest.mark.parametrize("seed", range(8))
def test_the_lowest_peak_is_found(seed: int) -> None:
    graph = branches(seed)
    best = min(peak(graph, order) for order in orders(graph))
    own = peak(graph, range(len(graph.ops)))
    found = smallest_order(graph)
    assert least_peak(graph) <= best
    if found is None:
        assert own == best
    else:
        assert peak(replace(graph, ops=found), range(len(graph.ops))) == best < own


def test_another_order_makes_the_arena_smaller_and_keeps_the_result() -> None:
    target = Target.parse("cortex-m55")
    gains = 0
    for seed in range(8):
        graph = simplify(branches(seed))
        plan = make_plan(graph, target, optimize=Optimize.SPEED)
        own = make_plan(graph, target, optimize=Optimize.SPEED, bands=False)
        assert plan.arena_size <= own.arena_size
        gains += plan.arena_size < own.arena_size
        inputs = random_inputs(graph, seed)
        for got, expected in zip(
            run_graph(plan.graph, inputs), run_graph(graph, inputs), strict=True
        ):
            np.testing.assert_array_equal(got, expected)
    assert gains > 0
