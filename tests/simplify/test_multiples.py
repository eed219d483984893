# SPDX-License-Identifier: Apache-2.0
"""simplify/multiples.py: depthwise convolutions of several outputs for each channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.simplify import simplify
from cortexm_tools.simplify.multiples import split_multiples

from tests.support.graphs import Net
from tests.support.random_graphs import random_inputs

BOTH = pytest.mark.parametrize("dtype", [DType.S8, DType.S16])


def _equal(found: Graph, graph: Graph) -> None:
    """Whether two graphs have the same results."""
    for seed in (1, 2):
        inputs = random_inputs(graph, seed)
        for given, had in zip(run_graph(found, inputs), run_graph(graph, inputs), strict=True):
            np.testing.assert_array_equal(given, had)


def _split(graph: Graph) -> Graph:
    """The graph without convolutions of several outputs for each channel; its results are the same."""
    found = check_graph(split_multiples(graph))
    for op in found.ops:
        if isinstance(op.attrs, ops.DepthwiseConv2d):
            channels = [found.tensors[i].shape[1] for i in (op.inputs[0], op.outputs[0])]
            assert channels[0] == channels[1]
    _equal(found, graph)
    _equal(simplify(graph), graph)
    return found


def _kinds(graph: Graph) -> list[str]:
    return [op.attrs.kind for op in graph.ops]


def _several(net: Net, x: int, times: int = 2, **options: object) -> int:
    return net.conv(x, times * net.shape(x)[1], depthwise=True, **options)  # type: ignore[arg-type]


ABSORBED: dict[str, Callable[[Net, int], int]] = {
    "conv": lambda net, x: net.conv(x, 5, (3, 2)),
    "transposed": lambda net, x: net.transpose_conv(x, 3, (2, 2), 2),
    "linear": lambda net, x: net.linear(net.view(x, (2, int(np.prod(net.shape(x)[1:])))), 6),
    "table": lambda net, x: net.conv(net.activation(x), 4, (1, 1)),
    "largest": lambda net, x: net.conv(net.pool(x, (2, 2), largest=True), 4),
    "average": lambda net, x: net.linear(
        net.view(net.pool(x, net.shape(x)[2:], largest=False), net.shape(x)[:2]), 3
    ),
    "depthwise": lambda net, x: net.conv(
        net.activation(net.conv(x, net.shape(x)[1], depthwise=True)), 4
    ),
    "pad": lambda net, x: net.conv(net.pad(x, (0, 0, 1, 2), (0, 0, 0, 1), 3), 4),
    "pixels": lambda net, x: net.linear(net.transpose(x, (0, 2, 3, 1)), 7),
}


@BOTH
@pytest.mark.parametrize("name", ABSORBED)
@pytest.mark.parametrize(("channels", "times"), [(8, 2), (9, 3), (8, 4)])
def test_weights_take_the_order(name: str, channels: int, times: int, dtype: DType) -> None:
    net = Net(name, channels)
    x = net.input((2, channels, 6, 7), dtype)
    graph = net.finish(ABSORBED[name](net, _several(net, x, times)))
    found = _split(graph)
    added = ["depthwise_conv2d"] * times + ["concat"]
    assert _kinds(found) == added + _kinds(graph)[1:]


def test_one_behind_another() -> None:
    """The second one has its weights in the order of the first one's results, before it is split."""
    net = Net("two", 3)
    x = net.activation(_several(net, net.input((1, 8, 6, 6)), 2))
    graph = net.finish(net.conv(_several(net, x, 3, bias=False), 5))
    found = _split(graph)
    assert _kinds(found).count("depthwise_conv2d") == 5
    assert "transpose" not in _kinds(found)


# Of an image in channels_last, and in C order.
_SORTING = (0, 1, 2, 4, 3, 5), (0, 2, 1, 3, 4, 5)

