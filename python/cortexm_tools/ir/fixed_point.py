# SPDX-License-Identifier: Apache-2.0
"""CMSIS-NN's fixed-point arithmetic on numpy arrays, as docs/numerics.md states it.

All functions take and return int64 arrays that hold int32 values; what an int32 register would wrap,
these wrap too.
"""

from __future__ import annotations

import functools
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


def exp_on_negative(value: I64) -> I64:
    """exp(value / 2**26) in Q31 for value <= 0 (gemmlowp's exp_on_negative_values, Q5.26 input).

    The argument is split into a remainder in (-1/4, 0] whose exponential a fourth-order Taylor
    polynomial around -1/8 gives, and a multiple of 1/4 whose bits select constant factors.
    """
    quarter = 1 << 24
    mod = (value & (quarter - 1)) - quarter
    remainder = mod - value
    x = wrap32((mod << 5) + (1 << 28))
    x2 = high_mul(x, x)
    x3 = high_mul(x2, x)
    x4 = high_mul(x2, x2)
    poly = rounding_shift(high_mul(rounding_shift(x4, 2) + x3, _ONE_THIRD) + x2, 1)
    result = _EXP_MINUS_EIGHTH + high_mul(x + poly, _EXP_MINUS_EIGHTH)
    for bit, factor in enumerate(_EXP_FACTORS):
        result = np.where(remainder & (quarter << bit), high_mul(result, factor), result)
    return np.where(value == 0, _MAX32, result)


