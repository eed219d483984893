# SPDX-License-Identifier: Apache-2.0
"""simplify/taps.py: windows that are larger than their image, and images of one column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, Op, Tensor, channels_last, ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify import simplify
from cortexm_tools.simplify.taps import fit_windows

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs


def _unchanged(graph: Graph) -> Graph:
    """The simplified graph; its results are those of `graph`."""
    found = simplify(graph)
    for seed in (1, 2):
        inputs = random_inputs(graph, seed)
        for given, had in zip(run_graph(found, inputs), run_graph(graph, inputs), strict=True):
            np.testing.assert_array_equal(given, had)
    return found


def _only(graph: Graph, kind: type) -> Op:
    (op,) = (op for op in graph.ops if isinstance(op.attrs, kind))
    return op


def _float_conv(net: Net, x: int, kernel: tuple[int, int], padding: tuple[int, int]) -> int:
    n, c, *sides = net.shape(x)
    window = Window(kernel, (1, 1), padding * 2)
    size = [s + 2 * p - k + 1 for s, p, k in zip(sides, padding, kernel, strict=True)]
    weight = net.constant(net.random.normal(0, 1, (4, c, *kernel)), DType.F32)
    shape = (n, 4, *size)
    return net.add(ops.FloatConv2d(window, 1), [x, weight], shape, DType.F32, channels_last(4))


@pytest.mark.parametrize(
    ("size", "kernel", "padding", "options", "left", "less"),
    [
        ((1, 1), (3, 3), (1, 1, 1, 1), {}, (1, 1), (0, 0, 0, 0)),
        ((1, 1), (3, 3), (1, 1, 1, 1), {"depthwise": True}, (1, 1), (0, 0, 0, 0)),
        ((2, 2), (5, 5), (2, 2, 2, 2), {}, (3, 3), (1, 1, 1, 1)),
        ((1, 7), (3, 3), (1, 1, 1, 1), {}, (1, 3), (0, 1, 0, 1)),
        ((1, 7), (3, 5), (2, 2, 0, 2), {"stride": (1, 2)}, (1, 5), (0, 2, 0, 2)),
        ((3, 3), (3, 3), (3, 3, 3, 3), {"dilation": (3, 3)}, (1, 1), (0, 0, 0, 0)),
        ((2, 9), (3, 1), (2, 0, 2, 0), {"dilation": (2, 1)}, (1, 1), (0, 0, 0, 0)),
    ],
)
def test_taps_that_meet_no_image_go(
    size: tuple[int, int],
    kernel: tuple[int, int],
    padding: tuple[int, int, int, int],
    options: dict[str, object],
    left: tuple[int, int],
    less: tuple[int, int, int, int],
) -> None:
    net = Net("taps", 3)
    options = {"stride": (1, 1), **options}
    x = net.input((1, 6, *size))
    graph = net.finish(net.conv(x, 6, kernel, padding=padding, **options))  # type: ignore[arg-type]
    (fitted,) = fit_windows(graph).ops
    assert isinstance(fitted.attrs, ops.Conv2d | ops.DepthwiseConv2d)
    assert (fitted.attrs.window.kernel, fitted.attrs.window.padding) == (left, less)
    _unchanged(graph)


def test_taps_of_floats_go() -> None:
    net = Net("floats", 5)
    x = net.input((1, 3, 1, 6), DType.F32, channels_last(4))
    graph = net.finish(_float_conv(net, x, (3, 3), (1, 1)))
    found = _unchanged(graph)
    assert _only(found, ops.FloatConv2d).attrs.window.kernel == (1, 3)  # type: ignore[attr-defined]


def test_a_window_that_misses_the_image_stays() -> None:
    """Of whose taps none has a pixel: what it gives is made of biases alone."""
    net = Net("missed", 1)
    x = net.input((1, 4, 1, 1))
    graph = net.finish(net.conv(x, 4, (1, 1), (3, 3), (1, 1, 1, 1)))
    assert fit_windows(graph) == graph


LAYERS: dict[str, Callable[[Net, int], int]] = {
    "conv": lambda net, x: net.conv(x, 8, (5, 1), (2, 1), (2, 0, 1, 0)),
    "groups": lambda net, x: net.conv(x, 8, (3, 1), padding=(1, 0, 1, 0), groups=2),
    "depthwise": lambda net, x: net.conv(x, 8, (9, 1), padding=(4, 0, 4, 0), depthwise=True),
    "dilated": lambda net, x: net.conv(x, 4, (3, 1), padding=(0, 0, 0, 0), dilation=(3, 1)),
    "transposed": lambda net, x: net.transpose_conv(x, 3, (2, 1), 2),
    "largest": lambda net, x: net.pool(x, (2, 1), largest=True),
    "average": lambda net, x: net.pool(x, (4, 1), largest=False),
    "square": lambda net, x: net.conv(x, 8, (3, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
def test_columns_are_rows(name: str, dtype: DType) -> None:
    net = Net(name, 7)
    y = LAYERS[name](net, net.input((2, 4, 32, 1), dtype))
    found = _unchanged(net.finish(y))
    shapes = {tensor.shape[2:] for op in found.ops for tensor in _images(found, op)}
    assert all(rows == 1 for rows, _ in shapes), shapes


def _images(graph: Graph, op: Op) -> list[Tensor]:
    if not hasattr(op.attrs, "window"):
        return []
    return [graph.tensors[index] for index in (op.inputs[0], op.outputs[0])]


def test_layers_of_columns_follow_each_other_without_copies() -> None:
    """Views of both ways meet between them, and what works on elements reads either."""
    net = Net("column", 9)
    x = net.conv(net.input((1, 3, 40, 1)), 4, (5, 1), padding=(2, 0, 2, 0))
    for name in ("conv", "depthwise", "largest"):
        x = net.activation(LAYERS[name](net, x))
    x = net.sum(x, net.conv(x, net.shape(x)[1], (3, 1), padding=(1, 0, 1, 0)))
    x = net.pool(x, (net.shape(x)[2], 1), largest=False)
    found = _unchanged(net.finish(net.linear(net.view(x, net.shape(x)[:2]), 5)))
    assert not [op for op in found.ops if isinstance(op.attrs, ops.Clone)]


def test_columns_beside_states_stay() -> None:
    net = Net("state", 2)
    before, x = net.tensor((1, 4, 8, 1)), net.input((1, 4, 1, 1))
    last = net.add(ops.Slice((0, 0, 1, 0), (1, 1, 1, 1)), [before], (1, 4, 7, 1))
    after = net.keep(before, net.concat([last, x], 2))
    graph = net.finish(net.conv(after, 5, (3, 1), padding=(0, 0, 0, 0)))
    assert fit_windows(graph) == graph
