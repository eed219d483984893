# SPDX-License-Identifier: Apache-2.0
"""Normalizations: rows in C order, or channels with the strides of any layout."""

from __future__ import annotations

import math

from ...ir import Op, Tensor, ops
from ...ir.norms import Size
from ...target import Isa
from ..types import Call, Field, TensorArg
from .boxes import strides
from .context import Selector, lowers


@lowers(ops.LayerNorm)
def _layer_norm_of_codes(select: Selector, attrs: ops.LayerNorm, op: Op) -> list[Call]:
    fields: dict[str, Field] = {
        "batches": 1,
        "groups": select.tensor(op.inputs[0]).numel // attrs.size,
        "outer": 1,
        "inner": attrs.size,
        "factor_group_stride": 0,
        "factor_outer_stride": 0,
        "factor_inner_stride": 1,
        "zero_point": attrs.in_zero_point,
        "centred": int(attrs.centred),
    }
    for name in ("in", "out"):
        fields |= {
            f"{name}_batch_stride": 0,
            f"{name}_group_stride": attrs.size,
            f"{name}_outer_stride": 0,
            f"{name}_inner_stride": 1,
        }
    return _codes_call(select, op, fields, attrs.size, attrs.epsilon, attrs.shift)


@lowers(ops.GroupNorm)
def _group_norm_of_codes(select: Selector, attrs: ops.GroupNorm, op: Op) -> list[Call]:
    """The inner loop goes along what lies side by side in the operand, pixels or channels; but along pixels
    if the channels of a group are few: an element that lies apart costs some 4 instructions more, and
    each run some 90. With MVE an element costs about as much either way, and a run along pixels 45, along
    channels 44, or 32 where there is one group."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    channels, pixels = x.shape[1] // attrs.groups, math.prod(x.shape[2:])
    step = _pixel_stride(x)
    by_channel = 90 / channels < 4 + 90 / pixels
    if select.target.isa is Isa.MVE:
        by_channel = (44 if attrs.groups > 1 else 32) / channels < 0.8 + 45 / pixels
    by_channel = pixels == 1 or (step != 1 and by_channel)
    by_channel |= step > 8192  # as far as kernels go from one element to the next
    fields: dict[str, Field] = {
        "batches": x.shape[0],
        "groups": attrs.groups,
        "outer": pixels if by_channel else channels,
        "inner": channels if by_channel else pixels,
        "factor_group_stride": channels,
        "factor_outer_stride": 0 if by_channel else 1,
        "factor_inner_stride": 1 if by_channel else 0,
        "zero_point": 0,
        "centred": 1,
    }
    for name, tensor in (("in", x), ("out", out)):
        steps = strides(tensor)
        along, across = steps[1], _pixel_stride(tensor)
        if not by_channel:
            along, across = across, along
        fields |= {
            f"{name}_batch_stride": steps[0],
            f"{name}_group_stride": channels * steps[1],
            f"{name}_outer_stride": across,
            f"{name}_inner_stride": along,
        }
    return _codes_call(select, op, fields, channels * pixels, attrs.epsilon, attrs.shift)


def _codes_call(
    select: Selector, op: Op, fields: dict[str, Field], size: int, epsilon: int, shift: int
) -> list[Call]:
    known = Size(size)
    fields |= {
        "size": size,
        "bits": known.bits,
        "mantissa": known.mantissa,
        "inverse": known.inverse,
        "epsilon_high": epsilon >> 32,
        "epsilon_low": epsilon & 0xFFFFFFFF,
        "shift": shift,
    }
    args = [select.operand(i) for i in op.inputs]
    dtype = select.tensor(op.inputs[0]).dtype
    kernel = select.kernel("group_norm", dtype.value, op, fields)
    return [select.call(kernel, fields, [*args, TensorArg(op.outputs[0])])]


def _pixel_stride(tensor: Tensor) -> int:
    """The pixels of a channel are evenly spaced; dimensions of one element have no spacing."""
    steps = zip(strides(tensor)[2:], tensor.shape[2:], strict=True)
    return min((step for step, extent in steps if extent > 1), default=1)


@lowers(ops.FloatLayerNorm)
def _layer_norm(select: Selector, attrs: ops.FloatLayerNorm, op: Op) -> list[Call]:
    rows = select.tensor(op.inputs[0]).numel // attrs.size
    fields: dict[str, Field] = {"batches": rows, "groups": 1, "channels": attrs.size, "pixels": 1}
    for name in ("in", "out"):
        fields |= {
            f"{name}_batch_stride": attrs.size,
            f"{name}_channel_stride": 1,
            f"{name}_pixel_stride": 1,
        }
    return _norm_call(select, op, fields, attrs.epsilon)


@lowers(ops.FloatGroupNorm)
def _group_norm(select: Selector, attrs: ops.FloatGroupNorm, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    fields: dict[str, Field] = {
        "batches": x.shape[0],
        "groups": attrs.groups,
        "channels": x.shape[1] // attrs.groups,
        "pixels": math.prod(x.shape[2:]),
    }
    for name, tensor in (("in", x), ("out", out)):
        step = strides(tensor)
        fields |= {
            f"{name}_batch_stride": step[0],
            f"{name}_channel_stride": step[1],
            f"{name}_pixel_stride": _pixel_stride(tensor),
        }
    return _norm_call(select, op, fields, attrs.epsilon)


def _norm_call(select: Selector, op: Op, fields: dict[str, Field], epsilon: float) -> list[Call]:
    args = [select.operand(i) for i in op.inputs]
    kernel = select.kernel("group_norm", "f32", op, fields)
    return [select.call(kernel, fields | {"epsilon": epsilon}, [*args, TensorArg(op.outputs[0])])]
