# SPDX-License-Identifier: Apache-2.0
"""Comparisons, selections and logic; operands broadcast by strides and need no copy."""

from __future__ import annotations

import numpy as np

from ...ir import DType, Op, ops
from ..types import Arg, Call, TensorArg
from .boxes import box_fields
from .broadcast import broadcast_fields
from .context import Selector, lowers

# a > b is b < a.
_SWAPPED = {"gt": "lt", "ge": "le"}


def _types(dtype: DType) -> str:
    """The kernel's element type: a bool is a byte of 0 or 1."""
    return DType.U8.value if dtype is DType.BOOL else dtype.value


def _compare_call(select: Selector, op: Op, function: str, a: int, b: int) -> Call:
    fields = broadcast_fields(select, op, {"a": a, "b": b})
    kernel = select.kernel(f"compare_{function}", _types(select.tensor(a).dtype), op)
    args = [select.operand(a), select.operand(b), TensorArg(op.outputs[0])]
    return select.call(kernel, fields, args)


def _where_call(select: Selector, op: Op, condition: int, a: int, b: int) -> Call:
    fields = broadcast_fields(select, op, {"condition": condition, "a": a, "b": b})
    size = select.tensor(op.outputs[0]).dtype.size
    args: list[Arg] = [select.operand(index) for index in (condition, a, b)]
    kernel = select.kernel("where", f"x{8 * size}", op)
    return select.call(kernel, fields, [*args, TensorArg(op.outputs[0])])


@lowers(ops.Compare)
def _compare(select: Selector, attrs: ops.Compare, op: Op) -> list[Call]:
    a, b = op.inputs
    if attrs.function in _SWAPPED:
        return [_compare_call(select, op, _SWAPPED[attrs.function], b, a)]
    return [_compare_call(select, op, attrs.function, a, b)]


@lowers(ops.Where)
def _where(select: Selector, attrs: ops.Where, op: Op) -> list[Call]:
    condition, a, b = op.inputs
    return [_where_call(select, op, condition, a, b)]


@lowers(ops.Logical)
def _logical(select: Selector, attrs: ops.Logical, op: Op) -> list[Call]:
    """a and b is b where a holds, else a; a or b the other way round; xor is inequality."""
    a, b = op.inputs
    if attrs.function == "xor":
        return [_compare_call(select, op, "ne", a, b)]
    if attrs.function == "and":
        return [_where_call(select, op, a, b, a)]
    return [_where_call(select, op, a, a, b)]


@lowers(ops.LogicalNot)
def _logical_not(select: Selector, attrs: ops.LogicalNot, op: Op) -> list[Call]:
    """Equal to false. Operand and result lie in one memory order (see assign_layouts)."""
    count = select.tensor(op.outputs[0]).numel
    fields = box_fields(op, (count,), {"a_stride": (1,), "b_stride": (0,)})
    args: list[Arg] = [
        select.operand(op.inputs[0]),
        select.constant("false_value", np.zeros(1, np.bool_), needed=0),
        TensorArg(op.outputs[0]),
    ]
    return [select.call(select.kernel("compare_eq", "u8", op), fields, args)]
