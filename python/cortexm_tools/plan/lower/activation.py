# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand, element by element; softmax; bounds."""

from __future__ import annotations

import math

import numpy as np

from ...ir import Array, DType, Op, Tensor, ops
from ...ir.fixed_point import lowest_difference, softmax_table
from ...ir.wide import EXPONENTIALS, RECIPROCALS, SIGMOIDS
from ..kernels.params import rescale_fields
from ..types import Arg, Call, Field, TensorArg
from .context import Selector, lowers


@lowers(ops.Activation)
def _activation(select: Selector, attrs: ops.Activation, op: Op) -> list[Call]:
    args = [select.operand(op.inputs[0]), select.operand(op.inputs[1]), TensorArg(op.outputs[0])]
    out = select.tensor(op.outputs[0])
    fields: dict[str, Field] = {"count": out.numel}
    facts: dict[str, int] = {}
    if out.dtype is DType.S16:
        table = select.tensor(op.inputs[1])
        fields["bits"] = bits_of(table)
        facts["largest_step"] = largest_step(table)
    return [select.call(select.kernel("activation", out.dtype.value, op, facts), fields, args)]


def bits_of(table: Tensor) -> int:
    """Of an int16 code, those behind the number of its entry."""
    return (2**16 // (table.numel - 1)).bit_length() - 1


def largest_step(table: Tensor) -> int:
    """How far entries of a table are from the next one at most; as far as there is, if they are not known."""
    if table.data is None:
        return 2**16 - 1
    return int(np.abs(np.diff(table.data.reshape(-1).astype(np.int64))).max())


def _column_fields(select: Selector, op: Op, dim: int) -> dict[str, Field]:
    """How the columns along a dimension lie."""
    x = select.tensor(op.inputs[0])
    place = x.dim_order.index(dim)
    return {
        "outer": math.prod(x.memory_shape[:place]),
        "size": x.shape[dim],
        "inner": math.prod(x.memory_shape[place + 1 :]),
    }


@lowers(ops.Softmax)
def _softmax(select: Selector, attrs: ops.Softmax, op: Op) -> list[Call]:
    fields = _column_fields(select, op, attrs.dim) | {
        **rescale_fields(attrs.rescale),
        "diff_min": max(attrs.diff_min, lowest_difference(attrs.rescale)),
    }
    args: list[Arg] = [select.operand(op.inputs[0]), TensorArg(op.outputs[0])]
    kernel = select.kernel("softmax", "s8", op, fields)
    if kernel.op != "softmax":
        table = softmax_table(attrs.rescale, attrs.diff_min)
        args.insert(1, select.constant("exponentials", table, "of differences of codes", needed=0))
    return [select.call(kernel, fields, args)]


@lowers(ops.WideSoftmax)
def _wide_softmax(select: Selector, attrs: ops.WideSoftmax, op: Op) -> list[Call]:
    fields = _column_fields(select, op, attrs.dim) | {"multiplier": attrs.multiplier}
    kernel = select.kernel("softmax", "s16", op, fields)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.InterpolatedSoftmax)
def _interpolated_softmax(select: Selector, attrs: ops.InterpolatedSoftmax, op: Op) -> list[Call]:
    fields = _column_fields(select, op, attrs.dim) | rescale_fields(attrs.rescale)
    tables = np.concatenate([EXPONENTIALS, RECIPROCALS]).astype(np.int16)
    return [_by_table(select, op, "softmax_interpolated", fields, tables)]


@lowers(ops.WideSigmoid)
def _wide_sigmoid(select: Selector, attrs: ops.WideSigmoid, op: Op) -> list[Call]:
    fields: dict[str, Field] = {
        "count": select.tensor(op.outputs[0]).numel,
        "multiplier": attrs.multiplier,
        "shift": attrs.shift,
        "is_tanh": int(attrs.is_tanh),
    }
    return [_by_table(select, op, "sigmoid", fields, SIGMOIDS.astype(np.int16))]


def _by_table(
    select: Selector, op: Op, kernel: str, fields: dict[str, Field], table: Array
) -> Call:
    """A call of a kernel of int16 codes with a table that is always the same."""
    constant = select.constant(kernel, table, "tables", needed=0)
    args: list[Arg] = [select.operand(op.inputs[0]), constant, TensorArg(op.outputs[0])]
    return select.call(select.kernel(kernel, "s16", op, fields), fields, args)


@lowers(ops.FloatSoftmax)
def _float_softmax(select: Selector, attrs: ops.FloatSoftmax, op: Op) -> list[Call]:
    x = select.tensor(op.inputs[0])
    single: dict[str, Field] = {"outer": 1, "size": 1, "inner": 1}
    fields = _column_fields(select, op, attrs.dim) if x.shape else single
    kernel = select.kernel("log_softmax" if attrs.log else "softmax", "f32", op)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.Unary)
def _unary(select: Selector, attrs: ops.Unary, op: Op) -> list[Call]:
    fields: dict[str, Field] = {
        "count": select.tensor(op.outputs[0]).numel,
        "alpha": attrs.alpha,
        "scale": attrs.scale,
        "input_scale": attrs.input_scale,
    }
    kernel = select.kernel(attrs.function, "f32", op, fields)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.Clamp)
def _clamp(select: Selector, attrs: ops.Clamp, op: Op) -> list[Call]:
    out = select.tensor(op.outputs[0])
    low, high = attrs.low, attrs.high
    fields: dict[str, Field] = {"count": out.numel}
    if out.dtype is DType.F32:
        fields["low"] = -math.inf if low is None else float(low)
        fields["high"] = math.inf if high is None else float(high)
    else:
        lowest, highest = out.dtype.limits
        fields["low"] = lowest if low is None else int(low)
        fields["high"] = highest if high is None else int(high)
    kernel = select.kernel("clamp", out.dtype.value, op, fields)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]
