# SPDX-License-Identifier: Apache-2.0
"""CMSIS-NN's fixed-point arithmetic on numpy arrays, as docs/numerics.md states it.

All functions take and return int64 arrays that hold int32 values; what an int32 register would wrap,
these wrap too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

_MAX32 = 2**31 - 1
_MIN32 = -(2**31)


def wrap32(value: I64) -> I64:
    """Two's complement wrap to 32 bits."""
    return value.astype(np.int32).astype(np.int64)


def high_mul(a: I64, b: I64 | int) -> I64:
    """Saturating rounding doubling high multiply: floor((a * b + 2**30) / 2**31)."""
    return np.minimum((a * np.int64(b) + (1 << 30)) >> 31, _MAX32)


def rounding_shift(value: I64, exponent: I64 | int) -> I64:
    """value / 2**exponent, ties away from zero; exponent in [0, 31]."""
    exponent = np.asarray(exponent, np.int64)
    half = np.where(exponent > 0, np.int64(1) << np.maximum(exponent - 1, 0), 0)
    magnitude = (np.abs(value) + half) >> exponent
    return np.where(value < 0, -magnitude, magnitude)


def requantize(acc: I64, multiplier: I64 | int, shift: I64 | int) -> I64:
    """acc * multiplier / 2**31 * 2**shift with CMSIS-NN's double rounding.

    `multiplier` and `shift` broadcast against `acc`; a positive shift goes left, before the
    multiplication, and wraps as an int32 does.
    """
    shift = np.asarray(shift, np.int64)
    left = np.maximum(shift, 0)
    right = np.maximum(-shift, 0)
    high = (wrap32(acc << left) * np.asarray(multiplier, np.int64) + (1 << 30)) >> 31
    return rounding_shift(wrap32(high), right)


