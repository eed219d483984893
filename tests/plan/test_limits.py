# SPDX-License-Identifier: Apache-2.0
"""RAM limits from generous to impossible: every data operator ends in a plan that computes what the
interpreter says."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.exactness import differing
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.data_graphs import STEPS, data_graph, data_inputs
from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.plan_executor import PlanExecutor

ANY = Target.parse("any")


@pytest.mark.parametrize("first", range(len(STEPS)))
def test_any_limit_gives_a_plan(executor: PlanExecutor, first: int) -> None:
    for seed in range(first, 10 * len(STEPS), len(STEPS)):
        graph = data_graph(seed)
        if not graph.outputs:
            continue
        graph = simplify(graph)
        free = make_plan(graph, ANY).arena_size
        smallest = make_plan(graph, ANY, ram_limit=1).arena_size
        inputs = data_inputs(graph, seed)
        with np.errstate(all="ignore"):
            expected = run_graph(graph, inputs)
        for limit in {1, smallest, (smallest + free) // 2, free, 2 * free}:
            plan = make_plan(graph, ANY, ram_limit=limit)
            assert plan.arena_size <= max(limit, smallest)
            for value, wanted in zip(executor.run(plan, inputs), expected, strict=True):
                assert differing(value, wanted) == 0, (graph.name, limit)


def _picked(along: tuple[int, ...], *, joined: bool) -> Graph:
    """``x[:, i, j]`` with one constant and one computed index, and perhaps a concatenation of it."""
    net = Net()
    x = net.input((2, 8, 8), order=(0, 1, 2))
    computed = net.input(along, DType.S64, tuple(range(len(along))))
    known = net.constant(net.random.integers(0, 8, along), DType.S64)
    picked = net.add(ops.Index((1, 2)), [x, known, computed], (2, *along))
    again = net.add(ops.Index((1, 2)), [x, computed, known], (2, *along))
    return simplify(net.finish(net.concat([picked, again], 1) if joined else again))


@pytest.mark.parametrize("joined", [False, True])
def test_an_index_of_which_a_part_is_constant(executor: PlanExecutor, joined: bool) -> None:
    graph = _picked((5,), joined=joined)
    inputs = data_inputs(graph, 1)
    for limit in (None, 1, 100, 10_000):
        plan = make_plan(graph, ANY, ram_limit=limit)
        replay(plan)
        for got, wanted in zip(executor.run(plan, inputs), run_graph(graph, inputs), strict=True):
            np.testing.assert_array_equal(got, wanted)
