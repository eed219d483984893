# SPDX-License-Identifier: Apache-2.0
"""Large windows on MVE, pairs of rows of one channel after the other: which may be, and the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.types import Plan
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net
from tests.support.ways import taking, using

M55 = Target.parse("cortex-m55")
PAIRS = "depthwise_conv2d_pairs"

# Channels, outputs of them, window, stride, rows and columns, padding.
LAYERS = (
    (16, 16, (7, 7), (1, 1), (12, 13), (3, 3, 3, 3)),
    (16, 16, (7, 7), (2, 2), (17, 18), (3, 2, 3, 2)),
    (20, 20, (5, 5), (1, 2), (10, 19), (2, 2, 2, 2)),
    (18, 18, (5, 5), (2, 1), (11, 28), (1, 2, 0, 1)),
    (9, 9, (8, 5), (3, 2), (26, 32), (0, 0, 0, 0)),
    (24, 24, (3, 3), (1, 1), (23, 22), (1, 1, 1, 1)),
    (12, 12, (2, 8), (1, 1), (9, 40), (0, 4, 1, 3)),
    (10, 10, (9, 6), (1, 1), (14, 11), (4, 2, 4, 3)),
    (16, 16, (12, 8), (1, 1), (12, 64), (0, 0, 0, 0)),
    (6, 12, (5, 5), (1, 1), (14, 14), (2, 2, 2, 2)),
)


def taken(plan: Plan) -> list[str]:
    return [call.kernel.op for step in plan.steps for call in step.calls]


def test_large_windows_give_the_same_bytes(tmp_path: Path) -> None:
    net = Net("pairs", 5)
    outs = []
    for channels, out_c, kernel, stride, size, padding in LAYERS:
        x = net.input((1, channels, *size))
        outs.append(net.conv(x, out_c, kernel, stride, padding, depthwise=True))
    outs.append(net.conv(net.input((2, 16, 12, 12)), 16, (5, 5), depthwise=True, relu=True))
    graph = net.finish(*outs)
    with taking(using(PAIRS)):
        assert taken(check_plan(make_plan(graph, M55))) == [PAIRS] * len(outs)
        assert_same_bytes(graph, M55, tmp_path, seed=3)


@pytest.mark.parametrize(
    ("channels", "side", "kernel", "stride"),
    [
        (16, 20, (5, 9), 1),  # whose rows are longer than eight bytes
        (16, 30, (5, 5), 3),
    ],
)
def test_other_layers_take_other_kernels(
    channels: int, side: int, kernel: tuple[int, int], stride: int
) -> None:
    net = Net("others", 5)
    x = net.input((1, channels, side, side))
    y = net.conv(x, channels, kernel, (stride, stride), depthwise=True)
    with taking(using(PAIRS)):
        assert PAIRS not in taken(make_plan(net.finish(y), M55))
