# SPDX-License-Identifier: Apache-2.0
"""Rules of pools, int8 and float32."""

from __future__ import annotations

import math

from .. import ops
from ..types import DType
from .rules import INT32, Subject, rule
from .windows import Geometry, check_extents, check_kernel, check_pixels


def _pool(attrs: Geometry, kernel: tuple[int, int], op: Subject, dtype: DType) -> None:
    op.counts(1)
    op.types(dtype)
    for tensor in (op.x, op.out):
        op.rank(tensor, 4)
    op.require(op.x.shape[:2] == op.out.shape[:2], "batch or channels differ")
    check_kernel(attrs, kernel, op)
    check_extents(attrs, kernel, op)
    check_pixels(attrs, kernel, op)


@rule(ops.AvgPool2d)
def _avg_pool2d(attrs: ops.AvgPool2d, op: Subject) -> None:
    _pool(attrs, attrs.kernel, op, DType.S8)
    pixels = math.prod(map(min, attrs.kernel, op.x.shape[2:]))
    # A sum of codes, with half the divisor for the rounding.
    largest = 128 * pixels + pixels // 2
    op.require(largest <= INT32[1], f"the sum of {pixels} codes does not fit in 32 bits")


@rule(ops.MaxPool2d)
def _max_pool2d(attrs: ops.MaxPool2d, op: Subject) -> None:
    _pool(attrs, attrs.kernel, op, DType.S8)
    op.clamp(attrs.act_min, attrs.act_max)


@rule(ops.FloatMaxPool2d)
def _float_max_pool2d(attrs: ops.FloatMaxPool2d, op: Subject) -> None:
    _pool(attrs, attrs.kernel, op, DType.F32)


@rule(ops.FloatAvgPool2d)
def _float_avg_pool2d(attrs: ops.FloatAvgPool2d, op: Subject) -> None:
    _pool(attrs, attrs.kernel, op, DType.F32)
    op.require(len(attrs.declared_padding) == 2, "the declared padding is a pair")
    op.within((0, 2**15), declared_padding=attrs.declared_padding)
    if attrs.divisor is not None:
        op.within((1, INT32[1]), divisor=attrs.divisor)
