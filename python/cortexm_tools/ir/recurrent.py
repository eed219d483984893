# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of recurrent layers on numpy arrays, as docs/numerics.md states it.

Sums of products become preactivations, numbers in units of 2**-16 from -8 to 8, with one multiplier of
15 bits each. Their tanh is a parabola around each eighth, and a sigmoid is half a tanh of half the argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .fixed_point import I64
from .types import DType

UNIT_BITS = 16
"""Preactivations are in units of 2**-16 (of the argument of a tanh)."""

_LIMIT = 1 << 19
_SEGMENT_BITS = 13
_HALF = 1 << 12

GATE_SHIFTS = {DType.S8: (0, 15), DType.S16: (-15, 15)}
GATE_MULTIPLIER = OUT_MULTIPLIER = (0, 32767)
OUT_SHIFT = (1, 22)
H_SHIFT = (0, 15)
STATE_BITS = (0, 15)


def _parabolas() -> I64:
    """[129, 3]: value in Q31, with what rounds it to 15 bits, slope and curvature of tanh at the
    multiples of 1/8 from -8 to 8.

    Each is the parabola through tanh at the three Chebyshev nodes of the eighth around it. With f in
    [-4096, 4096) from there: value + slope * f + curvature * f**2 / 2**16.
    """
    width = 1 << _SEGMENT_BITS
    node = width / 2 * math.cos(math.pi / 6)
    table = []
    for at in range(-_LIMIT, _LIMIT + 1, width):
        low, value, high = (2**31 * math.tanh((at + f) / 2**UNIT_BITS) for f in (-node, 0, node))
        slope = (high - low) / (2 * node)
        curvature = (high + low - 2 * value) / (2 * node**2)
        table.append((round(value) + (1 << 15), round(slope), round(curvature * 2**UNIT_BITS)))
    values = np.array(table, np.int64)
    # Near 1 the codes would not fit.
    rest = np.arange(-width // 2, width // 2)
    start, slopes, curvatures = (column[:, None] for column in values.T)
    most = (start + _chord(slopes, curvatures, rest) * rest).max(axis=1)
    values[:, 0] -= np.maximum(most - (2**31 - 1), 0)
    return values


def _chord(slope: I64, curvature: I64, rest: I64) -> I64:
    """The upper half of a word of slope and curvature, plus a product."""
    result: I64 = ((slope << 16) + (curvature & 0xFFFF) + curvature * rest) >> 16
    return result


PARABOLAS = _parabolas()


def preactivation(acc: I64, multiplier: Sequence[int], shift: int) -> I64:
    """floor(acc * multiplier * 2**(shift - 16)), channels in the last dimension; not limited."""
    product = acc * np.array(multiplier, np.int64)
    return product << (shift - 16) if shift >= 16 else product >> (16 - shift)


def limited(x: I64) -> I64:
    """Preactivations between -8 and 8."""
    return np.clip(x, -_LIMIT, _LIMIT - 1)


def tanh(x: I64) -> I64:
    """tanh of limited preactivations in Q15: at most one code from the function rounded correctly."""
    rest = ((x + _HALF) & (2 * _HALF - 1)) - _HALF
    nearest = ((x - rest) >> _SEGMENT_BITS) + len(PARABOLAS) // 2
    value, slope, curvature = np.moveaxis(PARABOLAS[nearest], -1, 0)
    result: I64 = (value + _chord(slope, curvature, rest) * rest) >> 16
    return result


def sigmoid(x: I64) -> I64:
    """Sigmoid in Q15, 0 … 32767, of twice the limited preactivations."""
    return (tanh(x) + 32768) >> 1


def code_of(
    value: I64, multiplier: int, shift: int, zero_point: int, limits: tuple[int, int]
) -> I64:
    """Codes: floor((value * multiplier + 2**(shift - 1)) / 2**shift) + zero_point, saturated."""
    scaled = ((value * multiplier + (1 << (shift - 1))) >> shift) + zero_point
    return np.clip(scaled, *limits)


def gate_factors(factors: Sequence[float], dtype: DType) -> tuple[int, tuple[int, ...]]:
    """`gate_shift` and `gates` of a layer of these codes.

    Args:
        factors: for each row of its weights, what a sum is to be multiplied with: its scale times
            2**16, and times 2**15 where a sigmoid follows.
    """
    least, most = GATE_SHIFTS[dtype]
    largest = max(factors)
    shift = min(max(math.ceil(math.log2(largest)) + 1, least), most) if largest > 0 else least
    return shift, tuple(min(round(f * 2.0 ** (16 - shift)), 32767) for f in factors)


def out_factor(factor: float) -> tuple[int, int]:
    """The multiplier and the shift of `code_of` for a factor below 2**14."""
    shift = min(max(14 - math.floor(math.log2(factor)), OUT_SHIFT[0]), OUT_SHIFT[1])
    return min(round(factor * 2.0**shift), 32767), shift
