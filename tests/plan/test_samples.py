# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions on images of the pixels that they see; tests/plan/test_neighbours.py runs some."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cortexm_tools.ir import Graph, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.plan.search import samples
from cortexm_tools.plan.search.samples import sample_images
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs

M4 = Target.parse("cortex-m4")


def dilated() -> Graph:
    """Two layers that see the same quarter of an image, and one that sees another."""
    net = Net("dilated", 3)
    x = net.pool(net.input((1, 8, 40, 40)), (2, 2), largest=True)
    outs = [
        net.conv(x, 8, (3, 3), (2, 2), padding, depthwise=True, dilation=(2, 2))
        for padding in ((2, 2, 2, 2), (2, 2, 2, 2), (1, 2, 2, 2))
    ]
    return simplify(net.finish(*outs))


def alone(size: int, side: int) -> Graph:
    """One such layer, on an image that is the largest or a part of that."""
    net = Net("alone", 3)
    x = net.input((1, 8, size, size))
    if side < size:
        x = net.pool(x, (size // side, size // side), largest=True)
    out = net.conv(x, 8, (3, 3), (2, 2), (2, 2, 2, 2), depthwise=True, dilation=(2, 2))
    return simplify(net.finish(out))


def slices(graph: Graph) -> list[ops.Slice]:
    return [op.attrs for op in graph.ops if isinstance(op.attrs, ops.Slice)]


def test_each_quarter_is_copied_once() -> None:
    graph = dilated()
    sampled = check_graph(sample_images(graph, M4))
    assert [each.begin for each in slices(sampled)] == [(0, 0, 0, 0), (0, 0, 1, 0)]
    assert {each.step for each in slices(sampled)} == {(1, 1, 2, 2)}
    windows = [op.attrs.window for op in sampled.ops if isinstance(op.attrs, ops.DepthwiseConv2d)]
    assert {(each.stride, each.dilation) for each in windows} == {((1, 1), (1, 1))}
    inputs = random_inputs(graph, 1)
    for a, b in zip(run_graph(graph, inputs), run_graph(sampled, inputs), strict=True):
        assert (a == b).all()


@pytest.mark.parametrize("stride, dilation", [(2, 2), (2, 4), (4, 2), (3, 3), (6, 4), (2, 1)])
def test_the_same_taps_meet_the_same_pixels(
    stride: int, dilation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any padding, sizes that are no multiples, and single taps; whether it pays or not."""
    monkeypatch.setattr(samples, "_pays", lambda *_: True)
    monkeypatch.setattr(samples, "_has_room", lambda *_: True)
    net, count = Net("taps", 5), 0
    outs = []
    for before, size, kernel in product((0, 1, 2, 5), (17, 18, 23), (1, 2, 3)):
        reach = (kernel - 1) * dilation + 1
        padding = (before, before // 2, (before + size) % 3, 1)
        if size < reach or before >= reach:
            continue
        x = net.input((2, 3, size, size + 1))
        sides, gaps = (kernel, 3), (dilation, dilation)
        step = stride, stride
        outs.append(net.conv(x, 3, sides, step, padding, depthwise=True, dilation=gaps))
        count += np.gcd(stride, dilation if kernel > 1 else 0) > 1 or np.gcd(stride, dilation) > 1
    graph = simplify(net.finish(*outs))
    sampled = check_graph(sample_images(graph, M4))
    assert len(slices(sampled)) == count > 2
    inputs = random_inputs(graph, 2)
    for a, b in zip(run_graph(graph, inputs), run_graph(sampled, inputs), strict=True):
        assert (a == b).all()


def test_not_where_it_saves_little_or_the_arena_grows() -> None:
    for cpu in ("cortex-m55", "cortex-m3", "cortex-m0"):
        assert not slices(sample_images(dilated(), Target.parse(cpu)))
    for size, side, is_copied in ((40, 40, False), (40, 20, True), (40, 5, False)):
        graph = alone(size, side)
        assert (sample_images(graph, M4) is not graph) == is_copied
    for optimize, count in ((Optimize.SIZE, 0), (Optimize.BALANCED, 2)):
        plan = make_plan(dilated(), M4, optimize=optimize)
        assert len(slices(plan.graph)) == count
