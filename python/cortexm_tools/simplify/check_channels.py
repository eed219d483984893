# SPDX-License-Identifier: Apache-2.0
"""Proves of a finished removal of channels that what stays has the codes that it had.

It shares nothing with the rewrite but the declarations of operators, which tests/ir/test_families.py
holds against what they compute. For every element of every tensor it
derives bounds of its code: operators that move elements, or give more for more, are computed on the lower
and on the upper bounds; a sum is computed for the image that makes it least and for the one that makes it
most. Then each operator of the new graph, on operands without the channels, has to give the old result
without its channels: elements that are gone from a result come from elements that are gone, or from a
row of weights of their own; a layer's bias has grown by what the elements that are gone from its operand
add to every sum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import CortexMError
from ..ir import DType, Graph, Op, ops
from ..ir.attrs import Channels
from ..ir.fixed_point import I64, rescale_channels
from ..ir.wide import rescale_wide_channels

Mask = npt.NDArray[np.bool_]
Bounds = tuple[I64, I64]

_ONE_TO_ONE = (Channels.IMAGES, Channels.EACH, Channels.BOTH)
_LABELS = 1 << 40  # numbers that are no codes


def check_removal(before: Graph, after: Graph, gone: dict[int, tuple[int, Mask]]) -> None:
    """Checks what has become of a graph.

    Args:
        gone: of each tensor that lost channels, by its index, the axis and those that it lost.

    Raises:
        CortexMError: names the operator whose result could change. It is a bug in the rewrite.
    """
    kept = not set(gone) & {*before.given, *before.kept}
    same = (before.inputs, before.outputs) == (after.inputs, after.outputs)
    if not kept or not same or len(before.ops) != len(after.ops):
        raise CortexMError("a removal of channels changes the interface", where=before.name)
    for index, tensor in enumerate(before.tensors):
        axis, mask = gone.get(index, (0, np.zeros(0, np.bool_)))
        now = after.tensors[index]
        shape = list(tensor.shape)
        if index in gone:
            shape[axis] -= int(mask.sum())
        data = tensor.data
        if data is not None and index in gone:
            data = np.delete(data, np.flatnonzero(mask), axis)
        fits = (data is None) == (now.data is None) and tuple(shape) == now.shape
        if data is not None and now.data is not None:
            fits = fits and np.array_equal(data, now.data)
        if not fits:
            raise CortexMError("a removal of channels changes a tensor", where=tensor.name)
    known: dict[int, Bounds] = {}
    for old, new in zip(before.ops, after.ops, strict=True):
        if (old.outputs, type(old.attrs)) != (new.outputs, type(new.attrs)):
            _refuse(old, "is another operator")
        _check_op(old, new, before, after, gone, known)
        if len(old.outputs) == 1:
            known[old.outputs[0]] = _bounds(old, before, known)


def _refuse(op: Op, why: str) -> None:
    raise CortexMError(f"a removal of channels changes {op.kind}: it {why}", where=str(op.layer))


def _check_op(
    old: Op,
    new: Op,
    before: Graph,
    after: Graph,
    gone: dict[int, tuple[int, Mask]],
    known: dict[int, Bounds],
) -> None:
    touched = any(index in gone for index in (*old.inputs, *old.outputs))
    if isinstance(old.attrs, ops.ConvAttrs | ops.Linear) and touched:
        return _check_layer(old, new, before, after, gone, known)
    if old != new:
        _refuse(old, "has other fields or operands")
    if not touched:
        return None
    channels, out = old.attrs.traits.channels, old.outputs[0]
    if channels is Channels.PLACED:
        if not _places_the_same(old, before, after, gone):
            _refuse(old, "brings other elements to a place")
    elif channels in _ONE_TO_ONE:
        axis, mask = gone.get(out, (0, np.zeros(0, np.bool_)))
        rank, count = len(before.tensors[out].shape), 2 if channels is Channels.BOTH else 1
        for index in old.inputs[:count]:
            shape = before.tensors[index].shape
            alike = len(shape) == rank and shape[axis] == len(mask)
            lost, removed = gone.get(index, (-1, mask))
            whole = index not in gone and len(shape) == rank and shape[axis] == 1
            if not whole and not (alike and lost == axis and np.array_equal(removed, mask)):
                _refuse(old, "loses other channels than an operand")
        table = any(index in gone for index in old.inputs[count:])
        if table or (channels is Channels.IMAGES and axis != 1):
            _refuse(old, "goes along its channels")
    else:
        _refuse(old, "needs all its operands' channels")
    return None


def _places_the_same(
    op: Op, before: Graph, after: Graph, gone: dict[int, tuple[int, Mask]]
) -> bool:
    """Whether an operator that only moves elements brings to each place that stays the element that was
    there. Elements are told apart by numbers of their own."""
    whole, first = [], _LABELS
    for index in op.inputs:
        tensor = before.tensors[index]
        whole.append(np.arange(first, first + tensor.numel).reshape(tensor.shape))
        first += tensor.numel
    smaller = [_without(each, index, gone) for each, index in zip(whole, op.inputs, strict=True)]
    out = op.outputs[0]
    was = np.asarray(op.attrs.compute((before.tensors[out],), *whole))
    try:
        now = op.attrs.compute((after.tensors[out],), *smaller)
    except ValueError:  # shapes that do not fit each other
        return False
    return np.array_equal(_without(was, out, gone), now)


def _without(values: I64, index: int, gone: dict[int, tuple[int, Mask]]) -> I64:
    """What remains of the values of a tensor's elements."""
    if index not in gone:
        return values
    axis, mask = gone[index]
    return np.delete(values, np.flatnonzero(mask), axis)


