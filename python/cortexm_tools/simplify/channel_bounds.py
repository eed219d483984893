# SPDX-License-Identifier: Apache-2.0
"""Which codes each channel of each tensor can have, by interval arithmetic over the actual weights.

A sum of products `(x - z) * w` is largest where every `x` is at that end of its interval which its
weight's sign asks for. What lies in the padding is `x = z`, a product of 0; a window that reaches into
it therefore has products between those with 0 as one more value. A requantization rises with the sum as
long as nothing wraps, so the ends of the sum give those of the codes; where a sum, or what it is shifted
to, may leave 32 bits, only the clamp is known.

Every other interval is that of what the operator can give, or all codes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..ir import Array, DType, Graph, Op, Tensor, ops
from ..ir.attrs import Channels
from ..ir.fixed_point import I64, rescale_channels
from ..ir.rules import CODES, INT32
from ..ir.wide import rescale_wide_channels

LAYERS = (ops.ConvAttrs, ops.Linear)
"""Operators with weights."""

LARGEST = 1 << 20
"""The largest extent of a tensor's dimension, in elements, that channels are told apart with: every channel
of every tensor takes two int64 here."""


@dataclass(frozen=True)
class Codes:
    """The codes of a tensor: those of the channel c, along `axis`, lie in [low[c], high[c]]."""

    axis: int
    low: I64
    high: I64

    @property
    def constant(self) -> npt.NDArray[np.bool_]:
        """The channels with one code only."""
        return np.asarray(self.low == self.high)

    def along(self, axis: int, count: int) -> Codes:
        """The same for another axis, of which nothing is known but the tensor's codes."""
        if axis == self.axis:
            return self
        ends = [np.full(count, end, np.int64) for end in (self.low.min(), self.high.max())]
        return Codes(axis, *ends)


def bounds(graph: Graph) -> dict[int, Codes]:
    """What is known of every tensor of int8 or int16 codes that has channels: nothing in a graph with an
    extent above `LARGEST`."""
    found: dict[int, Codes] = {}
    if any(extent > LARGEST for tensor in graph.tensors for extent in tensor.shape):
        return found
    for index, tensor in enumerate(graph.tensors):
        if tensor.dtype in CODES and tensor.shape:
            axis = 1 if len(tensor.shape) == 4 else len(tensor.shape) - 1
            found[index] = _of_constant(tensor, axis) if tensor.is_constant else _any(tensor, axis)
    for op in graph.ops:
        out = graph.tensors[op.outputs[0]]
        if op.outputs[0] in found and op.inputs[0] in found and len(op.outputs) == 1:
            found[op.outputs[0]] = _result(op, graph, found, out)
    return found


def axis_of(attrs: ops.Attrs, rank: int, own: int) -> int:
    """The axis along which an operator's operand of this rank has channels; `own`: the tensor's."""
    if isinstance(attrs, ops.ConvAttrs) or attrs.traits.channels is Channels.IMAGES:
        return 1
    return rank - 1 if isinstance(attrs, ops.Linear) else own


def split_of(before: tuple[int, ...], axis: int, after: tuple[int, ...]) -> int | None:
    """The axis of a view's result in which the channels of its operand lie, whole or in parts; or None."""
    outside, seen = int(np.prod(before[:axis])), 1
    for place, extent in enumerate(after):
        if seen == outside and extent > 1:
            small, large = sorted((extent, before[axis]))
            return None if large % small else place
        seen *= extent
    return None


def weights_of(op: Op, graph: Graph) -> Array | None:
    """The weights of a layer without zero point as [O, taps, C], C = 1 of depthwise ones; None unless they
    are constant."""
    data = graph.tensors[op.inputs[1]].data
    if data is None:
        return None
    values = data.astype(np.int64)
    if isinstance(op.attrs, ops.Linear):
        return (values - op.attrs.weight_zero_point)[:, None, :]
    if isinstance(op.attrs, ops.DepthwiseConv2d):
        return np.moveaxis(values, -1, 0).reshape(values.shape[-1], -1, 1)
    return values.reshape(values.shape[0], -1, values.shape[-1])


