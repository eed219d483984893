# SPDX-License-Identifier: Apache-2.0
"""Convolutions of images, of codes and of float32."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import ops
from ...ir.geometry import Window
from ...ir.types import Array, DType
from ..arithmetic import activation, clamped, code_bounds
from ..call import AGAIN, Call, reads
from ..weights import Weights, bias_of, check_sums, rescales, weights_of

Pair = tuple[int, int]


def _padding(
    call: Call, image: Sequence[int], kernel: Pair, stride: Pair, dilation: Pair, out: Sequence[int]
) -> tuple[int, int, int, int]:
    """(top, left, bottom, right) around an image, as ComputePaddingHeightWidth has it."""
    mode = call.choice("padding", "Padding")
    call.require(mode in ("SAME", "VALID"), f"unknown padding {mode}")
    sides = []
    for size, taps, step, apart, count in zip(image, kernel, stride, dilation, out, strict=True):
        reach = (taps - 1) * apart + 1
        expected = -(-size // step) if mode == "SAME" else -(-(size - reach + 1) // step)
        call.require(
            count == expected,
            f"the result has size {count}, the windows give {expected}",
            "convert the model with a fixed shape of its inputs",
        )
        total = max(0, (count - 1) * step + reach - size)
        sides.append((total // 2, total - total // 2))
    (top, bottom), (left, right) = sides
    return top, left, bottom, right


def pair(call: Call, height: str, width: str) -> Pair:
    """Two options, above zero."""
    found = int(call.option(height)), int(call.option(width))
    call.require(min(found) > 0, f"{height} and {width} are {found}", AGAIN)
    return found


def images(call: Call, *tensors: int) -> None:
    """Operands and the result have four dimensions."""
    for tensor in (*map(call.lite, tensors), call.result()):
        call.require(len(tensor.shape) == 4, f"{tensor} has the shape {tensor.shape}", AGAIN)


def window_of(call: Call, kernel: Pair, dilation: Pair = (1, 1)) -> Window:
    """Of operand 0 and the result, which are images."""
    stride = pair(call, "stride_h", "stride_w")
    (_, *image, _), (_, *out, _) = call.lite(0).shape, call.result().shape
    return Window(kernel, stride, _padding(call, image, kernel, stride, dilation, out), dilation)


def _dilation(call: Call) -> Pair:
    return pair(call, "dilation_h_factor", "dilation_w_factor")


@reads("CONV_2D", options="Conv2DOptions")
def _conv(call: Call) -> None:
    images(call, 0, 1)
    weights = weights_of(call, 0, 1, axis=0)
    out_c, height, width, group_c = weights.data.shape
    window = window_of(call, (height, width), _dilation(call))
    channels = call.lite(0).shape[3]
    call.require(channels % group_c == 0, f"{channels} channels are no groups of {group_c}", AGAIN)
    groups = channels // group_c
    if weights.scales:
        check_sums(call, call.type(call.lite(0)), 2)
        _codes(call, ops.Conv2d, window, weights, out_c, groups=groups)
    else:
        _floats(call, ops.FloatConv2d(window, groups), weights.data.transpose(0, 3, 1, 2), out_c)


@reads("DEPTHWISE_CONV_2D", options="DepthwiseConv2DOptions")
def _depthwise(call: Call) -> None:
    images(call, 0, 1)
    weights = weights_of(call, 0, 1, axis=3)
    one, height, width, out_c = weights.data.shape
    channels = call.lite(0).shape[3]
    fits = one == 1 and out_c == channels * call.option("depth_multiplier")
    call.require(fits, f"weights {weights.data.shape} do not fit {channels} channels", AGAIN)
    window = window_of(call, (height, width), _dilation(call))
    if weights.scales:
        _codes(call, ops.DepthwiseConv2d, window, weights, out_c)
    else:
        _floats(call, ops.FloatConv2d(window, channels), weights.data.transpose(3, 0, 1, 2), out_c)


def _codes(
    call: Call,
    kind: type[ops.ConvAttrs],
    window: Window,
    weights: Weights,
    out_c: int,
    *,
    x: int = 0,
    **more: int,
) -> None:
    """A convolution of codes; its operands are x, weights and bias, in a row or not."""
    source, result = call.lite(x), call.result()
    dtype = call.types(DType.S8, DType.S16, operands=1) if x == 0 else call.type(source)
    call.require(
        weights.zero_point(call) == 0,
        f"{weights.tensor} has a zero point",
        "quantize the weights symmetrically",
    )
    factors = rescales(call, source, weights, result)
    low, high = code_bounds(call, result, activation(call))
    attrs = kind(
        window,
        call.zero(source),
        call.zero(result),
        factors * (out_c // len(factors)),
        low,
        high,
        **more,
    )
    bias = bias_of(call, 3 if x else 2, out_c, dtype)
    operands = call.image(call.operand(x)), call.number(weights.data), bias
    call.give_image(call.image_result(attrs, *operands))


def _floats(call: Call, attrs: ops.Attrs, weights: Array, out_c: int, *, x: int = 0) -> None:
    """A convolution of float32; its operands as those of codes."""
    bias = bias_of(call, 3 if x else 2, out_c, DType.F32)
    made = call.image_result(attrs, call.image(call.operand(x)), call.number(weights), bias)
    call.give_image(clamped(call, made, activation(call)))


@reads("TRANSPOSE_CONV", options="TransposeConvOptions")
def _transpose_conv(call: Call) -> None:
    """Operands are the result's shape, which the result has, weights, images and a bias."""
    images(call, 2, 1)
    shape = call.result().shape
    weights = weights_of(call, 2, 1, axis=0)
    out_c, height, width, in_c = weights.data.shape
    _, *image, channels = call.lite(2).shape
    call.require(in_c == channels, f"weights for {in_c} channels, not {channels}", AGAIN)
    stride = pair(call, "stride_h", "stride_w")
    kernel = height, width
    top, left, *_ = _padding(call, shape[1:3], kernel, stride, (1, 1), image)
    bottom, right = (
        max(0, (image[axis] - 1) * stride[axis] + kernel[axis] - first - shape[1 + axis])
        for axis, first in enumerate((top, left))
    )
    window = Window(kernel, stride, (top, left, bottom, right))
    if weights.scales:
        check_sums(call, call.type(call.lite(2)), 3)
        _codes(call, ops.TransposeConv2d, window, weights, out_c, x=2)
    else:
        _floats(
            call,
            ops.FloatTransposeConv2d(window, 1),
            weights.data.transpose(3, 0, 1, 2),
            out_c,
            x=2,
        )
