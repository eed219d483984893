# SPDX-License-Identifier: Apache-2.0
"""Convolutions, linear and batched matrix product of the cortex_m dialect.

The dialect gives most zero points as CMSIS-NN's offsets: input and filter offsets are negated zero
points, output offsets are zero points. The IR has zero points only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ir import ops
from ...ir.types import Array, DType
from ..call import INT8, Call, Table, as_rescaling, register
from .windows import nchw, same_batch, window_padding

TABLE: Table = {}


@dataclass(frozen=True)
class _Conv:
    """The arguments that all convolutions share."""

    x: int
    weight: int
    bias: int | None
    stride: tuple[int, int]
    padding: tuple[int, ...]
    dilation: tuple[int, int]
    in_zero_point: int
    out_zero_point: int
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]
    act_min: int
    act_max: int


def _negated(call: Call, number: int) -> int:
    """The int8 zero point whose negation is given."""
    return -call.integer(number, (-INT8[1], -INT8[0]))


def _activation(call: Call, lowest: int, highest: int) -> tuple[int, int]:
    """The clamp range in int8."""
    act_min, act_max = call.integer(lowest, INT8), call.integer(highest, INT8)
    call.require(act_min <= act_max, f"empty output range [{act_min}, {act_max}]")
    return act_min, act_max


def _int32_vector(call: Call, number: int, length: int) -> tuple[int, ...]:
    """A constant int32 tensor with `length` elements."""
    data = call.constant_data(number)
    call.require(
        data.dtype == np.int32 and data.size == length,
        f"argument {number} must hold {length} int32 values",
    )
    return tuple(int(value) for value in data.reshape(-1))


def _bias(call: Call, number: int, length: int) -> int | None:
    """The int32 bias; an all-zero one is left out."""
    if call.is_none(number):
        return None
    data = call.constant_data(number)
    call.require(
        data.dtype == np.int32 and data.size == length,
        f"the bias must hold {length} int32 values",
    )
    if not data.any():
        return None
    if data.shape == (length,):
        return call.constant(number)
    return call.add_constant("bias", data.reshape(length))


def _padding(call: Call, number: int) -> tuple[int, ...]:
    """Rows and columns on both sides; or four values, from ExecuTorch 1.6 on."""
    values = call.integers(number, (0, 2**15))
    return tuple(values) if len(values) == 4 else call.pair(number, minimum=0)


def _conv_args(call: Call, dilation: int, offsets: int, out_axis: int) -> _Conv:
    """Reads the shared arguments; `dilation` and `offsets` say where they stand."""
    x, weight = call.tensor(0), call.constant(1)
    call.require_dtype(x, DType.S8)
    call.require_dtype(weight, DType.S8)
    shape = call.info(weight).shape
    call.require(len(shape) == 4 and len(call.info(x).shape) == 4, "operands must have rank 4")
    out_channels = shape[out_axis]
    act_min, act_max = _activation(call, offsets + 4, offsets + 5)
    rescalings = tuple(
        map(
            as_rescaling,
            _int32_vector(call, offsets + 2, out_channels),
            _int32_vector(call, offsets + 3, out_channels),
        )
    )
    return _Conv(
        x=x,
        weight=weight,
        bias=_bias(call, 2, out_channels),
        stride=call.pair(3, minimum=1),
        padding=_padding(call, 4),
        dilation=call.pair(dilation, minimum=1),
        in_zero_point=_negated(call, offsets),
        out_zero_point=call.integer(offsets + 1, INT8),
        multipliers=tuple(multiplier for multiplier, _ in rescalings),
        shifts=tuple(shift for _, shift in rescalings),
        act_min=act_min,
        act_max=act_max,
    )


def _conv2d(call: Call) -> None:
    args = _conv_args(call, dilation=5, offsets=6, out_axis=0)
    images = nchw(call, args.x)
    out_c, kernel_h, kernel_w, group_c = call.info(args.weight).shape
    channels = images.x_shape[1]
    call.require(channels % group_c == 0, "input channels are no multiple of the weights'")
    groups = channels // group_c
    call.require(out_c % groups == 0, "output channels are no multiple of the groups")
    same_batch(call, images, out_c)
    padding = window_padding(
        call, images, (kernel_h, kernel_w), args.stride, args.padding, args.dilation
    )
    attrs = ops.Conv2d(
        args.stride,
        padding,
        args.dilation,
        args.in_zero_point,
        args.out_zero_point,
        args.multipliers,
        args.shifts,
        args.act_min,
        args.act_max,
        groups=groups,
    )
    images.emit(attrs, args.weight, args.bias)


def _depthwise_conv2d(call: Call) -> None:
    args = _conv_args(call, dilation=5, offsets=7, out_axis=3)
    images = nchw(call, args.x)
    one, kernel_h, kernel_w, out_c = call.info(args.weight).shape
    channels = images.x_shape[1]
    call.require(one == 1, "depthwise weights must have the shape [1, height, width, channels]")
    call.require(channels * call.integer(6) == out_c, "channels do not agree with depth_multiplier")
    same_batch(call, images, out_c)
    padding = window_padding(
        call, images, (kernel_h, kernel_w), args.stride, args.padding, args.dilation
    )
    attrs = ops.DepthwiseConv2d(
        args.stride,
        padding,
        args.dilation,
        args.in_zero_point,
        args.out_zero_point,
        args.multipliers,
        args.shifts,
        args.act_min,
        args.act_max,
    )
    images.emit(attrs, args.weight, args.bias)


def _transpose_conv2d(call: Call) -> None:
    args = _conv_args(call, dilation=6, offsets=7, out_axis=0)
    extra = call.pair(5, minimum=0)
    images = nchw(call, args.x)
    out_c, kernel_h, kernel_w, in_c = call.info(args.weight).shape
    call.require(
        in_c == images.x_shape[1],
        "transposed convolutions with groups are not supported",
        "use groups=1",
    )
    same_batch(call, images, out_c)
    call.require(len(args.padding) == 2, "a transposed convolution must have a padding of 2 values")
    padding = args.padding[0], args.padding[1]
    for axis, kernel in enumerate((kernel_h, kernel_w)):
        reach = args.dilation[axis] * (kernel - 1) + 1
        full = (images.x_shape[2 + axis] - 1) * args.stride[axis] + reach
        size = full - 2 * padding[axis] + extra[axis]
        have = images.out_shape[2 + axis]
        call.require(have == size, f"the result has size {have}, the operands give {size}")
    attrs = ops.TransposeConv2d(
        args.stride,
        padding * 2,
        args.dilation,
        args.in_zero_point,
        args.out_zero_point,
        args.multipliers,
        args.shifts,
        args.act_min,
        args.act_max,
    )
    images.emit(attrs, args.weight, args.bias)


for _suffix in ("", "_nhwc"):
    register(TABLE, f"cortex_m::quantized_conv2d{_suffix}.out", args=13)(_conv2d)
    register(TABLE, f"cortex_m::quantized_depthwise_conv2d{_suffix}.out", args=14)(
        _depthwise_conv2d
    )
    register(TABLE, f"cortex_m::quantized_transpose_conv2d{_suffix}.out", args=15)(
        _transpose_conv2d
    )


@register(TABLE, "cortex_m::quantized_linear.out", args=11)
def _linear(call: Call) -> None:
    x, weight = call.tensor(0), call.constant(1)
    call.require_dtype(x, DType.S8)
    call.require_dtype(weight, DType.S8)
    x_shape, weight_shape = call.info(x).shape, call.info(weight).shape
    call.require(
        len(weight_shape) == 2 and x_shape[-1:] == weight_shape[1:],
        f"input {x_shape} and weights {weight_shape} do not fit",
    )
    call.require_out((*x_shape[:-1], weight_shape[0]), DType.S8)
    in_zero_point, weight_zero_point = _negated(call, 4), _negated(call, 5)
    multipliers, shifts = call.integers(7), call.integers(8)
    call.require(
        len(multipliers) == len(shifts) == 1, "only one requantization for all outputs is supported"
    )
    # activation_max comes before activation_min in this schema.
    act_min, act_max = _activation(call, 10, 9)
    attrs = ops.Linear(
        in_zero_point,
        weight_zero_point,
        call.integer(6, INT8),
        *as_rescaling(multipliers[0], shifts[0]),
        act_min,
        act_max,
    )
    call.emit(attrs, x, weight, _linear_bias(call, weight, in_zero_point, weight_zero_point))


def _linear_bias(call: Call, weight: int, in_zero_point: int, weight_zero_point: int) -> int | None:
    """The plain bias, from either of the two forms a program can have.

    A program for MVE carries, instead of the bias, a kernel sum with the input's zero point folded
    in: ``sum[o] = bias[o] + input_offset * sum_k(w[o, k] + filter_offset)``. With
    ``offset = -zero_point`` this gives ``bias[o] = sum[o] + in_zp * sum_k(w[o, k] - w_zp)``, in
    int32 arithmetic that wraps.
    """
    length = call.info(weight).shape[0]
    if call.is_none(3):
        return _bias(call, 2, length)
    call.require(call.is_none(2), "both a bias and a kernel sum are given")
    data = call.info(weight).data
    assert data is not None
    kernel_sum = np.array(_int32_vector(call, 3, length), np.int64)
    weights = data.astype(np.int32).sum(axis=1, dtype=np.int64) - weight_zero_point * data.shape[1]
    bias: Array = (kernel_sum + in_zero_point * weights).astype(np.int32)
    return call.add_constant("bias", bias) if bias.any() else None


@register(TABLE, "cortex_m::quantized_batch_matmul.out", args=8)
def _batch_matmul(call: Call) -> None:
    lhs, rhs = call.tensor(0), call.tensor(2)
    call.require_dtype(lhs, DType.S8)
    call.require_dtype(rhs, DType.S8)
    a, b = call.info(lhs).shape, call.info(rhs).shape
    call.require(
        len(a) == len(b) == 3 and a[0] == b[0] and a[2] == b[2],
        f"operands {a} and {b} (transposed) do not fit",
    )
    call.require_out((a[0], a[1], b[1]), DType.S8)
    # The operator adds these two arguments to the codes: they are negated zero points.
    attrs = ops.BatchMatmul(
        _negated(call, 1),
        _negated(call, 3),
        call.integer(4, INT8),
        *call.rescaling(5),
    )
    call.emit(attrs, lhs, rhs)