def round_away(x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Numbers to the nearest integer, ties away from zero."""
    values = np.asarray(x, np.float64)
    return np.copysign(np.floor(np.abs(values) + 0.5), values)


@dataclass(frozen=True)
class Rescale:
    """A requantization: the factor multiplier / 2**31 * 2**shift, applied with two roundings.

    docs/numerics.md has the formula, its source, and the ranges (`Subject.rescales` checks them).

    Attributes:
        multiplier: in Q31; negative only for the operand that a sum takes away.
        shift: positive is left.
    """

    multiplier: int
    shift: int

    @property
    def is_narrow(self) -> bool:
        """Whether 16 bits hold the multiplier, as its lower half is zero."""
        return self.multiplier % (1 << 16) == 0

    @property
    def factor(self) -> float:
        return self.multiplier * 2.0 ** (self.shift - 31)

    def apply(self, acc: I64) -> I64:
        """`acc`, which wraps to 32 bits, times the factor: see `requantize`."""
        return requantize(wrap32(acc), self.multiplier, self.shift)


def quantize_multiplier(factor: float) -> Rescale:
    """A factor from 0 on as a multiplier in Q31 and a shift (TensorFlow Lite, QuantizeMultiplier): what is
    below 2**-32 is 0."""
    fraction, shift = math.frexp(factor)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    return Rescale(multiplier, shift) if shift >= -31 else Rescale(0, 0)


def rescale_channels(acc: I64, rescales: Sequence[Rescale], axis: int = 1) -> I64:
    """`acc`, each channel along `axis` with its own factor."""
    shape = [1] * acc.ndim
    shape[axis] = len(rescales)
    multipliers = np.array([each.multiplier for each in rescales], np.int64)
    shifts = np.array([each.shift for each in rescales], np.int64)
    return requantize(wrap32(acc), multipliers.reshape(shape), shifts.reshape(shape))


def _saturating_shift_left(value: I64, exponent: int) -> I64:
    return np.clip(value << exponent, _MIN32, _MAX32)


# exp(-2**k) for k = -2 … 4 in Q31: the factors of the barrel shifter in exp_on_negative.
_EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_EXP_MINUS_EIGHTH = 1895147668  # exp(-1/8) in Q31
_ONE_THIRD = 715827883  # 1/3 in Q31


def exp_on_negative(value: I64, integer_bits: int = 5) -> I64:
    """exp(value / 2**(31 - integer_bits)) in Q31 for value <= 0 (gemmlowp's exp_on_negative_values).

    The argument is split into a remainder in (-1/4, 0] whose exponential a fourth-order Taylor
    polynomial around -1/8 gives, and a multiple of 1/4 whose bits select constant factors.
    """
    quarter = 1 << (29 - integer_bits)
    mod = (value & (quarter - 1)) - quarter
    remainder = mod - value
    x = wrap32((mod << integer_bits) + (1 << 28))
    x2 = high_mul(x, x)
    x3 = high_mul(x2, x)
    x4 = high_mul(x2, x2)
    poly = rounding_shift(high_mul(rounding_shift(x4, 2) + x3, _ONE_THIRD) + x2, 1)
    result = _EXP_MINUS_EIGHTH + high_mul(x + poly, _EXP_MINUS_EIGHTH)
    for bit, factor in enumerate(_EXP_FACTORS[: 2 + integer_bits]):
        result = np.where(remainder & (quarter << bit), high_mul(result, factor), result)
    return np.where(value == 0, _MAX32, result)


def one_over_one_plus(value: I64) -> I64:
    """1 / (1 + value / 2**31) in Q31 for value in [0, 2**31) (gemmlowp, three Newton steps)."""
    return _saturating_shift_left(_two_over_one_plus(value), 1)


def one_minus_over_one_plus(value: I64) -> I64:
    """(1 - x) / (1 + x) with x = value / 2**31, likewise."""
    return _saturating_shift_left(_two_over_one_plus(value) - (1 << 29), 2)


def _two_over_one_plus(value: I64) -> I64:
    """2 / (1 + value / 2**31) in Q2.29."""
    total = value + _MAX32
    half = np.where(total >= 0, (total + 1) // 2, -((1 - total) // 2))
    x = 1515870810 + high_mul(half, -1010580540)
    for _ in range(3):
        x = x + _saturating_shift_left(high_mul(x, (1 << 29) - high_mul(half, x)), 2)
    return x


def count_leading_zeros(value: I64) -> I64:
    """Leading zeros of the 32-bit pattern; 32 for zero."""
    pattern = value.astype(np.uint32)
    result = np.zeros(pattern.shape, np.int64)
    for bit in range(32):
        result += (pattern >> np.uint32(31 - bit)) == 0
    return result


def softmax_table(rescale: Rescale, diff_min: int) -> npt.NDArray[np.int32]:
    """The exponentials in Q31 that `softmax_s8` adds up, of the differences -255 … 0; 0 of those that do
    not count."""
    diff = np.arange(-255, 1, dtype=np.int64)
    counts = diff >= diff_min
    exponential = exp_on_negative(rescale.apply(np.where(counts, diff, 0)))
    return np.where(counts, exponential, 0).astype(np.int32)


def lowest_difference(rescale: Rescale) -> int:
    """The lowest difference of codes, from the largest one, whose exponential counts in a softmax.

    That of a lower one than 2^30 / x, with the x of one code rounded upwards, is 2^31 * exp(-16) at most,
    which adds nothing to a sum and leaves nothing of a share: x of those that count has six bits of quarters.
    """
    if not 0 <= rescale.shift <= 31 or rescale.multiplier < 0:
        return -255
    return max(-255, -((2**30 - 1) // ((rescale.multiplier >> (31 - rescale.shift)) + 1)))


def softmax_s8(x: I64, rescale: Rescale, diff_min: int) -> I64:
    """Softmax over the last axis of int8 codes; result has scale 1/256 and zero point -128.

    Source: gemmlowp fixed-point softmax as used by TFLM and CMSIS-NN: exponentials of the
    differences from the maximum in Q31, their sum in Q19, its reciprocal by Newton.
    """
    diff = x - x.max(axis=-1, keepdims=True)
    counts = diff >= diff_min
    exponential = exp_on_negative(rescale.apply(np.where(counts, diff, 0)))
    total = np.where(counts, rounding_shift(exponential, 12), 0).sum(axis=-1, keepdims=True)
    headroom = count_leading_zeros(total)
    fraction = wrap32(wrap32(total << headroom) - (1 << 31))
    reciprocal = one_over_one_plus(fraction)
    result = rounding_shift(high_mul(reciprocal, exponential), 12 - headroom + 23) - 128
    return np.where(counts, np.clip(result, -128, 127), -128)