def _any(tensor: Tensor, axis: int) -> Codes:
    low, high = tensor.dtype.limits
    count = tensor.shape[axis]
    return Codes(axis, np.full(count, low, np.int64), np.full(count, high, np.int64))


def _of_constant(tensor: Tensor, axis: int) -> Codes:
    assert tensor.data is not None
    others = tuple(dim for dim in range(len(tensor.shape)) if dim != axis)
    values = tensor.data.astype(np.int64)
    return Codes(axis, values.min(axis=others), values.max(axis=others))


def _result(op: Op, graph: Graph, found: dict[int, Codes], out: Tensor) -> Codes:
    x = graph.tensors[op.inputs[0]]
    known = found[op.inputs[0]]
    axis = axis_of(op.attrs, len(x.shape), known.axis)
    known = known.along(axis, x.shape[axis])
    attrs = op.attrs
    if isinstance(attrs, LAYERS):
        return _layer(op, graph, known, out)
    channels = attrs.traits.channels
    if channels is Channels.BOTH:
        return _of_two(op, graph, found, out)
    if isinstance(attrs, ops.Concat):
        parts = [found[i] for i in op.inputs]
        if any(part.axis != attrs.dim for part in parts):
            return _any(out, attrs.dim)
        low, high = (
            np.concatenate([each.low for each in parts]),
            np.concatenate([each.high for each in parts]),
        )
        return Codes(attrs.dim, low, high)
    if isinstance(attrs, ops.View):
        return _view(x, known, out)
    if isinstance(attrs, ops.Transpose):
        return replace(known, axis=attrs.perm.index(known.axis))
    if isinstance(attrs, ops.Pad):
        if attrs.before[axis] or attrs.after[axis]:
            return _any(out, axis)
        low, high = np.minimum(known.low, attrs.value), np.maximum(known.high, attrs.value)
        return Codes(axis, low, high)
    if channels is Channels.EACH:
        return _by_code(op, graph, known, out)
    if isinstance(attrs, ops.MaxPool2d):
        ends = (np.clip(end, attrs.act_min, attrs.act_max) for end in (known.low, known.high))
        return Codes(axis, *ends)
    if channels is Channels.IMAGES:  # codes of the operand, or the average of some
        return known
    return _any(out, 1 if len(out.shape) == 4 else len(out.shape) - 1)