def _check_layer(
    old: Op,
    new: Op,
    before: Graph,
    after: Graph,
    gone: dict[int, tuple[int, Mask]],
    known: dict[int, Bounds],
) -> None:
    attrs = old.attrs
    assert isinstance(attrs, ops.ConvAttrs | ops.Linear)
    x, out = old.inputs[0], old.outputs[0]
    weight, now = _matrix(old, before), _matrix(new, after)
    in_axis, out_axis = (
        1 if isinstance(attrs, ops.ConvAttrs) else len(before.tensors[i].shape) - 1
        for i in (x, out)
    )
    lost = {index: gone[index][1] for index in (x, out) if index in gone}
    if any(gone[i][0] != axis for i, axis in ((x, in_axis), (out, out_axis)) if i in gone):
        _refuse(old, "loses something else than channels")
    if new.inputs[0] != x or (isinstance(attrs, ops.Conv2d) and attrs.groups != 1):
        _refuse(old, "has other fields or operands")
    rows = np.flatnonzero(~lost.get(out, np.zeros(len(weight), np.bool_)))
    columns = np.arange(weight.shape[2])
    if isinstance(attrs, ops.DepthwiseConv2d):
        per = len(weight) // before.tensors[x].shape[1]
        removed = np.repeat(lost.get(x, np.zeros(before.tensors[x].shape[1], np.bool_)), per)
        if x in lost and not np.array_equal(
            removed, np.isin(np.arange(len(weight)), rows, invert=True)
        ):
            _refuse(old, "loses other channels than its operand")
        if x not in lost and before.tensors[x].shape[1] > 1:
            _refuse(old, "loses channels that its operand has")
        added = np.zeros(len(rows), np.int64)
    else:
        dropped = np.flatnonzero(lost.get(x, np.zeros(weight.shape[2], np.bool_)))
        columns = np.delete(columns, dropped)
        added = _parts(old, weight[rows], dropped, before, known)
    if not np.array_equal(weight[rows][:, :, columns], now):
        _refuse(old, "has other weights")
    whole = len(attrs.rescales) == len(weight)
    rescales = tuple(attrs.rescales[row] for row in rows) if whole else attrs.rescales
    if new.attrs != replace(attrs, rescales=rescales):
        _refuse(old, "has other fields")
    difference = _bias(new, after, len(rows)) - _bias(old, before, len(weight))[rows] - added
    if before.tensors[x].dtype is DType.S8:
        difference %= 1 << 32
    if difference.any():
        _refuse(old, "has another bias")


