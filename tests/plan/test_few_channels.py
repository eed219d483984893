# SPDX-License-Identifier: Apache-2.0
"""Small windows of few channels on MVE, one channel after the other: which may be, and the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.check.linear_map import check_linear_map
from cortexm_tools.plan.types import Plan
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.ways import taking, using

M55 = Target.parse("cortex-m55")
FEW = "depthwise_conv2d_3x4"

# Channels, outputs of them, window, rows and columns, padding.
LAYERS = (
    (2, 2, (3, 3), (8, 8), (1, 1, 1, 1)),
    (3, 3, (3, 3), (17, 19), (0, 0, 0, 0)),
    (5, 5, (3, 3), (6, 120), (2, 1, 1, 1)),
    (7, 7, (3, 3), (30, 9), (1, 0, 2, 3)),
    (9, 9, (3, 3), (16, 16), (1, 1, 1, 1)),
    (9, 9, (3, 4), (11, 15), (0, 2, 1, 1)),
    (8, 8, (2, 2), (12, 13), (0, 0, 1, 1)),
    (12, 12, (3, 3), (10, 18), (1, 1, 1, 1)),
    (17, 17, (3, 3), (16, 16), (1, 1, 1, 1)),
    (3, 6, (3, 3), (12, 12), (1, 1, 1, 1)),
    (1, 1, (3, 3), (28, 28), (1, 1, 1, 1)),
    (1, 1, (3, 3), (8, 8), (1, 1, 1, 1)),
    (1, 2, (3, 3), (28, 27), (1, 1, 1, 1)),
)


def graph_of() -> Graph:
    net = Net("few", 5)
    outs = []
    for channels, out_c, kernel, size, padding in LAYERS:
        x = net.input((1, channels, *size))
        outs.append(net.conv(x, out_c, kernel, (1, 1), padding, depthwise=channels > 1))
    x = net.input((1, 1, 28, 30))
    outs.append(net.conv(x, 1, (3, 3), (1, 1), (1, 1, 1, 1), depthwise=True, relu=True))
    return net.finish(*outs)


def taken(plan: Plan) -> list[str]:
    return [call.kernel.op for step in plan.steps for call in step.calls]


def test_few_channels_give_the_same_bytes(tmp_path: Path) -> None:
    graph = graph_of()
    with taking(using(FEW)):
        assert taken(check_plan(make_plan(graph, M55))) == [FEW] * (len(LAYERS) + 1)
        assert_same_bytes(graph, M55, tmp_path, seed=3)


@pytest.mark.parametrize(
    ("channels", "size", "kernel", "stride"),
    [
        (18, (20, 20), (3, 3), (1, 1)),
        (3, (20, 20), (3, 3), (2, 1)),
        (3, (20, 20), (5, 3), (1, 1)),
    ],
)
def test_other_layers_take_other_kernels(
    channels: int, size: tuple[int, int], kernel: tuple[int, int], stride: tuple[int, int]
) -> None:
    net = Net("others", 5)
    padding = (kernel[0] // 2, kernel[1] // 2) * 2
    x = net.input((1, channels, *size))
    y = net.conv(x, channels, kernel, stride, padding, depthwise=True)
    with taking(using(FEW)):
        assert FEW not in taken(make_plan(net.finish(y), M55))


def test_one_channel_is_checked() -> None:
    """A plain convolution has the kernel of depthwise ones for one channel alone."""
    net = Net("one", 5)
    graph = net.finish(net.conv(net.input((1, 1, 28, 28)), 1, (3, 3), (1, 1), (1, 1, 1, 1)))
    with taking(using(FEW)):
        plan = check_plan(make_plan(graph, M55))
    assert taken(plan) == [FEW]
    step = plan.steps[-1]
    call = step.calls[-1]
    assert call.weights is not None
    constants = call.weights.constants
    other = replace(constants, weight=constants.weight[:, ::-1])
    for wrong in (
        replace(call, weights=replace(call.weights, constants=other)),
        replace(call, fields=tuple((dict(call.fields) | {"in_x0": 0}).items())),
    ):
        with pytest.raises(CortexMError, match="would not compute the products"):
            check_linear_map(plan, replace(step, calls=(wrong,)))
