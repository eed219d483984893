# SPDX-License-Identifier: Apache-2.0
"""Convolutions of floats, with the strides of any layout."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ...ir import Array, Op, Tensor, ops
from ...ir.geometry import Window
from ..forms.float_phases import AxisPhase, float_phases
from ..types import Call, Field
from .boxes import strides
from .context import POINTWISE, Selector, lowers
from .conv_costs import FLOAT_PHASES
from .images import strided_image_fields, window_fields
from .weights import float_call

_MOST_PHASES = 16


def _one_row(fields: dict[str, Field]) -> dict[str, Field]:
    """The same 1x1 convolution of an image of one row, if its rows follow each other: kernels take
    neighbours in a row together."""
    height, width = fields["in_h"], fields["in_w"]
    assert isinstance(height, int) and isinstance(width, int)
    for name in ("in_strides", "out_strides"):
        steps = fields[name]
        assert isinstance(steps, tuple)
        if steps[2] != width * steps[3]:
            return fields
    pixels = height * width
    return fields | {"in_h": 1, "in_w": pixels, "out_h": 1, "out_w": pixels}


_TURNED = ("in", "out", "kernel", "stride", "dilation")


def _keeps_columns(groups: int, weight: Tensor, fields: Mapping[str, Field]) -> bool:
    """Whether kernels take windows of a single column as well as those of a row: planes that are groups, of
    which they compute neighbours in a row."""
    ins, outs = fields["in_strides"], fields["out_strides"]
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    return groups > 1 == weight.shape[1] and not ins[1] == outs[1] == 1


def _turned(fields: dict[str, Field]) -> dict[str, Field]:
    """The same convolution with the columns as rows: kernels take neighbours in a row together, and
    windows of a single column share inputs with none of these."""
    changed: dict[str, Field] = {"pad_top": fields["pad_left"], "pad_left": fields["pad_top"]}
    for name in _TURNED:
        changed |= {f"{name}_h": fields[f"{name}_w"], f"{name}_w": fields[f"{name}_h"]}
    for name in ("in_strides", "out_strides"):
        steps = fields[name]
        assert isinstance(steps, tuple)
        changed[name] = (*steps[:2], steps[3], steps[2])
    return fields | changed


@lowers(ops.FloatConv2d, ops.FloatTransposeConv2d)
def _float_convolution(
    select: Selector, attrs: ops.FloatConv2d | ops.FloatTransposeConv2d, op: Op
) -> list[Call]:
    x, weight, out = (select.tensor(i) for i in (op.inputs[0], op.inputs[1], op.outputs[0]))
    transposed = isinstance(attrs, ops.FloatTransposeConv2d)
    has_bias = len(op.inputs) > 2
    fields = strided_image_fields(x, out) | {
        "batches": x.shape[0],
        "in_c": x.shape[1],
        "out_c": out.shape[1],
        "groups": attrs.groups,
        **window_fields(attrs.window),
        "pad_top": attrs.window.padding[0],
        "pad_left": attrs.window.padding[1],
        "bias_stride": int(has_bias),
    }
    if attrs.window == POINTWISE and not transposed:
        fields = _one_row(fields)
    elif not transposed and attrs.window.kernel[1] == 1:
        if not _keeps_columns(attrs.groups, weight, fields):
            fields = _turned(fields)
    taps = math.prod(weight.shape[1:])
    macs = (x.numel if transposed else out.numel) * taps
    if transposed and weight.data is not None and not select.avoids(FLOAT_PHASES):
        phases = float_phases(attrs.window, x.shape[2:], out.shape[2:], _MOST_PHASES)
        if phases:
            return [_float_phase(select, op, fields, weight.data, *phase) for phase in phases]
    name = "transpose_conv2d" if transposed else "conv2d"
    return [float_call(select, op, name, fields, macs)]


def _float_phase(
    select: Selector,
    op: Op,
    fields: dict[str, Field],
    weight: Array,
    row: AxisPhase,
    column: AxisPhase,
) -> Call:
    """A phase of a transposed convolution of floats, which has these fields and weights
    [in_c, out_c / groups, kernel_h, kernel_w], as a convolution."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    groups, stride_h, stride_w = (fields[f] for f in ("groups", "stride_h", "stride_w"))
    assert isinstance(groups, int) and isinstance(stride_h, int) and isinstance(stride_w, int)
    some = weight[:, :, row.tap :: stride_h, column.tap :: stride_w]
    by_group = some.reshape(groups, -1, *some.shape[1:]).swapaxes(1, 2)
    part = np.ascontiguousarray(by_group.reshape(-1, *by_group.shape[2:]))
    steps, out_steps = strides(x), strides(out)
    last = (row.inputs - 1) * steps[2] + (column.inputs - 1) * steps[3]
    out_last = (row.first + (row.count - 1) * stride_h) * out_steps[2]
    out_last += (column.first + (column.count - 1) * stride_w) * out_steps[3]
    changed: dict[str, Field] = {
        "in_h": row.inputs,
        "in_w": column.inputs,
        "out_h": row.count,
        "out_w": column.count,
        **window_fields(Window((row.taps, column.taps), (1, 1), (0, 0, 0, 0))),
        "pad_top": row.pad,
        "pad_left": column.pad,
        "in_strides": (*steps[:2], -steps[2], -steps[3]),
        "out_strides": (*out_steps[:2], -stride_h * out_steps[2], -stride_w * out_steps[3]),
    }
    macs = x.numel * math.prod(some.shape[1:])
    return float_call(select, op, "conv2d", fields | changed, macs, part, (last, out_last))
