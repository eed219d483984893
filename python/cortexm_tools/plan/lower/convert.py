# SPDX-License-Identifier: Apache-2.0
"""Conversions from one element type to another."""

from __future__ import annotations

import math

import numpy as np

from ...ir import DType, Op, ops
from ..kernels.params import rescale_fields
from ..types import Call, Field, TensorArg
from .boxes import box_fields
from .context import Selector, lowers


@lowers(ops.Quantize)
def _quantize(select: Selector, attrs: ops.Quantize, op: Op) -> list[Call]:
    out = select.tensor(op.outputs[0])
    fields: dict[str, Field] = {
        "count": out.numel,
        "inv_scale": float(np.float32(1.0 / attrs.scale)),
        "zero_point": attrs.zero_point,
        "qmin": attrs.qmin,
        "qmax": attrs.qmax,
    }
    types = DType.F32.value + out.dtype.value
    args = [select.operand(op.inputs[0]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel("quantize", types, op, fields), fields, list(args))]


@lowers(ops.Dequantize)
def _dequantize(select: Selector, attrs: ops.Dequantize, op: Op) -> list[Call]:
    x = select.tensor(op.inputs[0])
    fields: dict[str, Field] = {
        "count": x.numel,
        "scale": float(np.float32(attrs.scale)),
        "zero_point": attrs.zero_point,
    }
    types = x.dtype.value + DType.F32.value
    args = [select.operand(op.inputs[0]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel("dequantize", types, op, fields), fields, list(args))]


@lowers(ops.Requantize)
def _requantize(select: Selector, attrs: ops.Requantize, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    fields: dict[str, Field] = {
        "count": out.numel,
        **rescale_fields(attrs.rescale),
        "in_zero_point": attrs.in_zero_point,
        "out_zero_point": attrs.out_zero_point,
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
    }
    kernel = select.kernel("requantize", x.dtype.value + out.dtype.value, op, fields)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.Lookup)
def _lookup(select: Selector, attrs: ops.Lookup, op: Op) -> list[Call]:
    """One table that gives every byte's code in its order, -128 ... 127, is a subtraction."""
    out, table = select.tensor(op.outputs[0]), select.tensor(op.inputs[1])
    operand, result = select.operand(op.inputs[0]), TensorArg(op.outputs[0])
    fields: dict[str, Field] = {"count": out.numel}
    assert table.data is not None
    if out.dtype is DType.S8 and np.array_equal(table.data, np.arange(-128, 128)[None]):
        return [select.call(select.kernel("center", "u8s8", op), fields, [operand, result])]
    channels = table.shape[0]
    place = out.dim_order.index(attrs.dim) if channels > 1 else 0
    inner = math.prod(out.memory_shape[place + 1 :]) if channels > 1 else 1
    fields |= {"channels": channels, "inner": inner}
    kernel = select.kernel("lookup", DType.U8.value + out.dtype.value, op, fields)
    return [select.call(kernel, fields, [operand, select.operand(op.inputs[1]), result])]


@lowers(ops.Cast)
def _cast(select: Selector, attrs: ops.Cast, op: Op) -> list[Call]:
    """Operand and result lie in one memory order (see assign_layouts).

    To bool is a comparison with 0. An integer that becomes no wider is a copy of its low bytes
    (memory is little-endian): the result wraps, whether it has a sign or not.
    """
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    count = out.numel
    operand, result = select.operand(op.inputs[0]), TensorArg(op.outputs[0])
    source = DType.U8 if x.dtype is DType.BOOL else x.dtype
    if out.dtype is DType.BOOL and x.dtype is not DType.BOOL:
        zero = select.constant(f"zero_{source.value}", np.zeros(1, x.dtype.numpy), needed=0)
        against = box_fields(op, (count,), {"a_stride": (1,), "b_stride": (0,)})
        kernel = select.kernel("compare_ne", source.value, op)
        return [select.call(kernel, against, [operand, zero, result])]
    floats = DType.F32 in (x.dtype, out.dtype)
    if x.dtype is out.dtype or (not floats and out.dtype.size <= x.dtype.size):
        ratio = x.dtype.size // out.dtype.size
        fields: dict[str, Field] = {
            "rank": 1, "dims": (count,), "in_stride": (ratio,), "out_stride": (1,),
        }  # fmt: skip
        kernel = select.kernel("copy", f"x{8 * out.dtype.size}", op)
        return [select.call(kernel, fields, [operand, result])]
    kernel = select.kernel("cast", source.value + out.dtype.value, op)
    return [select.call(kernel, {"count": count}, [operand, result])]
