# SPDX-License-Identifier: Apache-2.0
"""Pools over windows of images."""

from __future__ import annotations

from ...ir import ops
from ...ir.geometry import Window
from ...ir.types import DType
from ..arithmetic import activation, clamped, code_bounds
from ..call import Call, reads
from .conv import images, padding, pair


def _window(call: Call) -> Window:
    images(call, 0)
    kernel = pair(call, "filter_height", "filter_width")
    stride = pair(call, "stride_h", "stride_w")
    image, out = call.lite(0).shape[1:3], call.result().shape[1:3]
    around = padding(call, (image[0], image[1]), kernel, stride, (1, 1), (out[0], out[1]))
    return Window(kernel, stride, around)


@reads("AVERAGE_POOL_2D", "MAX_POOL_2D", options="Pool2DOptions")
def _pool(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16)
    window, function = _window(call), activation(call)
    is_max = call.name == "MAX_POOL_2D"
    attrs: ops.Attrs
    if kind is DType.F32:
        attrs = ops.FloatMaxPool2d(window)
        if not is_max:
            attrs = ops.FloatAvgPool2d(window, (0, 0), count_padding=False, divisor=None)
        low, high = 0, 0
    else:
        call.same_scale(call.lite(0), call.result())
        low, high = code_bounds(call, call.result(), function)
        attrs = ops.MaxPool2d(window, low, high) if is_max else ops.AvgPool2d(window)
    n, h, w, c = call.result().shape
    made = call.add(attrs, call.image(call.operand(0)), dtype=kind, shape=(n, c, h, w))
    call.channels_last(made)
    if kind is DType.F32:
        made = clamped(call, made, function)
    elif not is_max and (low, high) != kind.limits:
        made = call.like(ops.Clamp(low, high), made)
    call.give(call.permute(made, (0, 2, 3, 1)))
