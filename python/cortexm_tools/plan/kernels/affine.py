# SPDX-License-Identifier: Apache-2.0
"""Additions of int8 codes as a function of the codes.

A code of the sum, ``requantize(requantize((a - za) 2^20) + requantize((b - zb) 2^20)) + zo``, is

    floor((a * a_factor + b * b_factor + constant) / 2^21)

for most additions, with factors that are the ratios of the scales, and saturates: the roundings of the
operands move a sum by some 2^-20 of a code. Whether that changes any code is tried with all 65,536 pairs of
codes. With 2^22 it is so for still more of those whose sums are not too large.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from ...ir import Tensor, ops
from ...ir.fixed_point import I64

_REACH = 6
"""How far from the ratios of the scales factors are searched, in their last place."""

_CODES: I64 = np.arange(-128, 128, dtype=np.int64)


@dataclass(frozen=True)
class Affine:
    """The factors and the constant.

    Attributes:
        FRACTION: bits of a sum below those of its code.
    """

    FRACTION: ClassVar[int] = 21

    a_factor: int
    b_factor: int
    constant: int

    def sums(self) -> I64:
        """Of all pairs of codes [256, 256], those of b side by side."""
        return _CODES[:, None] * self.a_factor + _CODES * self.b_factor + self.constant

    @property
    def fits(self) -> bool:
        """Whether no sum of codes overflows 32 bits, nor one less half of a code, and factors have 24."""
        sums = self.sums()
        is_sum = sums.min() >= -(2**31) + 2 ** (self.FRACTION - 1) and sums.max() < 2**31
        return bool(is_sum and max(abs(self.a_factor), abs(self.b_factor)) < 2**23)

    def codes(self) -> I64:
        """What the kernels compute of all pairs of codes [256, 256]."""
        return np.clip(self.sums() >> self.FRACTION, -128, 127)


class FineAffine(Affine):
    """One of more bits."""

    FRACTION = 22


def codes_of(add: ops.Add, result: Tensor) -> I64:
    """The sums of all pairs of codes [256, 256], as the operator has them."""
    return np.asarray(add.compute((result,), _CODES[:, None], _CODES), np.int64)


def affine_of(add: ops.Add, result: Tensor, kind: type[Affine] = Affine) -> Affine | None:
    """Such a function; None if there is none, or a clamp."""
    if (add.act_min, add.act_max) != (-128, 127):
        return None
    return _search(add, result, kind)


def _search(add: ops.Add, result: Tensor, kind: type[Affine]) -> Affine | None:
    codes = codes_of(add, result)
    # A saturated code bounds its sum on one side only.
    least = np.where(codes == -128, -(2**40), codes << kind.FRACTION)
    beyond = np.where(codes == 127, 2**40, (codes + 1) << kind.FRACTION)
    raised = 2 ** (20 + kind.FRACTION) * add.out_rescale.factor
    near = [round(rescale.factor * raised) for rescale in (add.a_rescale, add.b_rescale)]
    for a_more, b_more in _offsets():
        a_factor, b_factor = near[0] + a_more, near[1] + b_more
        products = _CODES[:, None] * a_factor + _CODES * b_factor
        low, high = int((least - products).max()), int((beyond - products).min())
        if low >= high:
            continue
        found = kind(a_factor, b_factor, (low + high) // 2)
        return found if found.fits else None
    return None


@cache
def _offsets() -> tuple[tuple[int, int], ...]:
    """The nearest first."""
    reach = range(-_REACH, _REACH + 1)
    return tuple(
        sorted(((a, b) for a in reach for b in reach), key=lambda o: abs(o[0]) + abs(o[1]))
    )
