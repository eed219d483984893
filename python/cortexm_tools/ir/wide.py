# SPDX-License-Identifier: Apache-2.0
"""The fixed-point arithmetic of int16 activations on numpy arrays, as docs/numerics.md states it.

All functions take and return int64 arrays; nothing wraps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from .fixed_point import I64, Rescale, count_leading_zeros, round_away

# Shifts to the left that the sums of int16 layers take; see Rescale.
WIDE_SHIFT = (-31, 14)

# Sums of int16 layers, times a reduced multiplier, fit in 64 bits below it.
WIDE_SUMS = 2**47

ADD_RAISE = 15
"""Both operands of a sum are raised by so many bits (TensorFlow Lite, ADD of int16)."""

_Reals = npt.NDArray[np.float64]

_CODES = 65536

# Of a table: between so many entries, at least and at most, is interpolated.
_SEGMENTS, _MOST_SEGMENTS = 512, 4096

# Softmax: bits of the fraction of an exponent that choose an entry of POWERS, and of what remains.
_INDEX_BITS, _REST_BITS = 8, 16

POWERS = np.array([round(2**31 * 2 ** (-i / 256)) for i in range(257)], np.int64)
"""2 ** (-i / 256) in Q31."""


def reduced(multiplier: int) -> int:
    """A multiplier in Q31 as one in Q15: rounded, and at most 32767 (CMSIS-NN, REDUCE_MULTIPLIER)."""
    return min((multiplier + (1 << 15)) >> 16, 32767)


def narrowed(multiplier: int) -> int:
    """A multiplier in Q31 whose lower 16 bits are zero: what `reduced` leaves of one."""
    return reduced(multiplier) << 16


def rescale_wide(acc: I64, rescale: Rescale) -> I64:
    """acc * reduced / 2**15 * 2**shift, rounded once, ties up; |acc| < 2**47."""
    right = 15 - rescale.shift
    result: I64 = (acc * reduced(rescale.multiplier) + (1 << (right - 1))) >> right
    return result


def rescale_wide_channels(acc: I64, rescales: Sequence[Rescale], axis: int) -> I64:
    """`rescale_wide`, each channel along `axis` with its own factor."""
    shape = [1] * acc.ndim
    shape[axis] = len(rescales)
    factors = np.array([reduced(each.multiplier) for each in rescales], np.int64).reshape(shape)
    right = np.array([15 - each.shift for each in rescales], np.int64).reshape(shape)
    result: I64 = (acc * factors + (1 << (right - 1))) >> right
    return result


def interpolate(x: I64, table: I64) -> I64:
    """What a table [n + 1] of n equal parts of the int16 codes, n a power of two, gives for codes."""
    bits = (_CODES // (len(table) - 1)).bit_length() - 1
    position = x + _CODES // 2
    index, rest = position >> bits, position & ((1 << bits) - 1)
    low, high = table[index], table[index + 1]
    result: I64 = low + (((high - low) * rest + (1 << bits >> 1)) >> bits)
    return result


def smallest_table(values: npt.NDArray[np.float64]) -> I64:
    """The table for `interpolate` of a function of int16 codes.

    Args:
        values: its results for the codes -32768 … 32768, whole numbers of the type; where it is not
            defined (NaN) it stays as it is at the border of where it is.

    Returns:
        [n + 1], with the smallest n from 512 on for which no code is off by more than one, or 4,096.
    """
    codes = np.arange(-_CODES // 2, _CODES // 2 + 1)
    defined = np.flatnonzero(~np.isnan(values))
    exact: I64 = np.interp(codes, codes[defined], values[defined]).astype(np.int64)
    segments = _SEGMENTS
    while True:
        table = exact[:: _CODES // segments]
        off = np.abs(interpolate(codes[:-1], table) - exact[:-1]).max()
        if off <= 1 or segments == _MOST_SEGMENTS:
            return table
        segments *= 2


def softmax_multiplier(scale: float) -> int:
    """Codes of this scale times it are exponents of 2 in Q32; scale in (0, ln 2)."""
    return round(scale / math.log(2) * 2**32)


def softmax_s16(x: I64, multiplier: int) -> I64:
    """Softmax over the last axis of int16 codes; the result has scale 2**-15 and zero point 0.

    A power of two in Q31 for every code's distance from the largest, from a table between whose
    entries is interpolated; their sum's reciprocal with 31 bits; their product.
    """
    exponent = (x.max(axis=-1, keepdims=True) - x) * multiplier
    whole = exponent >> 32
    fraction = (exponent >> (32 - _INDEX_BITS - _REST_BITS)) & ((1 << 24) - 1)
    index, rest = fraction >> _REST_BITS, fraction & ((1 << _REST_BITS) - 1)
    step = (POWERS[index] - POWERS[index + 1]) >> 7
    power = np.where(whole > 31, 0, (POWERS[index] - (step * rest >> 9)) >> np.minimum(whole, 31))
    total = power.sum(axis=-1)
    result = np.empty_like(x)
    for row in np.ndindex(*total.shape):
        drop = max(int(total[row]).bit_length() - 32, 0)
        reciprocal = 2**62 // (int(total[row]) >> drop)
        # The product and a half of its unit reach 2**63.
        product = power[row].astype(np.uint64) * np.uint64(reciprocal)
        result[row] = (product + np.uint64(1 << (46 + drop))) >> np.uint64(47 + drop)
    return np.minimum(result, 32767)


# -- functions as TensorFlow Lite has them ------------------------------------------------------------


def _sigmoids() -> I64:
    """1 / (1 + exp(-i / 24)) less 1/2 in Q16, i = 0 … 255: raised by half of what a chord to the next entry
    lies below the curve in its middle; the last one is what they approach."""
    curve = 2.0**16 / (1 + np.exp(-np.arange(511) / 48))
    at, middle = curve[::2], curve[1::2]
    raised: I64 = np.full(256, 2**15 - 1, np.int64)
    raised[:-1] = round_away(at[:-1] + (middle - (at[:-1] + at[1:]) / 2) / 2) - 2**15
    return raised


SIGMOIDS = _sigmoids()


def sigmoid_s16(x: I64, is_tanh: bool) -> I64:
    """The logistic function of x in units of 1 / 12288, or tanh, in Q15, between entries of SIGMOIDS:
    tanh(x / 2) is twice an entry. Beyond the table it is what the last two give."""
    bits = 8 if is_tanh else 9
    size = np.minimum(np.abs(x), (255 << bits) - 1)
    entry, rest = size >> bits, size & ((1 << bits) - 1)
    value = (SIGMOIDS[entry] << bits) + (SIGMOIDS[entry + 1] - SIGMOIDS[entry]) * rest
    drop = 2 * bits - 8
    distance = (value + (1 << (drop - 1))) >> drop
    result: I64 = ((bits - 8) << 14) + np.sign(x) * distance
    return result


def _chords(function: Callable[[_Reals], _Reals], low: float, high: float) -> I64:
    """The table [513] for `interpolate` of a function of numbers from `low` to `high`, in Q15: chords are
    moved by half of what they are off in their middles (LUTPopulate, in float32)."""
    exact = (function(np.linspace(low, high, 1025)) * 2.0**15).astype(np.float32)
    ends, middles = round_away(exact[::2]), round_away(exact[1::2])
    off = round_away((exact[2::2] + ends[:-1].astype(np.float32)) / 2) - middles
    ends[:-1] -= round_away(off / 2)
    return np.minimum(ends, 2**15 - 1).astype(np.int64)


EXPONENTIALS = _chords(np.exp, -10.0, 0.0)
RECIPROCALS = _chords(lambda x: 1 / (1 + x), 0.0, 1.0)


def softmax_interpolated(x: I64, rescale: Rescale) -> I64:
    """Softmax over the last axis of int16 codes, in Q15.

    `rescale` makes of differences multiples of 10 / 65535, which end at -10; the sum of their exponentials,
    1 + f times a power of two, has a reciprocal between entries.
    """
    below = rescale.apply(x - x.max(axis=-1, keepdims=True)) + 2**15 - 1
    power = interpolate(np.maximum(below, -(2**15)), EXPONENTIALS)
    total = power.sum(axis=-1, keepdims=True)
    zeros = count_leading_zeros(total)
    fraction = ((total << (zeros - 1)) + (1 << 13) >> 14) - 2**16 - 2**15
    share = power * interpolate(np.minimum(fraction, 2**15 - 1), RECIPROCALS)
    right = 31 - zeros
    result: I64 = (share + (1 << (right - 1))) >> right
    return np.minimum(result, 2**15 - 1)


def each_rescaled(acc: I64, rescales: tuple[Rescale, ...]) -> I64:
    """Sums of four gates in a row, requantized to 16 bits."""
    parts = [r.apply(part) for r, part in zip(rescales, np.split(acc, 4, axis=-1), strict=True)]
    return limited_s16(np.concatenate(parts, axis=-1))


def limited_s16(x: I64) -> I64:
    """To the codes of 16 bits."""
    return np.clip(x, -(1 << 15), (1 << 15) - 1)
