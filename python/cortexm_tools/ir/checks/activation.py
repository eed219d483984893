# SPDX-License-Identifier: Apache-2.0
"""Rules of activations: tables, softmax, functions of one operand, bounds."""

from __future__ import annotations

import math

from .. import ops
from ..types import DType
from .rules import INT32, MULTIPLIER, NUMBERS, Subject, rule

# A sum of as many exponentials in Q19 fits in 32 bits: kernels/src/activation.
_SOFTMAX_SIZE = 2**13 - 1


@rule(ops.Activation)
def _activation(attrs: ops.Activation, op: Subject) -> None:
    op.counts(2)
    op.types(DType.S8)
    op.require(op.ins[1].numel == 256, "the table must have 256 entries")
    op.same_shape()


@rule(ops.Softmax)
def _softmax(attrs: ops.Softmax, op: Subject) -> None:
    op.counts(1)
    op.types(DType.S8)
    op.same_shape()
    op.dimension(attrs.dim, len(op.x.shape))
    op.require(
        op.x.shape[attrs.dim] <= _SOFTMAX_SIZE,
        f"goes over {op.x.shape[attrs.dim]} elements, at most {_SOFTMAX_SIZE} are exact in int8",
    )
    op.within(MULTIPLIER, multiplier=attrs.multiplier)
    op.within((0, 31), shift=attrs.shift)
    # The largest element has the difference 0, and with it a part in the sum: it is not 0.
    op.within((INT32[0], 0), diff_min=attrs.diff_min)
    least = max(attrs.diff_min, -255) * 2**attrs.shift
    op.require(
        least >= INT32[0],
        f"differences of {max(attrs.diff_min, -255)} shifted by {attrs.shift} exceed 32 bits",
    )


@rule(ops.FloatSoftmax)
def _float_softmax(attrs: ops.FloatSoftmax, op: Subject) -> None:
    op.counts(1)
    op.types(DType.F32)
    op.same_shape()
    op.dimension(attrs.dim, max(len(op.x.shape), 1))


@rule(ops.Unary)
def _unary(attrs: ops.Unary, op: Subject) -> None:
    op.counts(1)
    op.types(DType.F32)
    op.same_shape()
    op.one_of(attrs.function, ops.UNARY_FUNCTIONS)
    op.real(alpha=attrs.alpha, scale=attrs.scale, input_scale=attrs.input_scale)


@rule(ops.Clamp)
def _clamp(attrs: ops.Clamp, op: Subject) -> None:
    op.counts(1)
    op.types(*NUMBERS)
    op.same_shape()
    for name, bound in (("low", attrs.low), ("high", attrs.high)):
        if bound is None:
            continue
        if op.x.dtype is DType.F32:
            if not math.isinf(bound):
                op.real(**{name: bound})
        else:
            op.require(float(bound).is_integer(), f"{name} is {bound}, must be an integer")
            op.within(op.x.dtype.limits, **{name: int(bound)})
    if attrs.low is not None and attrs.high is not None:
        op.require(attrs.low <= attrs.high, f"the range [{attrs.low}, {attrs.high}] is empty")