def _layer(op: Op, graph: Graph, known: Codes, out: Tensor) -> Codes:
    attrs = op.attrs
    assert isinstance(attrs, LAYERS)
    axis = 1 if isinstance(attrs, ops.ConvAttrs) else len(out.shape) - 1
    count = out.shape[axis]
    clamp = [np.full(count, end, np.int64) for end in (attrs.act_min, attrs.act_max)]
    weight = weights_of(op, graph)
    bias = graph.tensors[op.inputs[2]].data if len(op.inputs) > 2 else np.zeros(count, np.int64)
    if weight is None or bias is None:
        return Codes(axis, *clamp)
    low, high = known.low - attrs.in_zero_point, known.high - attrs.in_zero_point
    if leaves_out_taps(attrs):
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    if isinstance(attrs, ops.DepthwiseConv2d):
        low, high = (np.repeat(end, count // len(end))[:, None] for end in (low, high))
    elif isinstance(attrs, ops.Conv2d) and attrs.groups > 1:
        low, high = (
            np.repeat(end.reshape(attrs.groups, -1), count // attrs.groups, axis=0)
            for end in (low, high)
        )
    # Sums of so few products of 16 and 8 bits are exact in float64.
    above, below = (
        part.sum(axis=1).astype(np.float64)
        for part in (np.maximum(weight, 0), np.minimum(weight, 0))
    )
    least = (above * low + below * high).sum(axis=1) + bias.astype(np.float64)
    most = (above * high + below * low).sum(axis=1) + bias.astype(np.float64)
    ends = _codes(attrs, least, out.dtype), _codes(attrs, most, out.dtype)
    if out.dtype is DType.S16:
        return Codes(axis, *ends)
    raised = np.array([max(each.shift, 0) for each in attrs.rescales], np.float64)
    safe = (least * 2**raised >= INT32[0]) & (most * 2**raised <= INT32[1])
    return Codes(axis, np.where(safe, ends[0], clamp[0]), np.where(safe, ends[1], clamp[1]))


def leaves_out_taps(attrs: ops.Attrs) -> bool:
    """Whether some of an operator's windows lie outside the image in part."""
    if isinstance(attrs, ops.TransposeConv2d):
        return True
    return isinstance(attrs, ops.ConvAttrs) and any(attrs.window.padding)


def _codes(attrs: ops.ConvAttrs | ops.Linear, sums: npt.NDArray[np.float64], dtype: DType) -> I64:
    """What a layer makes of one sum, with its bias, for each of its channels."""
    whole = sums.astype(np.int64)
    rescales = attrs.rescales * (len(whole) // len(attrs.rescales))
    if dtype is DType.S16:
        codes = rescale_wide_channels(whole, rescales, axis=0)
    else:
        codes = rescale_channels(whole, rescales, axis=0) + attrs.out_zero_point
    return np.asarray(np.clip(codes, attrs.act_min, attrs.act_max))


def _of_two(op: Op, graph: Graph, found: dict[int, Codes], out: Tensor) -> Codes:
    """Of two constant channels the code that they give, else any that the operator can give."""
    axis = found[op.inputs[0]].axis
    if any(len(graph.tensors[i].shape) != len(out.shape) for i in op.inputs):
        return _any(out, 1 if len(out.shape) == 4 else len(out.shape) - 1)
    a, b = (found[i].along(axis, graph.tensors[i].shape[axis]) for i in op.inputs)
    result = _any(out, axis)
    if isinstance(op.attrs, ops.Add):
        result.low[:], result.high[:] = op.attrs.act_min, op.attrs.act_max
    fixed = np.broadcast_to(a.constant, result.low.shape) & b.constant
    if fixed.any():
        pair = (np.broadcast_to(each.low, result.low.shape)[fixed] for each in (a, b))
        codes = op.attrs.compute((out,), *(each.astype(out.dtype.numpy) for each in pair))
        result.low[fixed] = result.high[fixed] = codes
    return result


def _by_code(op: Op, graph: Graph, known: Codes, out: Tensor) -> Codes:
    """Of functions of one code: the least and the largest of each interval, found by trying all."""
    others = [graph.tensors[i].data for i in op.inputs[1:]]
    if any(each is None for each in others):
        return _any(out, known.axis)
    first, last = int(known.low.min()), int(known.high.max())
    every = np.arange(first, last + 1).astype(graph.tensors[op.inputs[0]].dtype.numpy)
    codes = np.asarray(op.attrs.compute((out,), every, *others)).astype(np.int64)
    ends = {
        (low, high): (
            codes[low - first : high - first + 1].min(),
            codes[low - first : high - first + 1].max(),
        )
        for low, high in set(zip(known.low.tolist(), known.high.tolist(), strict=True))
    }
    pairs = [ends[pair] for pair in zip(known.low.tolist(), known.high.tolist(), strict=True)]
    low, high = (np.array(end, np.int64) for end in zip(*pairs, strict=True))
    return Codes(known.axis, low, high)


def _view(x: Tensor, known: Codes, out: Tensor) -> Codes:
    axis = split_of(x.shape, known.axis, out.shape)
    if axis is None:
        return _any(out, len(out.shape) - 1)
    have, want = x.shape[known.axis], out.shape[axis]
    if want >= have:
        return Codes(axis, *(np.repeat(end, want // have) for end in (known.low, known.high)))
    parts = known.low.reshape(want, -1).min(axis=1), known.high.reshape(want, -1).max(axis=1)
    return Codes(axis, *parts)