def _parts(op: Op, weight: I64, dropped: I64, graph: Graph, known: dict[int, Bounds]) -> I64:
    """What the channels `dropped` add to every sum of each row of weights [O, taps, C]."""
    attrs = op.attrs
    assert isinstance(attrs, ops.ConvAttrs | ops.Linear)
    total = np.zeros(len(weight), np.int64)
    low, high = _of(op.inputs[0], graph, known)
    axis = 1 if isinstance(attrs, ops.ConvAttrs) else low.ndim - 1
    for channel in dropped:
        taps = weight[:, :, channel]
        if not taps.any():
            continue
        codes = low.take(channel, axis)
        code = int(codes.flat[0])
        if (codes != code).any() or (high.take(channel, axis) != code).any():
            _refuse(op, f"reads channel {channel}, whose codes differ")
        if code != attrs.in_zero_point and _has_edges(attrs):
            _refuse(op, f"reads channel {channel} at the edges of an image")
        total += (code - attrs.in_zero_point) * taps.sum(axis=1)
    return total


def _has_edges(attrs: ops.Attrs) -> bool:
    if isinstance(attrs, ops.TransposeConv2d):
        return True
    return isinstance(attrs, ops.ConvAttrs) and attrs.window.padding != (0, 0, 0, 0)


def _matrix(op: Op, graph: Graph) -> I64:
    """Weights as [output, tap, channel]."""
    data = graph.tensors[op.inputs[1]].data
    if data is None:
        raise CortexMError(f"a removal of channels changes {op.kind}: it has no constant weights")
    values = data.astype(np.int64)
    if isinstance(op.attrs, ops.Linear):
        return np.expand_dims(values - op.attrs.weight_zero_point, 1)
    if isinstance(op.attrs, ops.DepthwiseConv2d):
        return np.expand_dims(values[0].reshape(-1, values.shape[3]).T, 2)
    return values.reshape(len(values), -1, values.shape[3])


def _bias(op: Op, graph: Graph, count: int) -> I64:
    if len(op.inputs) < 3:
        return np.zeros(count, np.int64)
    data = graph.tensors[op.inputs[2]].data
    if data is None:
        raise CortexMError(f"a removal of channels changes {op.kind}: its bias is not constant")
    return data.astype(np.int64)


def _of(index: int, graph: Graph, known: dict[int, Bounds]) -> Bounds:
    """Bounds of a tensor's elements."""
    tensor = graph.tensors[index]
    if tensor.data is not None:
        values = tensor.data.astype(np.int64)
        return values, values
    if index in known:
        return known[index]
    low, high = tensor.dtype.limits if tensor.dtype is not DType.F32 else (0, 0)
    return np.full(tensor.shape, low, np.int64), np.full(tensor.shape, high, np.int64)


def _bounds(op: Op, graph: Graph, known: dict[int, Bounds]) -> Bounds:
    """Bounds of the elements of an operator's result."""
    attrs, out = op.attrs, graph.tensors[op.outputs[0]]
    if out.dtype not in (DType.S8, DType.S16) or graph.tensors[op.inputs[0]].dtype is DType.F32:
        return _of(op.outputs[0], graph, known)
    operands = [_of(index, graph, known) for index in op.inputs]
    channels = attrs.traits.channels
    if channels in (Channels.PLACED, Channels.IMAGES):
        low, high = (
            np.asarray(attrs.compute((out,), *(pair[end] for pair in operands))).astype(np.int64)
            for end in (0, 1)
        )
        return low.reshape(out.shape), high.reshape(out.shape)
    if isinstance(attrs, ops.ConvAttrs | ops.Linear):
        return _extremes(op, graph, *operands[0])
    if channels is Channels.EACH:
        return _function_bounds(op, graph, *operands[0])
    low, high = (np.full(out.shape, end, np.int64) for end in _limits(attrs, out.dtype))
    if channels is Channels.BOTH:
        same = [np.broadcast_to(pair[0] == pair[1], out.shape) for pair in operands]
        fixed = np.logical_and.reduce(same)
        codes = np.asarray(attrs.compute((out,), *(pair[0] for pair in operands)))
        low[fixed] = high[fixed] = np.broadcast_to(codes, out.shape)[fixed]
    return low, high


