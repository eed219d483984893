# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of several outputs a channel from a copy of the image: where there is room for it,
and the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.ir import DType, Graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.check import check_plan
from cortexm_tools.plan.kernels import planes
from cortexm_tools.plan.search import less_scratch
from cortexm_tools.plan.types import Plan
from cortexm_tools.target import Target

from tests.support.batches import assert_same_bytes
from tests.support.graphs import Net

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


@pytest.mark.parametrize(
    ("cpu", "of", "op"),
    [
        ("cortex-m55", DType.S8, "depthwise_conv2d_several"),
        ("cortex-m55", DType.S16, "depthwise_conv2d_planes"),
        ("cortex-m4", DType.S8, "depthwise_conv2d_planes"),
        ("cortex-m4", DType.S16, "depthwise_conv2d_planes"),
    ],
)
def test_copies_give_the_same_bytes(
    cpu: str, of: DType, op: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        less_scratch, "_without_growth", lambda choose, limit: choose(frozenset(), limit)
    )
    monkeypatch.setattr(planes, "_SHARE_DSP", 9.0)
    monkeypatch.setattr(planes, "_SHARE_MVE", 9.0)
    for others in ("_are_few", "_are_pairs"):
        monkeypatch.setattr(planes, others, lambda facts: False)
    graph, target = graph_of(of), Target.parse(cpu)
    assert taken(check_plan(make_plan(graph, target))) == [op] * len(LAYERS)
    assert_same_bytes(graph, target, tmp_path, seed=2)


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_an_arena_does_not_grow(cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two layers that would copy the image, the one beside which there is room does."""
    net = Net("room", 3)
    x = net.conv(net.input((1, 3, 16, 16)), 9, (5, 5), padding=(2, 2, 2, 2), depthwise=True)
    y = net.pool(x, (3, 3), largest=True)
    graph = net.finish(net.conv(y, 18, (5, 5), padding=(2, 2, 2, 2), depthwise=True))
    target = Target.parse(cpu)
    monkeypatch.setattr(planes, "_are_pairs", lambda facts: False)
    plan = make_plan(graph, target)
    first, *_, last = taken(plan)
    assert first == "depthwise_conv2d" and last.startswith("depthwise_conv2d_")
    for share in ("_SHARE_BLOCKS", "_MOST_SHARE_BLOCKS", "_SHARE_DSP"):
        monkeypatch.setattr(planes, share, 0.0)
    least = make_plan(graph, target)
    assert taken(least)[-1] == "depthwise_conv2d" and plan.arena_size == least.arena_size


def test_a_result_does_not_lie_over_the_operand() -> None:
    """Where input channels are read one after the other, the results of one lie where others are read."""
    net = Net("apart", 3)
    x = net.activation(net.input((1, 2, 12, 12)))
    deep = net.conv(x, 4, (5, 5), padding=(2, 2, 2, 2), depthwise=True)
    large = net.pad(net.input((1, 1, 1, 1)), (0,) * 4, (0, 0, 63, 63), 3)
    plan = check_plan(make_plan(net.finish(deep, large), Target.parse("cortex-m4")))
    assert "depthwise_conv2d_planes" in taken(plan)
    first, second = (plan.buffers[plan.buffer_of[i]] for i in (x, deep))
    assert (
        first.offset + first.nbytes <= second.offset
        or second.offset + second.nbytes <= first.offset
    )
