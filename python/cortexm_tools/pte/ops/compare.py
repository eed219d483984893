# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, and the choice between two operands; portable."""

from __future__ import annotations

from ...ir import ops
from ...ir.types import DType
from ..call import Call, reads
from ..operands import scalar_operand


def _compare(function: str) -> None:
    def tensors(call: Call) -> None:
        _emit_compare(call, function, call.tensor("self"), call.tensor("other"))

    def scalar(call: Call) -> None:
        x = call.tensor("self")
        _emit_compare(call, function, x, scalar_operand(call, "other", call.info(x).dtype))

    reads(f"aten::{function}.Tensor_out")(tensors)
    reads(f"aten::{function}.Scalar_out")(scalar)


def _emit_compare(call: Call, function: str, a: int, b: int) -> None:
    call.require_dtype(b, call.info(a).dtype)
    call.require_out(call.broadcast(a, b), DType.BOOL)
    call.emit(ops.Compare(function), a, b)


for _function in ops.COMPARISONS:
    _compare(_function)


def _logical(function: str) -> None:
    def convert(call: Call) -> None:
        a, b = call.tensor("self"), call.tensor("other")
        call.require_dtype(a, DType.BOOL)
        call.require_dtype(b, DType.BOOL)
        call.require_out(call.broadcast(a, b), DType.BOOL)
        call.emit(ops.Logical(function), a, b)

    reads(f"aten::logical_{function}.out", f"aten::bitwise_{function}.Tensor_out")(convert)


for _function in ops.LOGICAL_FUNCTIONS:
    _logical(_function)


@reads("aten::logical_not.out", "aten::bitwise_not.out")
def _not(call: Call) -> None:
    x = call.tensor("self")
    call.require_dtype(x, DType.BOOL)
    call.require_out(call.info(x).shape, DType.BOOL)
    call.emit(ops.LogicalNot(), x)


@reads("aten::where.self_out")
def _where(call: Call) -> None:
    condition, a, b = (call.tensor(name) for name in ("condition", "self", "other"))
    call.require_dtype(condition, DType.BOOL)
    dtype = call.info(a).dtype
    call.require_dtype(b, dtype)
    call.require_out(call.broadcast(condition, a, b), dtype)
    call.emit(ops.Where(), condition, a, b)