def _limits(attrs: ops.Attrs, dtype: DType) -> tuple[int, int]:
    low, high = dtype.limits
    return getattr(attrs, "act_min", low), getattr(attrs, "act_max", high)


def _function_bounds(op: Op, graph: Graph, low: I64, high: I64) -> Bounds:
    """Bounds of a function of codes: the least and the largest of what it gives between two."""
    out, others = graph.tensors[op.outputs[0]], [graph.tensors[i].data for i in op.inputs[1:]]
    if any(each is None for each in others):
        return _of(op.outputs[0], graph, {})
    first, last = graph.tensors[op.inputs[0]].dtype.limits
    every = np.arange(first, last + 1)
    codes = np.asarray(op.attrs.compute((out,), every, *others)).astype(np.int64)
    pairs, place = np.unique(
        np.stack([low.reshape(-1), high.reshape(-1)]), axis=1, return_inverse=True
    )
    spans = [codes[a - first : b - first + 1] for a, b in pairs.T]
    ends = [np.array([pick(span) for span in spans], np.int64) for pick in (np.min, np.max)]
    return ends[0][place.reshape(-1)].reshape(out.shape), ends[1][place.reshape(-1)].reshape(
        out.shape
    )


def _extremes(op: Op, graph: Graph, low: I64, high: I64) -> Bounds:
    """Bounds of a layer's codes: of the sums of the images that make them least and most."""
    attrs, out = op.attrs, graph.tensors[op.outputs[0]]
    assert isinstance(attrs, ops.ConvAttrs | ops.Linear)
    axis = 1 if isinstance(attrs, ops.ConvAttrs) else low.ndim - 1
    others = tuple(dim for dim in range(low.ndim) if dim != axis)
    least, most = low.min(axis=others), high.max(axis=others)
    clamp = np.full(out.shape, attrs.act_min, np.int64), np.full(out.shape, attrs.act_max, np.int64)
    if any(graph.tensors[i].data is None for i in op.inputs[1:]):
        return clamp
    weight = _matrix(op, graph)
    count, channels = len(weight), weight.shape[2]
    source = np.arange(channels)[None]  # of each output's channels, the operand's
    if isinstance(attrs, ops.DepthwiseConv2d):
        source = (np.arange(count) // (count // len(least)))[:, None]
    elif isinstance(attrs, ops.Conv2d):
        source = source + channels * (np.arange(count) // (count // attrs.groups))[:, None]
    zero, edges = attrs.in_zero_point, _has_edges(attrs)
    first, last = least[source] - zero, most[source] - zero
    if edges:
        first, last = np.minimum(first, 0), np.maximum(last, 0)
    first, last = first[:, None, :], last[:, None, :]
    bias = _bias(op, graph, count)
    ends = []
    for for_positive, for_negative in ((first, last), (last, first)):
        image = np.where(weight > 0, for_positive, for_negative)
        ends.append((image * weight).sum(axis=(1, 2)) + bias)
    rescales = attrs.rescales * (count // len(attrs.rescales))
    codes = []
    for total in ends:
        if out.dtype is DType.S16:
            code = rescale_wide_channels(total, rescales, axis=0)
        else:
            code = rescale_channels(total, rescales, axis=0) + attrs.out_zero_point
        codes.append(np.clip(code, attrs.act_min, attrs.act_max))
    if out.dtype is DType.S8:
        for each in range(count):
            factor = 1 << max(rescales[each].shift, 0)
            if min(ends[0][each], -ends[1][each]) * factor < -(2**31) + 1:
                codes[0][each], codes[1][each] = attrs.act_min, attrs.act_max
    shape = [1] * len(out.shape)
    shape[1 if isinstance(attrs, ops.ConvAttrs) else -1] = count
    low, high = (np.broadcast_to(code.reshape(shape), out.shape).astype(np.int64) for code in codes)
    return low, high
