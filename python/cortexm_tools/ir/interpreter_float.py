# SPDX-License-Identifier: Apache-2.0
"""The meaning of the float32 layers, registered with the reference interpreter.

A sum begins with the bias, or zero, and takes its terms one after another in the C order of the
logical indices it goes over, with every product and sum rounded to float32: the bits of the device
kernels. A loop goes over the terms; numpy works on all results at once.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from . import ops
from .interpreter import F32, implements
from .types import Array, Graph, Op

Floats = npt.NDArray[np.float32]


def _out_shape(op: Op, graph: Graph) -> tuple[int, ...]:
    return graph.tensors[op.outputs[0]].shape


def _start(shape: tuple[int, ...], inputs: list[Any], axis: int) -> Floats:
    """What sums begin with: the bias (operand 2) along `axis`, or zero."""
    if len(inputs) < 3:
        return np.zeros(shape, F32)
    bias = inputs[2].reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return np.array(np.broadcast_to(bias, shape), F32)


def _span(out: int, extent: int, stride: int, first: int) -> tuple[slice, slice]:
    """Along one axis: the outputs o whose tap o * stride + first is inside, and those positions."""
    begin = max(0, -(first // stride))
    end = max(begin, min(out, (extent - 1 - first) // stride + 1))
    start = begin * stride + first
    return slice(begin, end), slice(start, start + (end - begin) * stride, stride)


@implements(ops.FloatConv2d)
def _conv2d(attrs: ops.FloatConv2d, inputs: list[Any], op: Op, graph: Graph) -> Array:
    x, weight = inputs[0], inputs[1]
    out_c, group_c, kernel_h, kernel_w = weight.shape
    total = _start(_out_shape(op, graph), inputs, 1)
    per_group = out_c // attrs.groups
    for group in range(attrs.groups):
        outs = slice(group * per_group, (group + 1) * per_group)
        for c, ky, kx in itertools.product(range(group_c), range(kernel_h), range(kernel_w)):
            first = ky * attrs.dilation[0] - attrs.padding[0]
            to_y, from_y = _span(total.shape[2], x.shape[2], attrs.stride[0], first)
            first = kx * attrs.dilation[1] - attrs.padding[1]
            to_x, from_x = _span(total.shape[3], x.shape[3], attrs.stride[1], first)
            channel = group * group_c + c
            total[:, outs, to_y, to_x] += (
                x[:, channel : channel + 1, from_y, from_x] * weight[outs, c, ky, kx][:, None, None]
            )
    return total


@implements(ops.FloatTransposeConv2d)
def _transpose_conv2d(
    attrs: ops.FloatTransposeConv2d, inputs: list[Any], op: Op, graph: Graph
) -> Array:
    x, weight = inputs[0], inputs[1]
    in_c, per_group, kernel_h, kernel_w = weight.shape
    total = _start(_out_shape(op, graph), inputs, 1)
    group_c = in_c // attrs.groups
    for channel in range(in_c):
        group = channel // group_c
        outs = slice(group * per_group, (group + 1) * per_group)
        for ky, kx in itertools.product(range(kernel_h), range(kernel_w)):
            first = ky * attrs.dilation[0] - attrs.padding[0]
            from_y, to_y = _span(x.shape[2], total.shape[2], attrs.stride[0], first)
            first = kx * attrs.dilation[1] - attrs.padding[1]
            from_x, to_x = _span(x.shape[3], total.shape[3], attrs.stride[1], first)
            total[:, outs, to_y, to_x] += (
                x[:, channel : channel + 1, from_y, from_x]
                * weight[channel, :, ky, kx][:, None, None]
            )
    return total


@implements(ops.FloatLinear)
def _linear(attrs: ops.FloatLinear, inputs: list[Any], op: Op, graph: Graph) -> Array:
    x, weight = inputs[0], inputs[1]
    shape = _out_shape(op, graph)
    total = _start(shape, inputs, len(shape) - 1)
    for k in range(weight.shape[1]):
        total += x[..., k : k + 1] * weight[:, k]
    return total


@implements(ops.FloatMatmul)
def _matmul(attrs: ops.FloatMatmul, inputs: list[Any], op: Op, graph: Graph) -> Array:
    a, b = inputs[0], inputs[1]
    total = np.zeros(_out_shape(op, graph), F32)
    if len(inputs) > 2:
        total = np.array(np.broadcast_to(inputs[2], total.shape), F32)
    for k in range(a.shape[-1]):
        total += a[..., :, k : k + 1] * b[..., k : k + 1, :]
    return total


def _sequential_sum(x: Floats, axis: int) -> Floats:
    """The sum along `axis`, term by term, from zero; that axis stays with size one."""
    total = np.zeros(x.take([0], axis).shape, F32)
    for k in range(x.shape[axis]):
        total += x.take([k], axis)
    return total


@implements(ops.FloatSoftmax)
def _softmax(attrs: ops.FloatSoftmax, inputs: list[Any], op: Op, graph: Graph) -> Array:
    with np.errstate(all="ignore"):
        x = inputs[0] - inputs[0].max(axis=attrs.dim, keepdims=True)
        exponential = np.exp(x.astype(np.float64)).astype(F32)
        total = _sequential_sum(exponential, attrs.dim)
        if attrs.log:
            return np.asarray(x - np.log(total.astype(np.float64)).astype(F32))
        return np.asarray(exponential / total)


@implements(ops.FloatAvgPool2d)
def _avg_pool2d(attrs: ops.FloatAvgPool2d, inputs: list[Any], op: Op, graph: Graph) -> Array:
    x = inputs[0]
    total = np.zeros(_out_shape(op, graph), F32)
    for ky, kx in itertools.product(range(attrs.kernel[0]), range(attrs.kernel[1])):
        to_y, from_y = _span(total.shape[2], x.shape[2], attrs.stride[0], ky - attrs.padding[0])
        to_x, from_x = _span(total.shape[3], x.shape[3], attrs.stride[1], kx - attrs.padding[1])
        total[:, :, to_y, to_x] += x[:, :, from_y, from_x]
    if attrs.divisor is not None:
        return np.asarray(total / F32(attrs.divisor))
    counts = [
        _counted(
            total.shape[2 + axis],
            x.shape[2 + axis],
            attrs.kernel[axis],
            attrs.stride[axis],
            attrs.padding[axis],
            attrs.declared_padding[axis] if attrs.count_padding else 0,
        )
        for axis in (0, 1)
    ]
    return np.asarray(total / np.outer(counts[0], counts[1]).astype(F32))


def _counted(
    out: int, extent: int, kernel: int, stride: int, padding: int, counts: int
) -> npt.NDArray[np.int64]:
    """For each window along one axis, its positions inside [-counts, extent + counts)."""
    first = np.arange(out) * stride - padding
    return np.asarray(np.minimum(first + kernel, extent + counts) - np.maximum(first, -counts))


@implements(ops.FloatMaxPool2d)
def _max_pool2d(attrs: ops.FloatMaxPool2d, inputs: list[Any], op: Op, graph: Graph) -> Array:
    x = inputs[0]
    best = np.full(_out_shape(op, graph), -np.inf, F32)
    for ky, kx in itertools.product(range(attrs.kernel[0]), range(attrs.kernel[1])):
        first = ky * attrs.dilation[0] - attrs.padding[0]
        to_y, from_y = _span(best.shape[2], x.shape[2], attrs.stride[0], first)
        first = kx * attrs.dilation[1] - attrs.padding[1]
        to_x, from_x = _span(best.shape[3], x.shape[3], attrs.stride[1], first)
        value, old = x[:, :, from_y, from_x], best[:, :, to_y, to_x]
        best[:, :, to_y, to_x] = np.where((value > old) | np.isnan(value), value, old)
    return best


def _normalize(x: Floats, epsilon: float) -> Floats:
    """Rows of x with mean 0 and variance 1."""
    size = F32(x.shape[1])
    with np.errstate(all="ignore"):
        centred = x - _sequential_sum(x, 1) / size
        variance = _sequential_sum(centred * centred, 1) / size
        return np.asarray(centred * (F32(1.0) / np.sqrt(variance + F32(epsilon))))


@implements(ops.FloatLayerNorm)
def _layer_norm(attrs: ops.FloatLayerNorm, inputs: list[Any], op: Op, graph: Graph) -> Array:
    rows = _normalize(inputs[0].reshape(-1, attrs.size), attrs.epsilon)
    return np.asarray(rows * inputs[1].reshape(-1) + inputs[2].reshape(-1)).reshape(inputs[0].shape)


@implements(ops.FloatGroupNorm)
def _group_norm(attrs: ops.FloatGroupNorm, inputs: list[Any], op: Op, graph: Graph) -> Array:
    n, channels = inputs[0].shape[:2]
    rows = _normalize(inputs[0].reshape(n * attrs.groups, -1), attrs.epsilon)
    pixels = rows.reshape(n, channels, -1)
    result = pixels * inputs[1].reshape(-1, 1) + inputs[2].reshape(-1, 1)
    return np.asarray(result).reshape(inputs[0].shape)
