# SPDX-License-Identifier: Apache-2.0
"""Normalizations of codes in integers, as docs/numerics.md states them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]

MOST_SIZE = 2**16 - 1
"""Elements of a row: its sums, and those of squares, times their number fit in 63 bits."""

EPSILON_BITS = 62
MOST_SHIFT = 24
_LEAST_SHIFT = 4
_SEED, _SLOPE = 2290065825, 1308601373  # 2.1328 and 1.2187 in Q30


@dataclass(frozen=True)
class Size:
    """What a kernel is told of the number of elements of a row.

    Attributes:
        bits: that it has.
        mantissa: itself in Q(32 - bits).
        inverse: one by it in Q(30 + bits).
    """

    size: int

    @property
    def bits(self) -> int:
        return self.size.bit_length()

    @property
    def mantissa(self) -> int:
        return self.size << (32 - self.bits)

    @property
    def inverse(self) -> int:
        return (1 << (30 + self.bits)) // self.size

    @property
    def fraction(self) -> int:
        """Bits behind the point of a normalized number."""
        return 27 - (self.bits + 1) // 2

    def finer(self, code_bits: int) -> int:
        """Bits behind the point of a row's variance in codes times its size squared, an even number: as
        many as 62 leave."""
        return 62 - 2 * self.bits - (16 if code_bits == 8 else 30)


def inverse_root(m: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """1 / sqrt(m) in Q30 of m in Q32, for m in [2^30, 2^32): three of Newton's steps from a line."""
    u = np.uint64
    y = u(_SEED) - (m * u(_SLOPE) >> u(32))
    for _ in range(3):
        product = m * (y * y >> u(32)) >> u(32)
        y = y * (u(3 << 28) - product) >> u(29)
    return y


def normalized(x: I64, *, centred: bool, zero_point: int, epsilon: int, code_bits: int) -> I64:
    """Rows of codes less their mean, or the zero point, by the root of what their squares are on average.

    Args:
        epsilon: what is added to that, times the square of a row's size, in Q(Size.finer).
        code_bits: of the type of the codes.

    Returns:
        In Q(Size.fraction).
    """
    size = Size(x.shape[1])
    n, total, squares = size.size, x.sum(axis=1), (x * x).sum(axis=1)
    if centred:
        power = n * squares - total * total
    else:
        power = n * (squares - 2 * zero_point * total + n * zero_point * zero_point)
    finer = size.finer(code_bits)
    power = ((power << finer) + epsilon).astype(np.uint64)
    half = np.full(power.shape, 32 - finer // 2, np.int64)
    for step in (32, 16, 8, 4, 2):
        small = power >> np.uint64(64 - step) == 0
        power = np.where(small, power << np.uint64(step), power)
        half -= np.where(small, step // 2, 0)
    y = inverse_root(power >> np.uint64(32))
    root = (y * np.uint64(size.mantissa) >> np.uint64(32)).astype(np.int64)
    raised = size.bits + size.fraction + 2 - half
    alike = raised > 31
    raised = np.where(alike, 0, raised)
    if centred:
        start = total * size.inverse >> (30 + size.bits - raised)
    else:
        start = np.left_shift(zero_point, raised)
    spread = np.where(alike, 0, 1)[:, None] * ((x << raised[:, None]) - start[:, None])
    spread = spread.astype(np.uint64).astype(np.uint32).astype(np.int32).astype(np.int64)
    return np.asarray(spread * root[:, None] >> 32)


def finished(t: I64, factor: I64, offset: I64, shift: int) -> I64:
    """Codes before they are limited, of what `normalized` gives, with the factor and offset of each."""
    return np.asarray(((t * factor >> 32) + offset) >> shift)


@dataclass(frozen=True)
class RealNorm:
    """A normalization: (x - mean) / sqrt(variance + epsilon) * weight + bias over `size` elements; without
    `centred`, x / sqrt(mean of x^2 + epsilon) * weight + bias.

    Attributes:
        weight, bias: one for each element of a row, or channel.
    """

    size: int
    centred: bool
    epsilon: float
    weight: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]

    def on_codes(
        self, scale: float, out_scale: float, out_zero_point: int, code_bits: int
    ) -> tuple[int, int, I32, I32] | None:
        """`epsilon` and `shift` of the operators, factors and offsets; None if 32 bits are not enough for
        them, or rows are too long."""
        if not 1 <= self.size <= MOST_SIZE:
            return None
        epsilon = self.size * self.size * self.epsilon / scale**2
        epsilon *= 2.0 ** Size(self.size).finer(code_bits)
        gain, start = self.weight / out_scale, self.bias / out_scale + out_zero_point + 0.5
        finite = np.isfinite(gain).all() and np.isfinite(start).all() and math.isfinite(epsilon)
        if not finite or epsilon >= 2.0**EPSILON_BITS:
            return None
        fraction = Size(self.size).fraction
        most, far = float(np.abs(gain).max()), float(np.abs(start).max())
        shift = MOST_SHIFT
        while shift >= _LEAST_SHIFT and (
            most * 2.0 ** (32 - fraction + shift) >= 2**31 - 1 or far * 2.0**shift >= 2.0**30
        ):
            shift -= 1
        if shift < _LEAST_SHIFT:
            return None
        factors = np.rint(gain * 2.0 ** (32 - fraction + shift)).astype(np.int32)
        offsets = np.rint(start * 2.0**shift).astype(np.int32)
        return max(1, round(epsilon)), shift, factors, offsets
