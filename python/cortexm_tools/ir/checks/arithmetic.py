# SPDX-License-Identifier: Apache-2.0
"""Rules of arithmetic on two operands, on codes and on numbers."""

from __future__ import annotations

from .. import ops
from ..types import DType
from .rules import INT8, INT16, MULTIPLIER, SHIFT, SIGNED_MULTIPLIER, Subject, rule


def _two(op: Subject, *dtypes: DType) -> None:
    """Two operands of one type that broadcast to the result."""
    op.counts(2)
    op.types(*dtypes)
    op.shape_of(op.out, *op.broadcast(*op.ins))


@rule(ops.Add)
def _add(attrs: ops.Add, op: Subject) -> None:
    _two(op, DType.S8)
    op.within(
        INT8,
        a_zero_point=attrs.a_zero_point,
        b_zero_point=attrs.b_zero_point,
        out_zero_point=attrs.out_zero_point,
    )
    # A difference is a sum with a negative factor.
    op.within(SIGNED_MULTIPLIER, a_multiplier=attrs.a_multiplier, b_multiplier=attrs.b_multiplier)
    op.within(MULTIPLIER, out_multiplier=attrs.out_multiplier)
    op.within(SHIFT, a_shift=attrs.a_shift, b_shift=attrs.b_shift, out_shift=attrs.out_shift)
    op.clamp(attrs.act_min, attrs.act_max)


@rule(ops.Mul)
def _mul(attrs: ops.Mul, op: Subject) -> None:
    _two(op, DType.S8)
    # ExecuTorch gives an operand of few values a zero point beyond the codes.
    op.within(INT16, a_zero_point=attrs.a_zero_point, b_zero_point=attrs.b_zero_point)
    op.within(INT8, out_zero_point=attrs.out_zero_point)
    op.within(MULTIPLIER, multiplier=attrs.multiplier)
    op.within(SHIFT, shift=attrs.shift)


@rule(ops.Div)
def _div(attrs: ops.Div, op: Subject) -> None:
    _two(op, DType.S8, DType.S16)
    op.require(op.ins[0].shape == op.ins[1].shape, "the operands must have one shape")
    op.within(
        op.out.dtype.limits,
        a_zero_point=attrs.a_zero_point,
        b_zero_point=attrs.b_zero_point,
        out_zero_point=attrs.out_zero_point,
    )
    op.positive(scale=attrs.scale)


@rule(ops.Minimum, ops.Maximum)
def _extremum(attrs: ops.Minimum | ops.Maximum, op: Subject) -> None:
    _two(op, *DType)


@rule(ops.Binary)
def _binary(attrs: ops.Binary, op: Subject) -> None:
    op.one_of(attrs.function, ops.BINARY_FUNCTIONS)
    integers = attrs.function in ops.INTEGER_FUNCTIONS
    _two(op, DType.F32, *((DType.S32, DType.S64) if integers else ()))
    if op.out.dtype is not DType.F32 and attrs.function in ops.INTEGER_DIVISIONS:
        divisor = op.ins[1].data
        op.require(divisor is not None, "integers are divided by a constant only")
        op.require(divisor is not None and bool(divisor.all()), "division by zero")