IN_ORDER: dict[str, Callable[[Net, int], tuple[int, ...]]] = {
    "output": lambda net, x: (x,),
    "sum": lambda net, x: (net.conv(net.sum(x, net.conv(x, net.shape(x)[1])), 4),),
    "two readers": lambda net, x: (net.conv(x, 4), net.activation(x)),
    "two outputs": lambda net, x: (x, net.conv(x, 4)),
    "groups": lambda net, x: (net.conv(x, 4, groups=2),),
    "channels padded": lambda net, x: (net.pad(x, (0, 1, 0, 0), (0, 2, 0, 0), 3),),
    "channels split": lambda net, x: (
        net.linear(net.view(x, (2, net.shape(x)[1] // 2, 2 * 6 * 7)), 3),
    ),
    "pixels mixed": lambda net, x: (net.linear(x, 5),),
    "rows as channels": lambda net, x: (net.conv(net.transpose(x, (0, 2, 1, 3)), 4),),
    "rows alone": lambda net, x: (net.conv(net.transpose(x, (0, 2, 1, 3)), 6, depthwise=True),),
    "softmax": lambda net, x: (net.softmax(x, 1),),
    "floats": lambda net, x: (net.dequantize(net.activation(x)),),
}


@BOTH
@pytest.mark.parametrize("name", IN_ORDER)
@pytest.mark.parametrize(("channels", "times"), [(8, 2), (10, 3)])
def test_channels_are_put_in_order(name: str, channels: int, times: int, dtype: DType) -> None:
    net = Net(name, times)
    x = _several(net, net.input((2, channels, 6, 7), dtype), times)
    graph = net.finish(*IN_ORDER[name](net, x))
    found = _split(graph)
    (moved,) = (op for op in found.ops if getattr(op.attrs, "perm", ()) in _SORTING)
    assert moved.outputs[0] not in found.outputs


def test_channels_are_put_in_order_where_the_image_is_small() -> None:
    net = Net("small", 1)
    x = net.activation(_several(net, net.input((1, 8, 8, 8))))
    x = net.activation(net.pool(x, (4, 4), largest=False))
    found = _split(net.finish(net.activation(net.view(x, (1, net.shape(x)[1] * 4)))))
    (at,) = (op.inputs[0] for op in found.ops if isinstance(op.attrs, ops.Transpose))
    assert found.tensors[at].numel == 16 * 4
    (last,) = (i for i, op in enumerate(found.ops) if isinstance(op.attrs, ops.Transpose))
    assert _kinds(found)[: last - 1].count("activation") == 2


@BOTH
def test_states_are_in_order(dtype: DType) -> None:
    net = Net("state", 1)
    before, x = net.tensor((1, 16, 1, 5), dtype), net.input((1, 8, 1, 5), dtype)
    net.keep(before, made := _several(net, x))
    found = _split(net.finish(net.sum(before, net.conv(x, 16))))
    assert made == found.states[0].after or "transpose" in _kinds(found)


def test_few_channels_or_taps_stay() -> None:
    for channels, kernel in ((1, (3, 3)), (2, (3, 3)), (7, (3, 3)), (8, (1, 2))):
        net = Net("few", 1)
        x = net.input((1, channels, 6, 6))
        graph = net.finish(_several(net, x, kernel=kernel, padding=(0, 0, 0, 0)))
        assert split_multiples(graph) == graph


def test_computed_weights_stay() -> None:
    net = Net("computed", 1)
    x, weight = net.input((1, 8, 6, 6)), net.input((1, 3, 3, 16), order=contiguous(4))
    _several(net, x)
    net.ops[-1] = replace(net.ops[-1], inputs=(x, weight, net.ops[-1].inputs[2]))
    graph = net.finish(net.ops[-1].outputs[0])
    assert split_multiples(graph) == graph


def test_other_weights_give_the_same_operators() -> None:
    """What is replaced in a device has the places that it had."""

    def made(seed: int, scale: float) -> Graph:
        net = Net("other", 5)
        net.random = np.random.default_rng(seed)
        x = net.activation(_several(net, net.input((1, 8, 6, 6)), 2))
        graph = net.finish(net.conv(x, 5))
        tensors = tuple(
            t if t.data is None else replace(t, data=(t.data / scale).astype(t.data.dtype))
            for t in graph.tensors
        )
        return split_multiples(replace(graph, tensors=tensors))

    one, other = made(1, 1), made(2, 1000)
    shapes = [[(t.name, t.shape, t.dtype) for t in graph.tensors] for graph in (one, other)]
    assert shapes[0] == shapes[1]
    wires = [[(op.attrs.kind, op.inputs, op.outputs) for op in g.ops] for g in (one, other)]
    assert wires[0] == wires[1]


@pytest.mark.parametrize("seed", range(20))
def test_random_paths(seed: int) -> None:
    """Whatever reads the result, and however often."""
    random = np.random.default_rng(seed)
    net = Net("path", seed, mixed=bool(seed % 3 == 0))
    x = net.input((1, int(random.integers(8, 12)), 8, 12), [DType.S8, DType.S16][seed % 2])
    made = x = _several(net, x, int(random.integers(2, 4)))
    steps: list[Callable[[int], int]] = [
        net.activation,
        lambda x: net.pool(x, (1, 2), largest=True) if net.shape(x)[3] > 1 else x,
        lambda x: net.conv(x, net.shape(x)[1], depthwise=True),
        lambda x: _several(net, x),
        lambda x: net.pad(x, (0, 0, 0, 1), (0, 0, 1, 0), 2),
        lambda x: net.sum(x, net.activation(x)),
        lambda x: net.conv(x, 9),
    ]
    for step in random.integers(0, len(steps), 4):
        x = steps[step](x)
    outputs = (x, made) if seed % 5 == 0 and x != made else (x,)
    _split(net.finish(*outputs))
