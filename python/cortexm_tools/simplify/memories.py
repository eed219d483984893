# SPDX-License-Identifier: Apache-2.0
"""Reads a memory whose steps and ranks a depthwise convolution sums up in one as images of ranks by steps.

A window that is all of the image has one sum for each channel, of every pixel times its weight, and sums of
integers do not depend on their order: pixels may lie in any order, if those of all channels and the
weights lie in the same. As ranks by steps the memory can be kept as such images, or as a ring. It is how
torch.einsum multiplies a memory with weights over its ranks and steps: it brings both into one dimension.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..ir import Array, Graph, Op, contiguous, ops
from ..ir.edit import GraphBuilder, producers
from ..ir.geometry import Window

_MOST_DIMS = 6  # of a memory: all their orders are tried


def read_memories(graph: Graph) -> Graph:
    made_by = producers(graph)
    states = {state.after for state in graph.states}
    build = GraphBuilder(graph)
    for op in graph.ops:
        source = _memory(op, graph, made_by, states)
        found = None if source is None else _order(graph, op, source, made_by)
        if source is None or found is None:
            build.add(op)
        else:
            _add(build, op, source, *found)
    return build.finish()


def _memory(op: Op, graph: Graph, made_by: dict[int, Op], states: set[int]) -> Op | None:
    """The push into the state that such a convolution reads, through views and transpositions."""
    attrs = op.attrs
    if not isinstance(attrs, ops.DepthwiseConv2d):
        return None
    x = graph.tensors[op.inputs[0]]
    if (
        x.shape[0] != 1
        or attrs.window.kernel != x.shape[2:]
        or attrs.window.dilation != (1, 1)
        or any(attrs.window.padding)
        or graph.tensors[op.outputs[0]].shape != (1, x.shape[1], 1, 1)
        or not graph.tensors[op.inputs[1]].is_constant
    ):
        return None
    maker = made_by.get(op.inputs[0])
    while maker is not None and isinstance(maker.attrs, ops.View | ops.Transpose):
        maker = made_by.get(maker.inputs[0])
    if maker is None or not isinstance(maker.attrs, ops.Push) or maker.outputs[0] not in states:
        return None
    return maker


def _order(
    graph: Graph, op: Op, push: Op, made_by: dict[int, Op]
) -> tuple[tuple[int, ...], Array] | None:
    """The order of the memory's dimensions in which its last one is the steps, and of the image's pixels by
    ranks and steps; None if there is none, or the image has its steps along one axis."""
    assert isinstance(push.attrs, ops.Push)
    memory, dim = graph.tensors[push.outputs[0]], push.attrs.dim
    steps, channels = memory.shape[dim], graph.tensors[op.inputs[0]].shape[1]
    where = _places(graph, op.inputs[0], push.outputs[0], made_by).reshape(channels, -1)
    inner = int(np.prod(memory.shape[dim + 1 :]))
    time = where // inner % steps
    height, width = graph.tensors[op.inputs[0]].shape[2:]
    rows = time[0].reshape(height, width)
    if len(memory.shape) > _MOST_DIMS or steps in (1, rows.size) or (time != time[0]).any():
        return None
    counted = np.arange(steps)
    if (height == steps and (rows.T == counted).all()) or (
        width == steps and (rows == counted).all()
    ):
        return None
    pixels = np.argsort(time[0], kind="stable").reshape(steps, -1).T
    wanted = where[:, pixels.reshape(-1)]
    places = np.arange(memory.numel).reshape(memory.shape)
    for perm in itertools.permutations(range(len(memory.shape))):
        if perm[-1] == dim and np.array_equal(places.transpose(perm).reshape(wanted.shape), wanted):
            return perm, pixels
    return None


def _places(graph: Graph, index: int, source: int, made_by: dict[int, Op]) -> NDArray[np.int64]:
    """For each element of a tensor its place in the one that it is a view of."""
    if index == source:
        return np.arange(graph.tensors[source].numel).reshape(graph.tensors[source].shape)
    op = made_by[index]
    before = _places(graph, op.inputs[0], source, made_by)
    if isinstance(op.attrs, ops.Transpose):
        return before.transpose(op.attrs.perm)
    return before.reshape(graph.tensors[index].shape)


def _add(build: GraphBuilder, op: Op, push: Op, perm: tuple[int, ...], pixels: Array) -> None:
    """Adds the convolution of the image of ranks by steps."""
    assert isinstance(op.attrs, ops.DepthwiseConv2d)
    memory, weight = build.tensors[push.outputs[0]], build.tensors[op.inputs[1]]
    channels = weight.shape[3]
    assert weight.data is not None
    data = weight.data.reshape(-1, channels)[pixels].reshape(1, *pixels.shape, channels)
    filters = build.add_tensor(replace(weight, shape=data.shape, data=data))
    shape = tuple(memory.shape[d] for d in perm)
    moved = replace(memory, shape=shape, dim_order=contiguous(len(shape)))
    turned = build.add_tensor(moved)
    image = build.add_tensor(
        replace(moved, shape=(1, channels, *pixels.shape), dim_order=contiguous(4))
    )
    build.add(Op(ops.Transpose(perm), push.outputs, (turned,), op.layer))
    build.add(Op(ops.View(), (turned,), (image,), op.layer))
    window = Window((pixels.shape[0], pixels.shape[1]), (1, 1), (0, 0, 0, 0))
    attrs = replace(op.attrs, window=window)
    build.add(replace(op, attrs=attrs, inputs=(image, filters, *op.inputs[2:])))
