# SPDX-License-Identifier: Apache-2.0
"""Rules of conversions between element types."""

from __future__ import annotations

import numpy as np

from .. import ops
from ..types import DType
from .rules import Subject, rule

_CODES = (DType.S8, DType.S16)


@rule(ops.Quantize)
def _quantize(attrs: ops.Quantize, op: Subject) -> None:
    op.counts(1)
    op.type_of(op.x, DType.F32)
    op.type_of(op.out, *_CODES)
    op.same_shape()
    op.positive(scale=attrs.scale)
    # What the kernels multiply by.
    inverse = 1.0 / attrs.scale
    op.require(
        inverse <= float(np.finfo(np.float32).max),
        f"the scale {attrs.scale} is too small: its inverse is not a float32",
    )
    limits = op.out.dtype.limits
    op.within(limits, zero_point=attrs.zero_point, qmin=attrs.qmin, qmax=attrs.qmax)
    op.require(attrs.qmin <= attrs.qmax, f"the codes [{attrs.qmin}, {attrs.qmax}] are empty")


@rule(ops.Dequantize)
def _dequantize(attrs: ops.Dequantize, op: Subject) -> None:
    op.counts(1)
    op.type_of(op.x, *_CODES)
    op.type_of(op.out, DType.F32)
    op.same_shape()
    op.positive(scale=attrs.scale)
    op.within(op.x.dtype.limits, zero_point=attrs.zero_point)


@rule(ops.Cast)
def _cast(attrs: ops.Cast, op: Subject) -> None:
    op.counts(1)
    op.same_shape()
