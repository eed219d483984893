# SPDX-License-Identifier: Apache-2.0
"""Which tensors share memory."""

from __future__ import annotations

from cortexm_tools.plan import make_plan
from cortexm_tools.plan.types import TensorArg
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net

M55 = Target.parse("cortex-m55")


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
    x = net.conv(net.input((1, 4, 1, 2)), 4, (1, 2), padding=(0, 0, 0, 0))
    plan = make_plan(simplify(net.finish(net.linear(net.view(x, (1, 4)), 3))), M55)
    assert [len(step.calls) for step in plan.steps] == [1, 0, 1]
