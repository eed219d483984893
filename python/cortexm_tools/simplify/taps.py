# SPDX-License-Identifier: Apache-2.0
"""Removes the outer taps of convolutions that never meet the image, and computes images of one column as
images of one row.

A tap that lies outside the image in every window adds nothing to any sum, as padding stands for zero. Where
the first or last rows or columns of taps are such, as those of a 3x3 window on an image of one pixel, the
window without them, and with as much less padding, has the same sums in the same order.

The pixels of an image of one column, and of one row, follow each other in the same way, whichever of the two
its dimensions say, and so do the taps of a window of one column. Kernels work along rows.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeGuard

import numpy as np

from ..ir import Attrs, Graph, Op, ops
from ..ir.edit import GraphBuilder
from ..ir.geometry import Window

_Conv = ops.Conv2d | ops.DepthwiseConv2d | ops.FloatConv2d
_Turned = _Conv | ops.TransposeConv2d
_Pool = ops.MaxPool2d | ops.AvgPool2d | ops.FloatMaxPool2d


def fit_windows(graph: Graph) -> Graph:
    build = GraphBuilder(graph)
    for op in graph.ops:
        kept = _kept_taps(op, graph)
        if kept is not None:
            build.add(_with_taps(build, op, kept))
        elif _is_column(op, graph):
            _add_as_row(build, op)
        else:
            build.add(op)
    return build.finish()


def _is_conv(attrs: Attrs) -> TypeGuard[_Conv]:
    return isinstance(attrs, _Conv)


def _taps_dim(attrs: _Turned) -> int:
    """The dimension of the weights that is a window's rows; the next one is its columns."""
    return 2 if isinstance(attrs, ops.FloatConv2d) else 1


def _kept_taps(op: Op, graph: Graph) -> tuple[range, range] | None:
    """The rows and columns of taps that meet the image; None if all do, or it is not known which."""
    attrs = op.attrs
    if not _is_conv(attrs) or not graph.tensors[op.inputs[1]].is_constant:
        return None
    window = attrs.window
    image, result = (graph.tensors[index].shape[2:] for index in (op.inputs[0], op.outputs[0]))
    kept: list[range] = []
    for axis in (0, 1):
        taps = range(window.kernel[axis])
        met = [
            next((tap for tap in order if _meets(window, axis, tap, image, result)), None)
            for order in (taps, reversed(taps))
        ]
        if met[0] is None or met[1] is None:
            return None
        kept.append(range(met[0], met[1] + 1))
    less = _padding(window, kept)
    if tuple(map(len, kept)) == window.kernel or min(less) < 0:
        return None
    return kept[0], kept[1]


def _meets(
    window: Window, axis: int, tap: int, image: tuple[int, ...], result: tuple[int, ...]
) -> bool:
    """Whether a row or column of taps has one of the image's in any window."""
    step, place = window.stride[axis], tap * window.dilation[axis] - window.padding[axis]
    last = place + (result[axis] - 1) * step
    inside = place if place >= 0 else place % step
    return inside < min(image[axis], last + 1)


def _padding(window: Window, kept: list[range] | tuple[range, range]) -> tuple[int, int, int, int]:
    """What is left of the padding of a window with `kept` rows and columns of taps alone."""
    (top, left), (bottom, right) = (
        [
            padding - count * dilation
            for padding, count, dilation in zip(sides, counts, window.dilation, strict=True)
        ]
        for sides, counts in (
            (window.padding[:2], [each.start for each in kept]),
            (window.padding[2:], [k - e.stop for k, e in zip(window.kernel, kept, strict=True)]),
        )
    )
    return top, left, bottom, right


def _with_taps(build: GraphBuilder, op: Op, kept: tuple[range, range]) -> Op:
    attrs, weight = op.attrs, build.tensors[op.inputs[1]]
    assert _is_conv(attrs) and weight.data is not None
    dim = _taps_dim(attrs)
    data = weight.data
    for axis, each in enumerate(kept):
        data = data.take(each, dim + axis)
    index = build.add_tensor(replace(weight, shape=data.shape, data=np.ascontiguousarray(data)))
    window = replace(
        attrs.window,
        kernel=(len(kept[0]), len(kept[1])),
        padding=_padding(attrs.window, kept),
    )
    return replace(
        op, attrs=replace(attrs, window=window), inputs=(op.inputs[0], index, *op.inputs[2:])
    )


def _is_column(op: Op, graph: Graph) -> bool:
    """Whether an image of one column, and more than one row, becomes one, by windows of one column. States
    stay as they are: what keeps them looks for the calls that it knows."""
    if graph.states or not isinstance(op.attrs, _Turned | _Pool):
        return False
    if isinstance(op.attrs, _Turned) and not graph.tensors[op.inputs[1]].is_constant:
        return False
    image, result = (graph.tensors[index].shape[2:] for index in (op.inputs[0], op.outputs[0]))
    window = op.attrs.window
    return (
        image[1] == result[1] == window.kernel[1] == 1
        and image[0] > 1
        and not any(window.padding[1::2])
    )


def _turned(window: Window) -> Window:
    """With rows for columns."""
    pairs = {f.name: getattr(window, f.name) for f in fields(window) if f.name != "padding"}
    top, left, bottom, right = window.padding
    swapped = {name: pair[::-1] for name, pair in pairs.items()}
    return Window(**swapped, padding=(left, top, right, bottom))


def _add_as_row(build: GraphBuilder, op: Op) -> None:
    attrs = op.attrs
    assert isinstance(attrs, _Turned | _Pool)
    (x, *others), (out,) = op.inputs, op.outputs
    given, made = build.tensors[build.resolve(x)], build.tensors[out]
    row, result = (
        build.add_tensor(replace(each, shape=(*each.shape[:2], 1, each.shape[2]), data=None))
        for each in (given, made)
    )
    if isinstance(attrs, _Turned):
        weight, dim = build.tensors[others[0]], _taps_dim(attrs)
        assert weight.data is not None
        shape = list(weight.shape)
        shape[dim : dim + 2] = shape[dim + 1], shape[dim]
        data = weight.data.reshape(shape)
        others[0] = build.add_tensor(replace(weight, shape=data.shape, data=data))
    build.add(Op(ops.View(), (x,), (row,), op.layer))
    turned = replace(attrs, window=_turned(attrs.window))
    build.add(replace(op, attrs=turned, inputs=(row, *others), outputs=(result,)))
    build.add(Op(ops.View(), (result,), op.outputs, op.layer))
