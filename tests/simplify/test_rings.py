# SPDX-License-Identifier: Apache-2.0
"""States that one depthwise convolution sums up are rings, with the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import random_inputs


def _memory(
    *,
    channels: int = 8,
    steps: int = 6,
    ranks: int = 1,
    new: int = 1,
    last: bool = True,
    linear: bool = True,
    dtype: DType = DType.S8,
    twice: bool = False,
    joined: bool = False,
    conv: dict[str, Any] | None = None,
) -> Graph:
    """A memory of images, whose steps are their rows or columns, into which `new` are pushed; `joined`, they
    are read as one row."""
    net = Net(seed=channels + steps)

    def shape(count: int) -> tuple[int, ...]:
        return (1, channels, ranks, count) if last else (1, channels, count, ranks)

    count = int(np.prod(shape(new)))
    x = net.input((1, 7) if linear else shape(new), dtype, (0, 1) if linear else None)
    if linear:
        x = net.view(net.linear(x, count), shape(new))
    old = net.tensor(shape(steps), dtype)
    after = net.add(ops.Push(3 if last else 2), [old, x], shape(steps), dtype)
    net.keep(old, after)
    image = net.view(after, (1, channels, 1, ranks * steps)) if joined else after
    settings = {"kernel": net.shape(image)[2:], "padding": (0, 0, 0, 0)} | (conv or {})
    outputs = [net.conv(image, channels, depthwise=True, **settings) for _ in range(1 + twice)]
    return net.finish(*outputs)


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"steps": 5, "linear": False},
        {"channels": 12, "ranks": 3, "steps": 4},
        {"channels": 4, "ranks": 2, "linear": False},
        {"channels": 6, "ranks": 2},
        {"channels": 3, "steps": 7},
        {"new": 2, "ranks": 2},
        {"new": 3, "linear": False},
        {"joined": True},
        {"joined": True, "ranks": 2},
        {"joined": True, "channels": 6, "ranks": 3, "new": 2},
    ],
)
def test_rings(executor: PlanExecutor, more: dict[str, Any], last: bool) -> None:
    """On codes of the interpreter, and of kernels, many times around; nothing but what is new is copied."""
    before = _memory(last=last, **more)
    after = simplify(before)
    kinds = {op.kind for op in after.ops}
    assert "depthwise_ring" in kinds and not {"push", "depthwise_conv2d"} & kinds
    rows = [random_inputs(before, k) for k in range(2 * more.get("steps", 6) + 3)]
    plan = make_plan(after, Target.parse("any"))
    wanted = list(run_sequence(before, rows))
    for results in (run_sequence(after, rows), executor.run_calls(plan, rows)):
        for want, got in zip(wanted, results, strict=True):
            np.testing.assert_array_equal(want[0], got[0])
    memory = next(state for state in plan.graph.states if "position" not in state.name)
    moved = [call for step in plan.steps for call in step.calls if call.kernel.serves == "copy"]
    assert all(call.tensors[-1].index != memory.after for call in moved)


@pytest.mark.parametrize(
    "more",
    [
        {"dtype": DType.S16},
        {"dtype": DType.S16, "joined": True, "ranks": 2},
        {"twice": True},
        {"new": 4},
        {"channels": 6, "linear": False},
        {"conv": {"padding": (0, 1, 0, 0)}},
        {"conv": {"kernel": (1, 5)}},
        {"conv": {"kernel": (1, 3), "dilation": (1, 2)}},
    ],
)
def test_others_are_moved(more: dict[str, Any]) -> None:
    graph = simplify(_memory(**more))
    kinds = [op.kind for op in graph.ops]
    assert "push" in kinds and "depthwise_ring" not in kinds
    if more.get("joined"):  # but it is kept as the images that are read
        assert "clone" not in kinds and "transpose" not in kinds
