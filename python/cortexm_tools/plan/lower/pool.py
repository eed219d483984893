# SPDX-License-Identifier: Apache-2.0
"""Pools: int8 on channels_last images; float32 with the strides of any layout."""

from __future__ import annotations

from ...ir import Op, ops
from ..types import Call, TensorArg
from .context import Selector, lowers
from .images import image_calls, image_fields, strided_image_fields


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


@lowers(ops.FloatAvgPool2d, ops.FloatMaxPool2d)
def _float_pool(
    select: Selector, attrs: ops.FloatAvgPool2d | ops.FloatMaxPool2d, op: Op
) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    fields = strided_image_fields(x, out) | {
        "batches": x.shape[0],
        "channels": x.shape[1],
        "kernel_h": attrs.kernel[0],
        "kernel_w": attrs.kernel[1],
        "stride_h": attrs.stride[0],
        "stride_w": attrs.stride[1],
        "pad_top": attrs.padding[0],
        "pad_left": attrs.padding[1],
    }
    if isinstance(attrs, ops.FloatMaxPool2d):
        name = "max_pool2d"
        fields |= {"dilation_h": attrs.dilation[0], "dilation_w": attrs.dilation[1]}
    else:
        name = "avg_pool2d"
        counts = attrs.declared_padding if attrs.count_padding else (0, 0)
        fields |= {
            "dilation_h": 1,
            "dilation_w": 1,
            "count_pad_h": counts[0],
            "count_pad_w": counts[1],
            "divisor": attrs.divisor or 0,
        }
    kernel = select.kernel(name, "f32", op)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]