def one_over_one_plus(value: I64) -> I64:
    """1 / (1 + value / 2**31) in Q31 for value in [0, 2**31) (gemmlowp, three Newton steps)."""
    total = value + _MAX32
    half = np.where(total >= 0, (total + 1) // 2, -((1 - total) // 2))
    x = 1515870810 + high_mul(half, -1010580540)
    for _ in range(3):
        x = x + _saturating_shift_left(high_mul(x, (1 << 29) - high_mul(half, x)), 2)
    return _saturating_shift_left(x, 1)


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


# Of softmax_factors: -32/17 in Q29, 48/17 less 32/17, and 1 in Q30, with which kernels compute 1 / (1 + x),
# and the least sum with which the largest element has less than 255.5 / 256 of it; how many words there are
# before the factors, and how many differences a block may have.
_FOR_KERNELS = (-1010580540, 505290270, 1 << 30, 525315)
_START = 4 + len(_FOR_KERNELS)
_BLOCKS = range(8, 129)
# Exponentials that have another share of their sum with the largest one than of the least sum.
_BETWEEN = range(4202512, 4202520)


@functools.cache
def softmax_factors(rescale: Rescale, diff_min: int) -> npt.NDArray[np.int32] | None:
    """`softmax_table` as products, laid out as kernels.h has it; None if there are none that serve.

    The exponentials of the last block of differences are factors that other blocks share, which one more for
    each of them brings near theirs: up to the error of the polynomial in `exp_on_negative`, which corrections
    of a byte make good. That error depends on where in a quarter a difference lies, so that corrections are
    smaller with some sizes of blocks than with others. What is below 2**22 has no share in a result, and
    needs none as long as it adds as much to a sum.
    """
    lowest = max(diff_min, lowest_difference(rescale))
    wanted = softmax_table(rescale, lowest).astype(np.int64)
    best = None
    for block in _BLOCKS:
        count = -(-256 // block)
        if best is not None and 4 * (_START + block + count) >= best.nbytes:
            continue
        across, corrections = _near_factors(wanted, block)
        if corrections.min() < -128 or corrections.max() > 127:
            continue
        limit = int(np.argmax(corrections != 0)) - 1 if corrections.any() else 255
        tail = np.zeros((255 - limit) // 4 * 4 + 4, np.int8)
        tail[1 : 256 - limit] = corrections[limit + 1 :]
        start = [(1 << 31) // block, -block, 4 * (block + count), limit - 256, *_FOR_KERNELS]
        constants = np.concatenate([start, wanted[-block:] + 1, across]).astype(np.uint32)
        result = np.concatenate([constants.view(np.int32), tail.view(np.int32)])
        is_less = best is None or result.nbytes < best.nbytes
        if is_less and are_factors(result, rescale, diff_min):
            best = result
    if best is not None:
        best.flags.writeable = False
    return best


def _near_factors(wanted: I64, block: int) -> tuple[I64, I64]:
    """A factor for each block of differences, and what each of the 256 products lacks."""
    before = -256 % block
    each = np.append(np.zeros(before, np.int64), wanted).reshape(-1, block)
    within = wanted[-block:] + 1
    counts = (each >= 2048) | (np.arange(block) == block - 1)
    ratios = (each << 32) // within
    lowest = np.where(counts, ratios, 1 << 62).min(axis=1)
    highest = np.where(counts, ratios, 0).max(axis=1)
    # Of those whose corrections are bytes the fewest from the first one on, of these the smallest.
    factors = np.linspace(lowest, highest, 65).astype(np.int64).clip(0, 2**32 - 1)[:, :-1]
    near = within * factors[:, :, None] >> 32
    off = np.where(_serves(near, each[:-1]), 0, each[:-1] - near)
    off[:, 0, :before] = 0
    count = np.where(off.any(axis=2), block - np.argmax(off != 0, axis=2), 0)
    most = np.abs(off).max(axis=2)
    best = np.lexsort((most, count, most > 127), axis=0)[0]
    blocks = np.arange(len(each) - 1)
    across = np.append(factors[best, blocks], 2**32 - 1)
    return across, np.append(off[best, blocks].reshape(-1), np.zeros(block, np.int64))[before:]


def _serves(one: I64, other: I64) -> npt.NDArray[np.bool_]:
    """Whether exponentials may be others: equal ones, or those without a share that add as much to a sum."""
    is_small = np.maximum(one, other) < 1 << 22
    result: npt.NDArray[np.bool_] = (one == other) | (
        is_small & ((one + 2048) >> 12 == (other + 2048) >> 12)
    )
    return result


def are_factors(factors: npt.NDArray[np.int32], rescale: Rescale, diff_min: int) -> bool:
    """Whether kernels of `softmax_factors` give with these what `softmax_s8` does."""
    part, less, offset, limit, *constants = factors[:_START].tolist()
    block, number = -less, np.arange(256)
    count = -(-256 // max(block, 1))
    corrections = factors[_START + block + count :].view(np.int8).astype(np.int64)
    place = np.maximum(number - limit - 256, 0)
    good = block > 0 and part == (1 << 31) // block and offset == 4 * (block + count)
    if not good or constants != list(_FOR_KERNELS) or not place.max() < len(corrections):
        return False
    within, across = np.split(
        factors[_START : _START + block + count].view(np.uint32).astype(np.int64), [block]
    )
    at = (number - 256) // block
    got = (across[count + at] * within[number - 256 - at * block] >> 32) + corrections[place]
    serves = _serves(got, softmax_table(rescale, diff_min).astype(np.int64))
    return bool(serves.all() and got.min() >= 0 and not np.isin(got, _BETWEEN).any())


# Of softmax_blocks: 1 in either half, 1 in Q30, -32/17 and 16/17 in Q29, and 2^20, the product with which is
# what an exponential counts in a sum.
_FOR_BLOCKS = (0x10001, 1 << 30, -1010580540, 0x1E1E1E1E, 1 << 20)


def softmax_blocks(
    rescale: Rescale, diff_min: int, has_limit: bool = True
) -> npt.NDArray[np.int32] | None:
    """As `softmax_factors`, with factors of 64 differences each, which do for scales from 0.014 on.

    Args:
        has_limit: whether corrections that are 0 are left out.
    """
    lowest = max(diff_min, lowest_difference(rescale))
    wanted = softmax_table(rescale, lowest).astype(np.int64).reshape(4, 64)
    within = wanted[-1] + 1
    across = np.full(4, 2**32 - 1, np.int64)
    corrections = np.zeros_like(wanted)
    for block, each in enumerate(wanted[:-1]):
        counts = np.append(np.flatnonzero(each >= 2048), 63)
        ratios = (each[counts] << 32) // within[counts]
        factors = np.linspace(ratios.min(), ratios.max(), 257).astype(np.int64)
        near = within * np.minimum(factors, 2**32 - 1)[:, None] >> 32
        off = np.where(_serves(near, each), 0, each - near)
        # Of those whose corrections are bytes the fewest from the first one on; of these, or of all, the
        # smallest.
        most = np.abs(off).max(axis=1)
        has_any = off.any(axis=1) & (most <= 127)
        count = np.where(has_any, 64 - np.argmax(off != 0, axis=1), 0)
        best = np.lexsort((most, count, most > 127))[0]
        across[block], corrections[block] = factors[best], off[best]
    if np.abs(corrections).max() > 127:
        # The last block takes its part of what others are off.
        off = np.arange(-127, 128)
        left = corrections[:, :, None] - (across[:, None, None] * off >> 32)
        within[:-1] += off[np.abs(left).max(axis=0).argmin(axis=1)][:-1]
        near = within * across[:, None] >> 32
        corrections = np.where(_serves(near, wanted), 0, wanted - near)
    flat = corrections.reshape(-1)
    if np.abs(flat).max() > 127:
        return None
    limit = max(int(np.argmax(flat != 0)) - 1, 0) if flat.any() else 255
    limit *= has_limit
    tail = np.zeros((255 - limit) // 4 * 4 + 4, np.int8)
    tail[: 256 - limit] = flat[limit:]
    constants = np.concatenate([within, across, [limit * 0x01010101, *_FOR_BLOCKS]])
    constants = constants.astype(np.uint32)
    result = np.concatenate([constants.view(np.int32), tail.view(np.int32)])
    return result if are_blocks(result, rescale, diff_min) else None


def are_blocks(factors: npt.NDArray[np.int32], rescale: Rescale, diff_min: int) -> bool:
    """Whether kernels of `softmax_blocks` give with these what `softmax_s8` does."""
    words, corrections = factors.view(np.uint32).astype(np.int64), factors[74:].view(np.int8)
    number = np.arange(256)
    place = np.maximum(number - (words[68] & 255), 0)
    is_laid_out = words[68] % 0x01010101 == 0 and place.max() < len(corrections)
    if not is_laid_out or tuple(factors[69:74].tolist()) != _FOR_BLOCKS:
        return False
    got = (words[number % 64] * words[64 + number // 64] >> 32) + corrections[place]
    serves = _serves(got, softmax_table(rescale, diff_min).astype(np.int64))
    is_half = (got > 1 << 30) & (got % (1 << 22) == 0)  # as kernels' products are not
    return bool(serves.all() and got.min() >= 0 and not is_half.any())


@functools.cache
def folded_softmax_table(rescale: Rescale, diff_min: int) -> npt.NDArray[np.int32] | None:
    """The table that `softmax_rows` takes in place of `softmax_table`, with the same results; None if one
    exponential is such that they may differ, as hardly ever.

    An exponential below 2^22 leaves no share, as shares are rounded from 2^23 or more on: only the sum sees
    it, in units of 2^12. So the table has the differences down to 1 - count, below which all are as small; in
    the sum the next ones, as many, are these times a factor, and all others nothing. First stand the factor
    in Q32, half of it less 2^31, `count`, and what entries times 2^-32 count in the sum; then 2 * e - 2^31
    for e = 0 and for the differences 1 - count … 0.
    """
    exponentials = softmax_table(rescale, diff_min)[::-1].astype(np.int64)
    # Where a sum is a power of two, `put_rows` of kernels/src/activation/softmax.inc has a product one too
    # large, which only tells where it is half of a shift.
    if np.any((exponentials > 1 << 30) & (exponentials % (1 << 22) == 0)):
        return None
    for count in range(1, 256):
        lower = exponentials[count:]
        half = None
        if lower[0] < 1 << 22 and not np.any(lower[count:] >= 1 << 11):
            half = _folding_factor(exponentials[: lower.size], lower[:count])
        if half is not None:
            break
    else:
        count, half = 256, 0
    entries = np.append(0, exponentials[:count][::-1])
    start = [2 * half, half - 2**31, count, 1 << 19]
    return np.append(start, 2 * entries - 2**31).astype(np.int32)


def _folding_factor(upper: I64, lower: I64) -> int | None:
    """Half of a factor in Q32 that makes lower exponentials of upper ones, as far as a sum sees them."""
    nearest = round(float(lower[0]) / float(upper[0]) * 2**31)
    for half in sorted(range(max(0, nearest - 16), nearest + 17), key=lambda x: abs(x - nearest)):
        twice = (upper[: lower.size] * half + (1 << 29)) >> 30
        if twice.max() < (1 << 23) - 2 and np.array_equal(
            (twice + (1 << 12)) >> 13, (lower + (1 << 11)) >> 12
        ):
            return half
    return None


def lowest_difference(rescale: Rescale) -> int:
    """The lowest difference of codes, from the largest one, whose exponential counts in a softmax.

    That of a lower one than 2^30 / x, with the x of one code rounded upwards, is 2^31 * exp(-16) at most,
    which adds nothing to a sum and leaves nothing of a share: x of those that count has six bits of quarters.
    """
    if not 0 <= rescale.shift <= 31 or rescale.multiplier < 0:
        return -255
    return max(-255, -((2**30 - 1) // ((rescale.multiplier >> (31 - rescale.shift)) + 1)))


def softmax_of_two(rescale: Rescale, diff_min: int) -> npt.NDArray[np.int8]:
    """What `softmax_s8` makes of the first of two codes, which lies -255 … 255 above the other one."""
    above = np.arange(-255, 256, dtype=np.int64)
    pairs = np.stack([above, np.zeros_like(above)], axis=-1)
    return softmax_s8(pairs, rescale, diff_min)[:, 0].astype(np.int8)


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
