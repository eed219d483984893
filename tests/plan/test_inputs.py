# SPDX-License-Identifier: Apache-2.0
"""Networks of several inputs: whatever meets in the first operators, plans hold and compute what the
interpreter says."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import random_inputs, random_mixture

M55 = Target.parse("cortex-m55")


@pytest.mark.parametrize("io_int8", [False, True])
def test_inputs_that_meet_lie_apart(io_int8: bool) -> None:
    """Every byte of every plan is replayed: with and without bands, within any RAM limit."""
    shared = 0
    for seed in range(60):
        graph = simplify(random_mixture(seed), io_int8=io_int8)
        for optimize, limit in product(Optimize, (None, 1)):
            plan = make_plan(graph, M55, optimize=optimize, ram_limit=limit)
            replay(plan)
            places = [plan.buffer_of[index] for index in plan.graph.inputs]
            first = plan.steps[0]
            shared += len(first.inputs) > 1 and plan.buffer_of[first.op.outputs[0]] in places
        make_plan(graph, M55, optimize=optimize, ram_limit=plan.arena_size)
    assert not io_int8 or shared > 60  # the first result is written over one of two inputs


def test_a_sum_of_two_inputs_takes_the_place_of_one() -> None:
    net = Net()
    a, b = net.input((1, 8, 4, 4)), net.input((1, 8, 4, 4))
    plan = make_plan(simplify(net.finish(net.sum(a, b))), M55)
    assert plan.arena_size == 2 * 8 * 16


@pytest.mark.parametrize("io_int8", [False, True])
def test_results_are_those_of_the_interpreter(executor: PlanExecutor, io_int8: bool) -> None:
    for seed in range(60, 90):
        graph = simplify(random_mixture(seed), io_int8=io_int8)
        inputs = random_inputs(graph, seed)
        expected = run_graph(graph, inputs)
        for optimize in (Optimize.BALANCED, Optimize.SIZE):
            plan = make_plan(graph, Target.parse("any"), optimize=optimize)
            for got, wanted in zip(executor.run(plan, inputs), expected, strict=True):
                np.testing.assert_array_equal(got, wanted, graph.name)
