# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions of few channels on the halves of their images; tests/plan/test_neighbours.py runs
some."""

from __future__ import annotations

from itertools import product

import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.search import halves
from cortexm_tools.plan.search.halves import halve_images
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs

M4 = Target.parse("cortex-m4")


def alone(channels: int, size: int, side: int, *, of: DType = DType.S8) -> Graph:
    """One layer, on an image that is the largest or a part of that."""
    net = Net("alone", 3)
    x = net.input((1, channels, size, size), of)
    if side < size:
        x = net.pool(x, (size // side, size // side), largest=True)
    return simplify(net.finish(net.conv(x, channels, (3, 3), (1, 1), (1, 1, 1, 1), depthwise=True)))


def channels_of(graph: Graph) -> list[int]:
    """Those of each convolution's image."""
    convolutions = (op for op in graph.ops if isinstance(op.attrs, ops.DepthwiseConv2d))
    return [graph.tensors[op.inputs[0]].shape[1] for op in convolutions]


@pytest.mark.parametrize("of", [DType.S8, DType.S16])
def test_the_same_windows_meet_the_same_rows(of: DType, monkeypatch: pytest.MonkeyPatch) -> None:
    """With any padding, even and odd heights, the lowest ones too; whether it pays or not."""
    monkeypatch.setattr(halves, "_pays", lambda *_: True)
    monkeypatch.setattr(halves, "_has_room", lambda *_: True)
    net, outs, wanted = Net("rows", 5), [], []
    for channels, height, above, below in product((2, 3), (3, 4, 5, 6, 11), (0, 1, 2), (0, 1, 3)):
        x = net.input((1, channels, height, 4), of)
        step, padding = 1 + (above + below) % 2, (above, 1, below, 2)
        outs.append(net.conv(x, channels, (3, 3), (1, step), padding, depthwise=True))
        wanted.append(channels if height < 4 else 2 * channels)
    graph = simplify(net.finish(*outs))
    halved = check_graph(halve_images(graph, M4))
    assert channels_of(halved) == wanted
    inputs = random_inputs(graph, 2)
    for a, b in zip(run_graph(graph, inputs), run_graph(halved, inputs), strict=True):
        assert (a == b).all()


def test_not_of_other_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halves, "_pays", lambda *_: True)
    monkeypatch.setattr(halves, "_has_room", lambda *_: True)
    net, outs = Net("others", 5), []
    for batches, channels, out_c, kernel, stride, dilation in (
        (2, 2, 2, 3, 1, 1),
        (1, 1, 1, 3, 1, 1),
        (1, 4, 4, 3, 1, 1),
        (1, 2, 4, 3, 1, 1),
        (1, 2, 2, 2, 1, 1),
        (1, 2, 2, 3, 2, 1),
        (1, 2, 2, 3, 1, 2),
    ):
        x = net.input((batches, channels, 12, 12))
        its = (kernel, kernel), (stride, stride), (1, 1, 1, 1)
        gaps = (dilation, dilation)
        outs.append(net.conv(x, out_c, *its, depthwise=True, dilation=gaps))
    graph = simplify(net.finish(*outs))
    assert halve_images(graph, M4) is graph


def test_not_where_it_saves_little_or_the_arena_grows() -> None:
    for cpu in ("cortex-m55", "cortex-m3", "cortex-m0"):
        graph = alone(3, 48, 16)
        assert halve_images(graph, Target.parse(cpu)) is graph
    for channels, size, side, of, is_halved in (
        (3, 48, 16, DType.S8, True),
        (3, 16, 16, DType.S8, False),
        (3, 48, 6, DType.S8, False),
        (2, 48, 8, DType.S8, False),
        (2, 48, 8, DType.S16, True),
    ):
        graph = alone(channels, size, side, of=of)
        assert (halve_images(graph, M4) is not graph) == is_halved
    for optimize, of_each in ((Optimize.SIZE, 3), (Optimize.BALANCED, 6)):
        plan = make_plan(alone(3, 48, 16), M4, optimize=optimize)
        assert channels_of(plan.graph) == [of_each]
