# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, and the choice between two operands; portable."""

from __future__ import annotations

from ...ir import ops
from ...ir.types import DType
from ..call import Call, Table, register
from ..operands import scalar_operand

TABLE: Table = {}


def _compare(function: str) -> None:
    def tensors(call: Call) -> None:
        _emit_compare(call, function, call.tensor(0), call.tensor(1))

    def scalar(call: Call) -> None:
        x = call.tensor(0)
        _emit_compare(call, function, x, scalar_operand(call, 1, call.info(x).dtype))

    register(TABLE, f"aten::{function}.Tensor_out", args=2)(tensors)
    register(TABLE, f"aten::{function}.Scalar_out", args=2)(scalar)


def _emit_compare(call: Call, function: str, a: int, b: int) -> None:
    call.require_dtype(b, call.info(a).dtype)
    call.require_out(call.broadcast(a, b), DType.BOOL)
    call.emit(ops.Compare(function), a, b)


for _function in ops.COMPARISONS:
    _compare(_function)


def _logical(function: str) -> None:
    def convert(call: Call) -> None:
        a, b = call.tensor(0), call.tensor(1)
        call.require_dtype(a, DType.BOOL)
        call.require_dtype(b, DType.BOOL)
        call.require_out(call.broadcast(a, b), DType.BOOL)
        call.emit(ops.Logical(function), a, b)

    register(TABLE, f"aten::logical_{function}.out", args=2)(convert)
    register(TABLE, f"aten::bitwise_{function}.Tensor_out", args=2)(convert)


for _function in ops.LOGICAL_FUNCTIONS:
    _logical(_function)


def _not(call: Call) -> None:
    x = call.tensor(0)
    call.require_dtype(x, DType.BOOL)
    call.require_out(call.info(x).shape, DType.BOOL)
    call.emit(ops.LogicalNot(), x)


register(TABLE, "aten::logical_not.out", args=1)(_not)
register(TABLE, "aten::bitwise_not.out", args=1)(_not)


@register(TABLE, "aten::where.self_out", args=3)
def _where(call: Call) -> None:
    condition, a, b = (call.tensor(number) for number in range(3))
    call.require_dtype(condition, DType.BOOL)
    dtype = call.info(a).dtype
    call.require_dtype(b, dtype)
    call.require_out(call.broadcast(condition, a, b), dtype)
    call.emit(ops.Where(), condition, a, b)
