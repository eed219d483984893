# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of several outputs a channel from a copy of the image: the same bytes, and which
memory they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.ir import DType, Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.types import Plan
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.ways import taking, using

M4 = Target.parse("cortex-m4")

# Channels, outputs of each, rows and columns, kernel, stride, dilation.
LAYERS = (
    (2, 2, (8, 8), (3, 3), 1, 1),
    (3, 3, (7, 9), (5, 5), 1, 1),
    (5, 4, (8, 18), (3, 3), 2, 1),
    (4, 2, (8, 12), (8, 1), 1, 1),
    (7, 2, (9, 11), (3, 5), 1, 2),
    (2, 9, (6, 33), (1, 3), 1, 1),
)


def graph_of(of: DType = DType.S8) -> Graph:
    net = Net("several", 11)
    outs = []
    for channels, multiple, size, kernel, stride, dilation in LAYERS:
        top, left = (side // 2 * dilation for side in kernel)
        x = net.input((1, channels, *size), of)
        padding = (top, left, top, left)
        fields = {"depthwise": True, "dilation": (dilation, dilation)}
        outs.append(net.conv(x, channels * multiple, kernel, (stride,) * 2, padding, **fields))  # type: ignore[arg-type]
    return net.finish(*outs)


def taken(plan: Plan) -> list[str]:
    return [call.kernel.op for step in plan.steps for call in step.calls]


PLANES = "depthwise_conv2d_by_channel"


@pytest.mark.parametrize("of", [DType.S8, DType.S16])
def test_copies_give_the_same_bytes(of: DType, tmp_path: Path) -> None:
    graph = graph_of(of)
    with taking(using(PLANES)):
        assert taken(check_plan(make_plan(graph, M4))) == [PLANES] * len(LAYERS)
        assert_same_bytes(graph, M4, tmp_path, seed=2)


def test_a_result_does_not_lie_over_the_operand() -> None:
    """Where input channels are read one after the other, the results of one lie where others are read."""
    net = Net("apart", 3)
    x = net.activation(net.input((1, 2, 12, 12)))
    deep = net.conv(x, 4, (5, 5), padding=(2, 2, 2, 2), depthwise=True)
    with taking(using(PLANES)):
        plan = check_plan(make_plan(net.finish(deep), M4))
    assert PLANES in taken(plan)
    first, second = (plan.buffers[plan.buffer_of[i]] for i in (x, deep))
    assert (
        first.offset + first.nbytes <= second.offset
        or second.offset + second.nbytes <= first.offset
    )
