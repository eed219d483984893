# SPDX-License-Identifier: Apache-2.0
"""Rewrites that make streams cheaper; each is exact for every input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..ir import Graph, Op, Tensor, channels_last, ops
from ..ir.edit import GraphBuilder, remove_dead
from ..ir.geometry import Window
from ..options.stream import Stream
from .trace import follow

_MOST_WEIGHTS = 1 << 16  # bytes of weights that repeat those of one row


def prepare(graph: Graph, stream: Stream) -> Graph:
    """The graph with each value computed once, and sums over time by channels.

    Raises:
        CortexMError: an input has no such time.
    """
    return remove_dead(_sums_by_channels(_merge_equal(graph), stream))


def _merge_equal(graph: Graph) -> Graph:
    """Operators of one meaning on the same operands give the same results, so the first one's serve for
    all: what several layers read is then kept once."""
    build = GraphBuilder(graph)
    seen: dict[object, Op] = {}
    for op in graph.ops:
        results = [graph.tensors[index] for index in op.outputs]
        key = (
            op.attrs,
            tuple(build.resolve(index) for index in op.inputs),
            tuple((tensor.dtype, tensor.shape, tensor.dim_order) for tensor in results),
        )
        first = seen.setdefault(key, op)
        if first is op or set(graph.kept).intersection(op.outputs):
            build.add(op)
            continue
        for index, same in zip(op.outputs, first.outputs, strict=True):
            build.alias(index, same)
    return build.finish()


def _sums_by_channels(graph: Graph, stream: Stream) -> Graph:
    """A linear layer with one output over time, as which a mean is lowered, as a depthwise convolution
    over the whole window.

    Both multiply every column with its weight, add the same bias and requantize once. But a row of a
    linear layer has its columns next to each other, so that those of the window would be moved one by
    one; in an image with channels last they are moved together.
    """
    found = follow(graph, stream)
    build = GraphBuilder(graph)
    for op in graph.ops:
        known = found.columns.get(op.inputs[0])
        if known is not None and _is_sum(op, graph, known.dim):
            _add_depthwise(build, op, graph)
        else:
            build.add(op)
    return build.finish()


def _is_sum(op: Op, graph: Graph, time: int) -> bool:
    if not isinstance(op.attrs, ops.Linear) or op.attrs.weight_zero_point:
        return False
    x, weight = graph.tensors[op.inputs[0]], graph.tensors[op.inputs[1]]
    return (
        time == len(x.shape) - 1
        and weight.data is not None
        and weight.shape[0] == 1
        and 1 < x.numel // x.shape[-1]
        and x.numel <= _MOST_WEIGHTS
        and all(graph.tensors[i].is_constant for i in op.inputs[2:])
    )


def _add_depthwise(build: GraphBuilder, op: Op, graph: Graph) -> None:
    attrs = op.attrs
    assert isinstance(attrs, ops.Linear)
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    length = x.shape[-1]
    channels = math.prod(x.shape[:-1])
    image = replace(
        x, name=f"{x.name}_image", shape=(1, channels, 1, length), dim_order=(0, 1, 2, 3)
    )
    viewed = build.add_tensor(image)
    moved = build.add_tensor(replace(image, dim_order=channels_last(4)))
    inputs = [moved]
    for place, index in enumerate(op.inputs[1:]):
        constant = graph.tensors[index]
        assert constant.data is not None
        shape = (1, 1, length, channels) if place == 0 else (channels,)
        data = np.repeat(constant.data.reshape(-1), channels).reshape(shape)
        inputs.append(build.add_tensor(_constant(constant, data)))
    window = Window((1, length), (1, 1), (0, 0, 0, 0))
    depthwise = ops.DepthwiseConv2d(
        window,
        attrs.in_zero_point,
        attrs.out_zero_point,
        attrs.rescales * channels,
        attrs.act_min,
        attrs.act_max,
    )
    summed = build.add_tensor(
        replace(
            out, name=f"{out.name}_image", shape=(1, channels, 1, 1), dim_order=channels_last(4)
        )
    )
    build.add(Op(ops.View(), (op.inputs[0],), (viewed,), op.layer))
    build.add(Op(ops.Clone(), (viewed,), (moved,), op.layer))
    build.add(Op(depthwise, tuple(inputs), (summed,), op.layer))
    build.add(Op(ops.View(), (summed,), op.outputs, op.layer))


def _constant(like: Tensor, data: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> Tensor:
    order = tuple(range(data.ndim))
    return replace(like, name=f"{like.name}_repeated", shape=data.shape, dim_order=order, data=data)
