# SPDX-License-Identifier: Apache-2.0
"""Images in another size."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...ir import DType, Op, channels_last, contiguous, ops, same_layout
from ...ir.ops.resample import code_weights
from ..budget import check_table
from ..types import Arg, Call, Field, TensorArg
from .boxes import box_fields, strides
from .context import Selector, lowers
from .copies import copy_call


@lowers(ops.UpsampleNearest2d)
def _nearest(select: Selector, attrs: ops.UpsampleNearest2d, op: Op) -> list[Call]:
    """A whole factor is one copy; anything else picks elements by offsets known at build time."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    batch, channels, height, width = x.shape
    own, result = strides(x), strides(out)
    if _whole_factor(attrs.rows, height) and _whole_factor(attrs.cols, width):
        up, across = len(attrs.rows) // height, len(attrs.cols) // width
        dims = (batch, channels, height, up, width, across)
        from_strides = (own[0], own[1], own[2], 0, own[3], 0)
        to = (result[0], result[1], up * result[2], result[2], across * result[3], result[3])
        return [copy_call(select, op, op.inputs[0], op.outputs[0], dims, from_strides, to)]
    check_table(op, (len(attrs.rows), len(attrs.cols)), "the places of the nearest pixels")
    rows, cols = np.array(attrs.rows), np.array(attrs.cols)
    table = (rows[:, None] * own[2] + cols * own[3]).astype(np.int32)
    offsets = select.constant(f"{x.name}_offsets", table, "offsets of the nearest pixels", needed=0)
    order = out.dim_order
    tables = {
        "offset_stride": [(0, 0, len(cols), 1)[d] for d in order],
        "in_stride": [(own[0], own[1], 0, 0)[d] for d in order],
    }
    fields = box_fields(op, out.memory_shape, tables)
    args: list[Arg] = [select.operand(op.inputs[0]), offsets, TensorArg(op.outputs[0])]
    return [select.call(select.kernel("gather", f"x{8 * x.dtype.size}", op), fields, args)]


def _whole_factor(places: tuple[int, ...], size: int) -> bool:
    factor, rest = divmod(len(places), size)
    return rest == 0 and all(place == i // factor for i, place in enumerate(places))


@lowers(ops.UpsampleBilinear2d)
def _bilinear(select: Selector, attrs: ops.UpsampleBilinear2d, op: Op) -> list[Call]:
    """Operand and result are both in C order, or both channels_last (see assign_layouts); their dim orders
    may say it in another way where dimensions have one element."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    batch, channels = x.shape[:2]
    plain = all(same_layout(t.shape, t.dim_order, contiguous(4)) for t in (x, out))
    order = contiguous(4) if plain else channels_last(4)
    *_, per_row, inner = strides(replace(x, dim_order=order))
    planes = batch if inner == channels and inner != 1 else batch * channels
    fields: dict[str, Field] = {}
    for axis, places in (("row", attrs.rows), ("col", attrs.cols)):
        step = per_row if axis == "row" else inner
        for end in ("low", "high"):
            table = np.array([getattr(place, end) * step for place in places], np.int32)
            fields[f"{axis}_{end}"] = select.constant(
                f"{x.name}_{axis}_{end}", table, needed=0
            ).name
        weights = (
            np.array([place.weight for place in places], np.float32)
            if x.dtype is DType.F32
            else code_weights(places).astype(np.int16)
        )
        fields[f"{axis}_weight"] = select.constant(
            f"{x.name}_{axis}_weight", weights, needed=0
        ).name
    fields |= {
        "planes": planes,
        "plane_stride": math.prod(x.shape) // planes,
        "out_h": out.shape[2],
        "out_w": out.shape[3],
        "inner": inner,
    }
    if x.dtype is not DType.F32:
        fields |= {"zero_point": attrs.zero_point, "away": int(attrs.away)}
    args: list[Arg] = [select.operand(op.inputs[0]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel("bilinear", x.dtype.value, op, fields), fields, args)]
