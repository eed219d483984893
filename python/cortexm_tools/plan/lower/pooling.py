# SPDX-License-Identifier: Apache-2.0
"""avg_pool2d, max_pool2d."""

from __future__ import annotations

from ...ir import Op, ops
from ..types import Call
from .context import Selector, lowers
from .convolution import image_calls, image_fields


@lowers(ops.AvgPool2d, ops.MaxPool2d)
def _pool(select: Selector, attrs: ops.AvgPool2d | ops.MaxPool2d, op: Op) -> list[Call]:
    dilation, clamp = (1, 1), (-128, 127)
    if isinstance(attrs, ops.MaxPool2d):
        dilation, clamp = attrs.dilation, (attrs.act_min, attrs.act_max)
    fields = image_fields(select, op) | {
        "in_y0": -attrs.padding[0],
        "in_x0": -attrs.padding[1],
        "channels": select.tensor(op.inputs[0]).shape[1],
        "kernel_h": attrs.kernel[0],
        "kernel_w": attrs.kernel[1],
        "stride_h": attrs.stride[0],
        "stride_w": attrs.stride[1],
        "dilation_h": dilation[0],
        "dilation_w": dilation[1],
        "act_min": clamp[0],
        "act_max": clamp[1],
    }
    kernel = select.kernel(op.kind, "s8", op, fields)
    return image_calls(select, op, kernel, fields, (), select.scratch(kernel, fields))
