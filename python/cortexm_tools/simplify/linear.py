# SPDX-License-Identifier: Apache-2.0
"""Turns convolutions that give single pixels into linear layers, whose kernels are made for them.

Of a 1x1 window without padding on images of one pixel, out[n, o] is the requantized sum of
bias[o] + (x[n, c] - in_zero_point) * weight[o, c] over all channels c: that of a linear layer on rows
of channels, whose weights have no zero point. The views around it change no element's place in C
order; where the images are a view of such rows already, it reads those.

A window of all the image has one sum as well: of (x[n, c, y, x'] - in_zero_point) *
weight[o, y, x', c], over rows of all elements of an image, channels last, as the weights have them.
Of a dilated one the pixels under its taps are brought together first, once for all that read the same ones.
Calls of a stream have many of them, for which a linear layer needs no scratch and fewer instructions; in
other models the one that may be there would bring another kernel.

The first is how a program holds a linear layer with a scale for each output (frontend/lower/linear.py).
"""

from __future__ import annotations

import math
from dataclasses import replace

from ..ir import Graph, Op, Tensor, contiguous, ops
from ..ir.edit import GraphBuilder, producers
from ..ir.geometry import Window

_Rows = dict[tuple[int, Window], int]
"""Pixels as rows, by image and window."""


def make_linear(graph: Graph) -> Graph:
    build = GraphBuilder(graph)
    made_by = producers(graph)
    matrices: dict[int, int] = {}
    rows: _Rows = {}
    for op in graph.ops:
        if _is_linear(op, graph):
            _add_linear(build, op, made_by.get(op.inputs[0]), matrices, rows)
        else:
            build.add(op)
    return build.finish()


def _is_linear(op: Op, graph: Graph) -> bool:
    attrs = op.attrs
    if not isinstance(attrs, ops.Conv2d | ops.DepthwiseConv2d):
        return False
    x = graph.tensors[op.inputs[0]]
    groups = attrs.groups if isinstance(attrs, ops.Conv2d) else x.shape[1]
    return (
        groups == 1
        and attrs.window.reach == x.shape[2:]
        and (x.shape[2:] == (1, 1) or (isinstance(attrs, ops.Conv2d) and bool(graph.states)))
        and not any(attrs.window.padding)
        and graph.tensors[op.outputs[0]].shape[2:] == (1, 1)
        and graph.tensors[op.inputs[1]].is_constant
    )


def _add_linear(
    build: GraphBuilder, op: Op, source: Op | None, matrices: dict[int, int], rows: _Rows
) -> None:
    """Adds `op` as a linear layer, with views before and behind it.

    Args:
        source: the operator that makes its images.
        matrices, rows: the weights and the images brought together so far.
    """
    attrs = op.attrs
    assert isinstance(attrs, ops.ConvAttrs)
    x, out = build.tensors[op.inputs[0]], build.tensors[op.outputs[0]]
    weight = build.tensors[op.inputs[1]]
    inputs, outputs = math.prod((x.shape[1], *attrs.window.kernel)), out.shape[1]
    if op.inputs[1] not in matrices:
        assert weight.data is not None
        data = weight.data.reshape(outputs, inputs)  # [O, 1, 1, C]; of one input [1, 1, 1, O]
        matrix = replace(weight, shape=data.shape, dim_order=contiguous(2), data=data)
        matrices[op.inputs[1]] = build.add_tensor(matrix)
    read = build.resolve(source.inputs[0]) if source is not None else op.inputs[0]
    is_view = source is not None and isinstance(source.attrs, ops.View)
    if x.shape[2:] != (1, 1):
        key = op.inputs[0], attrs.window
        if key not in rows:
            rows[key] = _add_rows(build, op, x, attrs.window)
        read = rows[key]
    elif not is_view or build.tensors[read].shape[-1:] != (inputs,):
        row = replace(x, shape=x.shape[:2], dim_order=contiguous(2), data=None)
        read = build.add_tensor(row)
        build.add(Op(ops.View(), op.inputs[:1], (read,), op.layer))
    shape = *build.tensors[read].shape[:-1], outputs
    made = build.add_tensor(replace(out, shape=shape, dim_order=contiguous(len(shape))))
    linear = ops.Linear(
        attrs.in_zero_point, 0, attrs.out_zero_point, attrs.rescales, attrs.act_min, attrs.act_max
    )
    operands = read, matrices[op.inputs[1]], *op.inputs[2:]
    build.add(Op(linear, operands, (made,), op.layer))
    build.add(Op(ops.View(), (made,), op.outputs, op.layer))


def _add_rows(build: GraphBuilder, op: Op, x: Tensor, window: Window) -> int:
    """The pixels of a window as rows, channels last: no copy where they lie so."""
    pixels, (n, c), (h, w) = op.inputs[0], x.shape[:2], window.kernel
    x = replace(x, data=None)
    if x.shape[2:] != (h, w):
        pixels = build.add_tensor(replace(x, shape=(n, c, h, w)))
        cut = ops.Slice((0,) * 4, (1, 1, *window.dilation))
        build.add(Op(cut, op.inputs[:1], (pixels,), op.layer))
    last = build.add_tensor(replace(x, shape=(n, h, w, c), dim_order=contiguous(4)))
    rows = build.add_tensor(replace(x, shape=(n, h * w * c), dim_order=contiguous(2)))
    build.add(Op(ops.Transpose((0, 2, 3, 1)), (pixels,), (last,), op.layer))
    build.add(Op(ops.View(), (last,), (rows,), op.layer))
    return rows
