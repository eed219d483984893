# SPDX-License-Identifier: Apache-2.0
"""Pools over windows of images."""

from __future__ import annotations

from ...ir import ops
from ...ir.types import DType
from ..arithmetic import activation, clamped, code_bounds
from ..call import Call, reads
from .conv import images, pair, window_of


@reads("AVERAGE_POOL_2D", "MAX_POOL_2D", options="Pool2DOptions")
def _pool(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16)
    images(call, 0)
    window = window_of(call, pair(call, "filter_height", "filter_width"))
    function = activation(call)
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
    made = call.image_result(attrs, call.image(call.operand(0)))
    if kind is DType.F32:
        made = clamped(call, made, function)
    elif not is_max and (low, high) != kind.limits:
        made = call.like(ops.Clamp(low, high), made)
    call.give_image(made)
