# SPDX-License-Identifier: Apache-2.0
"""Element by element: add, mul, div, minimum, maximum, activation, softmax, quantize, dequantize."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import CortexMError
from ...ir import DType, Op, ops
from ..types import Call, Field, TensorArg
from .context import Selector, lowers
from .floats import broadcast_call


def _periods(select: Selector, op: Op) -> dict[str, Field]:
    count = select.tensor(op.outputs[0]).numel
    a, b = (select.tensor(i).numel for i in op.inputs)
    return {"count": count, "a_period": a, "b_period": b}


def _binary(select: Selector, op: Op, fields: dict[str, Field], types: str) -> list[Call]:
    args = [select.operand(op.inputs[0]), select.operand(op.inputs[1]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel(op.kind, types, op, fields), fields, args)]


def _scalars(attrs: Any) -> dict[str, Field]:
    return dict(vars(attrs))


@lowers(ops.Add, ops.Mul)
def _add_mul(select: Selector, attrs: ops.Add | ops.Mul, op: Op) -> list[Call]:
    return _binary(select, op, _periods(select, op) | _scalars(attrs), "s8")


@lowers(ops.Minimum, ops.Maximum)
def _minmax(select: Selector, attrs: ops.Minimum | ops.Maximum, op: Op) -> list[Call]:
    dtype = select.tensor(op.outputs[0]).dtype
    if dtype in (DType.F32, DType.S32, DType.S64):
        return broadcast_call(select, op, op.kind)
    return _binary(select, op, _periods(select, op), dtype.value)


@lowers(ops.Div)
def _div(select: Selector, attrs: ops.Div, op: Op) -> list[Call]:
    out = select.tensor(op.outputs[0])
    if any(select.tensor(i).shape != out.shape for i in op.inputs):
        raise CortexMError("div: operands must have one shape", where=str(op.layer))
    return _binary(select, op, {"count": out.numel} | _scalars(attrs), out.dtype.value)


@lowers(ops.Activation)
def _activation(select: Selector, attrs: ops.Activation, op: Op) -> list[Call]:
    args = [select.operand(op.inputs[0]), select.operand(op.inputs[1]), TensorArg(op.outputs[0])]
    fields: dict[str, Field] = {"count": select.tensor(op.outputs[0]).numel}
    return [select.call(select.kernel("activation", "s8", op), fields, args)]


@lowers(ops.Softmax)
def _softmax(select: Selector, attrs: ops.Softmax, op: Op) -> list[Call]:
    x = select.tensor(op.inputs[0])
    place = x.dim_order.index(attrs.dim)
    fields: dict[str, Field] = {
        "outer": math.prod(x.memory_shape[:place]),
        "size": x.shape[attrs.dim],
        "inner": math.prod(x.memory_shape[place + 1 :]),
        "multiplier": attrs.multiplier,
        "shift": attrs.shift,
        "diff_min": attrs.diff_min,
    }
    args = [select.operand(op.inputs[0]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel("softmax", "s8", op, fields), fields, list(args))]


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
