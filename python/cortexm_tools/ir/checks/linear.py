# SPDX-License-Identifier: Apache-2.0
"""Rules of matrix products, int8 and float32."""

from __future__ import annotations

from .. import ops
from ..types import DType
from .rules import INT8, MULTIPLIER, SHIFT, Subject, rule


@rule(ops.Linear)
def _linear(attrs: ops.Linear, op: Subject) -> None:
    op.counts(2, 3)
    for tensor in (op.x, op.ins[1], op.out):
        op.type_of(tensor, DType.S8)
    _rows(op, DType.S32)
    op.within(MULTIPLIER, multiplier=attrs.multiplier)
    op.within(SHIFT, shift=attrs.shift)
    op.within(
        INT8,
        in_zero_point=attrs.in_zero_point,
        weight_zero_point=attrs.weight_zero_point,
        out_zero_point=attrs.out_zero_point,
    )
    op.clamp(attrs.act_min, attrs.act_max)


@rule(ops.FloatLinear)
def _float_linear(attrs: ops.FloatLinear, op: Subject) -> None:
    op.counts(2, 3)
    op.types(DType.F32)
    _rows(op, DType.F32)


def _rows(op: Subject, bias: DType) -> None:
    """Rows of x times the rows of a matrix."""
    weight = op.ins[1]
    op.rank(weight, 2)
    op.require(op.x.shape[-1:] == weight.shape[1:], "the operand's rows differ from the weights'")
    op.shape_of(op.out, *op.x.shape[:-1], weight.shape[0])
    if len(op.ins) > 2:
        op.type_of(op.ins[2], bias)
        op.shape_of(op.ins[2], weight.shape[0])


@rule(ops.BatchMatmul)
def _batch_matmul(attrs: ops.BatchMatmul, op: Subject) -> None:
    op.counts(2)
    op.types(DType.S8)
    lhs, rhs = op.ins
    for tensor in op.ins:
        op.rank(tensor, 3)
    fits = lhs.shape[0] == rhs.shape[0] and lhs.shape[2] == rhs.shape[2]
    op.require(fits, f"operands {lhs.shape} and {rhs.shape} (transposed) do not fit")
    op.shape_of(op.out, *lhs.shape[:2], rhs.shape[1])
    op.within(MULTIPLIER, multiplier=attrs.multiplier)
    op.within(SHIFT, shift=attrs.shift)
    op.within(
        INT8,
        lhs_zero_point=attrs.lhs_zero_point,
        rhs_zero_point=attrs.rhs_zero_point,
        out_zero_point=attrs.out_zero_point,
    )


@rule(ops.FloatMatmul)
def _float_matmul(attrs: ops.FloatMatmul, op: Subject) -> None:
    op.counts(2, 3)
    op.types(DType.F32)
    a, b = op.ins[0].shape, op.ins[1].shape
    op.require(len(a) == len(b) >= 2, "operands must be matrices of one rank")
    op.require(a[:-2] == b[:-2] and a[-1] == b[-2], f"operands {a} and {b} do not fit")
    op.shape_of(op.out, *a[:-1], b[-1])
    if len(op.ins) > 2:
        op.broadcasts_to(op.ins[2], op.out.shape)
