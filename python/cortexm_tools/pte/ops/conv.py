# SPDX-License-Identifier: Apache-2.0
"""Convolutions, int8 of the cortex_m dialect and portable float32.

The dialect gives most zero points as CMSIS-NN's offsets: input and filter offsets are negated zero
points, output offsets are zero points. The IR has zero points only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ...ir import Rescale, ops
from ...ir.geometry import Window
from ...ir.types import DType
from ..call import Call, as_rescale, reads
from ..operands import (
    code_range,
    codes,
    float_bias,
    int32_bias,
    int32_vector,
    negated_zero_point,
    require_float,
    zero_point,
)
from ..windows import Images, images_of, nchw, same_batch, transposed_window, window_of


@dataclass(frozen=True)
class _Conv:
    """The arguments that all convolutions of codes share."""

    x: int
    weight: int
    bias: int | None
    stride: tuple[int, int]
    padding: tuple[int, ...]
    dilation: tuple[int, int]
    in_zero_point: int
    out_zero_point: int
    rescales: tuple[Rescale, ...]
    clamp: tuple[int, int]

    def emit(self, images: Images, kind: Callable[..., ops.ConvAttrs], window: Window) -> None:
        """Adds the operator of this kind on `images`."""
        zero_points = self.in_zero_point, self.out_zero_point
        attrs = kind(window, *zero_points, self.rescales, *self.clamp)
        images.emit(attrs, self.weight, self.bias)


def _padding(call: Call) -> tuple[int, ...]:
    """Rows and columns on both sides; or four values, from ExecuTorch 1.6 on."""
    values = call.integers("padding", (0, 2**15))
    return tuple(values) if len(values) == 4 else call.pair("padding", minimum=0)


def _conv_args(call: Call, out_axis: int) -> _Conv:
    """Reads the shared arguments; the weights have their output channels along `out_axis`."""
    x, weight = call.tensor("input"), call.constant("weight")
    call.require_dtype(x, codes(call))
    call.require_dtype(weight, DType.S8)
    shape = call.info(weight).shape
    call.require(len(shape) == 4 and len(call.info(x).shape) == 4, "operands must have rank 4")
    out_channels = shape[out_axis]
    clamp = code_range(call)
    rescales = map(
        as_rescale,
        int32_vector(call, "requantize_multipliers", out_channels),
        int32_vector(call, "requantize_shifts", out_channels),
    )
    return _Conv(
        x=x,
        weight=weight,
        bias=int32_bias(call, out_channels),
        stride=call.pair("stride", minimum=1),
        padding=_padding(call),
        dilation=call.pair("dilation", minimum=1),
        in_zero_point=negated_zero_point(call, "input_offset"),
        out_zero_point=zero_point(call, "output_offset"),
        rescales=tuple(rescales),
        clamp=clamp,
    )


@reads(
    "cortex_m::quantized_conv2d.out",
    "cortex_m::quantized_conv2d_nhwc.out",
    "cortexm::quantized_conv2d.out",
)
def _conv2d(call: Call) -> None:
    args = _conv_args(call, out_axis=0)
    images = nchw(call, args.x)
    out_c, kernel_h, kernel_w, group_c = call.info(args.weight).shape
    channels = images.x_shape[1]
    call.require(channels % group_c == 0, "input channels are not a multiple of the weights'")
    groups = channels // group_c
    call.require(out_c % groups == 0, "output channels are not a multiple of the groups")
    same_batch(call, images, out_c)
    window = window_of(call, images, (kernel_h, kernel_w), args.stride, args.padding, args.dilation)
    args.emit(images, partial(ops.Conv2d, groups=groups), window)


@reads(
    "cortex_m::quantized_depthwise_conv2d.out",
    "cortex_m::quantized_depthwise_conv2d_nhwc.out",
    "cortexm::quantized_depthwise_conv2d.out",
)
def _depthwise_conv2d(call: Call) -> None:
    args = _conv_args(call, out_axis=3)
    images = nchw(call, args.x)
    one, kernel_h, kernel_w, out_c = call.info(args.weight).shape
    channels = images.x_shape[1]
    call.require(one == 1, "depthwise weights must have the shape [1, height, width, channels]")
    call.require(
        channels * call.integer("depth_multiplier") == out_c,
        "channels do not agree with depth_multiplier",
    )
    same_batch(call, images, out_c)
    window = window_of(call, images, (kernel_h, kernel_w), args.stride, args.padding, args.dilation)
    args.emit(images, ops.DepthwiseConv2d, window)


@reads(
    "cortex_m::quantized_transpose_conv2d.out",
    "cortex_m::quantized_transpose_conv2d_nhwc.out",
    "cortexm::quantized_transpose_conv2d.out",
)
def _transpose_conv2d(call: Call) -> None:
    args = _conv_args(call, out_axis=0)
    extra = call.pair("output_padding", minimum=0)
    images = nchw(call, args.x)
    out_c, kernel_h, kernel_w, in_c = call.info(args.weight).shape
    call.require(
        in_c == images.x_shape[1],
        "transposed convolutions with groups are not supported",
        "use groups=1",
    )
    same_batch(call, images, out_c)
    call.require(len(args.padding) == 2, "a transposed convolution must have a padding of 2 values")
    window = transposed_window(
        call,
        images,
        (kernel_h, kernel_w),
        args.stride,
        (args.padding[0], args.padding[1]),
        args.dilation,
        extra,
    )
    args.emit(images, ops.TransposeConv2d, window)


def _pair(call: Call, name: str, images: Images, along_height: int) -> tuple[int, int]:
    """An int[2] argument (height, width), at least `along_height`; of rows, an int[1] of widths."""
    pair = call.pair(name, minimum=along_height)
    return (along_height, pair[1]) if images.is_row else pair


@reads("aten::convolution.out")
def _convolution(call: Call) -> None:
    x = call.tensor("input")
    images = images_of(call, x, DType.F32, rows=True)
    weight = call.constant("weight")
    require_float(call, x, weight)
    shape = call.info(weight).shape
    if images.is_row and len(shape) == 3:
        shape = (*shape[:2], 1, shape[2])
        weight = call.add_constant("weight", call.constant_data("weight").reshape(shape))
    call.require(len(shape) == 4, "the weights do not have the rank of the operand")
    stride, padding = _pair(call, "stride", images, 1), _pair(call, "padding", images, 0)
    dilation, groups = _pair(call, "dilation", images, 1), call.integer("groups", (1, 2**31 - 1))
    kernel, channels = (shape[2], shape[3]), images.x_shape[1]
    if call.boolean("transposed"):
        out_c = shape[1] * groups
        call.require(
            shape[0] == channels and channels % groups == 0, "the weights do not fit the channels"
        )
        same_batch(call, images, out_c)
        extra = _pair(call, "output_padding", images, 0)
        window = transposed_window(call, images, kernel, stride, padding, dilation, extra)
        attrs: ops.Attrs = ops.FloatTransposeConv2d(window, groups)
    else:
        out_c = shape[0]
        call.require(
            shape[1] * groups == channels and out_c % groups == 0,
            "the weights do not fit the channels",
        )
        same_batch(call, images, out_c)
        window = window_of(call, images, kernel, stride, padding, dilation)
        attrs = ops.FloatConv2d(window, groups)
    images.emit(attrs, weight, float_bias(call, out_c))
