# SPDX-License-Identifier: Apache-2.0
"""Pools: int8 on channels_last images; float32 with the strides of any layout."""

from __future__ import annotations

from ...ir import Op, Tensor, ops
from ...ir.geometry import Window
from ..types import Call, Field, TensorArg
from .context import Selector, lowers
from .images import image_calls, image_fields, strided_image_fields, window_fields


@lowers(ops.AvgPool2d, ops.MaxPool2d)
def _pool(select: Selector, attrs: ops.AvgPool2d | ops.MaxPool2d, op: Op) -> list[Call]:
    x = select.tensor(op.inputs[0])
    clamp = (attrs.act_min, attrs.act_max) if isinstance(attrs, ops.MaxPool2d) else x.dtype.limits
    fields = image_fields(select, op, attrs.window) | {
        "channels": x.shape[1],
        **window_fields(attrs.window),
        "act_min": clamp[0],
        "act_max": clamp[1],
    }
    if x.shape[1] * x.shape[3] < 1 << 16:
        columns = Window((x.shape[2], 1), (1, 1), (0, 0, 0, 0))
        if attrs.window == columns and 1 < x.shape[2]:
            fields |= _columns(x)
        elif _is_along_columns(attrs.window):
            fields |= _rows(x) if 1 < x.shape[3] else {}
            fields |= _one_row(attrs.window, select.tensor(op.outputs[0]))
    kernel = select.kernel(op.kind, x.dtype.value, op, fields)
    return image_calls(select, op, kernel, fields, (), select.scratch(kernel, fields))


def _is_along_columns(window: Window) -> bool:
    """Whether each column of the image is pooled by itself, all alike."""
    return window.kernel[1] == window.stride[1] == 1 and window.padding[1] == window.padding[3] == 0


def _rows(x: Tensor) -> dict[str, Field]:
    """Rows of the image as single pixels of so many channels: no column is taken by itself."""
    _, channels, _, width = x.shape
    return {
        "in_w": 1,
        "out_w": 1,
        "out_pixel_stride": width * channels,
        "channels": width * channels,
    }


_MOST_OF_ROW = 128  # channels, from where a row costs little besides
_MOST_CHANNELS = 1 << 15


def _one_row(window: Window, out: Tensor) -> dict[str, Field]:
    """Short rows of pixels of that kind as a single one: windows of the next row begin where those of more
    channels would."""
    _, channels, height, width = out.shape
    padding = window.padding[0], window.padding[2]
    is_near = window.stride[0] == 1 and padding == (0, 0) and width * channels <= _MOST_OF_ROW
    together = height * width * channels
    if not is_near or together >= _MOST_CHANNELS:
        return {}
    return {"out_h": 1, "out_pixel_stride": together, "channels": together}


def _columns(x: Tensor) -> dict[str, Field]:
    """Whole columns as one window over a row of so many pixels, each of which is a row of the image."""
    _, channels, height, width = x.shape
    return {
        "in_h": 1,
        "in_w": height,
        "out_w": 1,
        "in_row_stride": height * width * channels,
        "out_pixel_stride": width * channels,
        "channels": width * channels,
        "kernel_h": 1,
        "kernel_w": height,
    }


@lowers(ops.FloatAvgPool2d, ops.FloatMaxPool2d)
def _float_pool(
    select: Selector, attrs: ops.FloatAvgPool2d | ops.FloatMaxPool2d, op: Op
) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    top, left = attrs.window.padding[:2]
    fields = strided_image_fields(x, out) | {
        "batches": x.shape[0],
        "channels": x.shape[1],
        **window_fields(attrs.window, pad_top=top, pad_left=left),
    }
    name = "max_pool2d"
    if isinstance(attrs, ops.FloatAvgPool2d):
        name = "avg_pool2d"
        counts = attrs.declared_padding if attrs.count_padding else (0, 0)
        fields |= {
            "count_pad_h": counts[0],
            "count_pad_w": counts[1],
            "divisor": attrs.divisor or 0,
        }
    kernel = select.kernel(name, "f32", op, fields)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]
