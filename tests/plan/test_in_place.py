# SPDX-License-Identifier: Apache-2.0
"""check_plan on results that lie where an operand lay, whatever the planner thought of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Operands, ops
from cortexm_tools.plan import Plan, make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.operator_examples import examples

ANY = Target.parse("any")


def laid_over(plan: Plan, operand: int, result: int) -> Plan:
    """The plan with a result in the buffer of an operand, which is made as large as it must be."""
    place, own = plan.buffer_of[operand], plan.buffer_of[result]
    last = plan.buffers[own].last
    larger = replace(
        plan.buffers[place],
        nbytes=max(plan.buffers[place].nbytes, plan.buffers[own].nbytes),
        offset=plan.arena_size,
        last=max(plan.buffers[place].last, last),
    )
    buffers = tuple(larger if n == place else b for n, b in enumerate(plan.buffers))
    size = (plan.arena_size + larger.nbytes + 15) // 16 * 16
    (arena,) = plan.arenas
    return replace(
        plan,
        buffers=buffers,
        buffer_of=plan.buffer_of | {result: place},
        arenas=(replace(arena, size=size),),
        arena_size=size,
    )


def accepted(plan: Plan) -> bool:
    try:
        check_plan(plan)
    except CortexMError:
        return False
    return True


def test_results_replace_operands_only_where_the_operator_says_so() -> None:
    """Of each operator that is one call with each of its operands. Where a kernel promises an order, or
    there are several calls, it depends on when they read what.
    """
    allowed = set()
    for kind in ops.OPERATORS.values():
        for graph in examples(kind):
            plan = make_plan(simplify(graph), ANY)
            (step, *_) = [step for step in plan.steps if type(step.op.attrs) is kind] or [None]
            if step is None or len(step.calls) != 1 or step.calls[0].kernel.order:
                continue
            for operand in step.op.inputs:
                if not plan.has_place(operand) or plan.parts:
                    continue
                x, out = (plan.graph.tensors[i] for i in (operand, step.op.outputs[0]))
                if accepted(laid_over(plan, operand, step.op.outputs[0])):
                    allowed.add(kind)
                    assert kind.declared and kind.declared.overwrites is not Operands.NONE, kind
                    assert (x.dtype, x.nbytes) == (out.dtype, out.nbytes)
    assert allowed >= {ops.Mul, ops.Div, ops.Unary, ops.Binary, ops.Clamp, ops.Minimum}


def chain() -> Graph:
    net = Net()
    x = net.add(ops.Unary("neg"), [net.input((4, 6), DType.F32)], (4, 6), DType.F32)
    turned = net.add(ops.Transpose((1, 0)), [x], (6, 4), DType.F32)
    seen = net.view(turned, (24,))
    half = net.constant(np.float32(0.5).reshape(1), DType.F32)
    return net.finish(net.add(ops.Binary("mul"), [seen, half], (24,), DType.F32))


@pytest.mark.parametrize("kind", ["unary", "transpose", "binary"])
def test_a_step_without_calls_is_a_view(kind: str) -> None:
    plan = make_plan(simplify(chain()), ANY)
    assert any(not step.calls for step in plan.steps)
    check_plan(plan)
    steps = [replace(step, calls=()) if step.op.kind == kind else step for step in plan.steps]
    assert steps != list(plan.steps)
    with pytest.raises(CortexMError):
        check_plan(replace(plan, steps=tuple(steps)))
