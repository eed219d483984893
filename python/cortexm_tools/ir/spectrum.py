# SPDX-License-Identifier: Apache-2.0
"""The fixed-point arithmetic of spectra on numpy arrays, as docs/numerics.md states it.

All functions take and return int64 arrays, but for sums beyond 64 bits, which are Python's integers;
nothing wraps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from .fixed_point import I64

SIZES = tuple(2**bits for bits in range(6, 12))
"""Points of a transform: 64 to 2048."""

MOST_SUM = 2**30
"""What the absolute values of a windowed frame add up to stays below it: no part of the transform
needs more than 32 bits."""

MOST_POWER = 2**62 - 1
"""No square of twice a magnitude is larger; what is, under a root, counts for this."""

_SLACK = 4  # units for each point, in which all roundings of the transform together stay

_SEGMENT_BITS = 6
_REST_BITS = 16
LOGARITHMS = np.array([round(2**16 * math.log2(1 + i / 64)) for i in range(65)], np.int64)
"""log2(1 + i / 64) in Q16."""


@cache
def roots(points: int) -> I64:
    """cos and sin of 2 pi k / points in Q31, [points / 4, 2]; 2**31 - 1 stands for 1.

    No entry lies so near the middle of two integers that a C library's last bit would matter.
    """
    angles = [2 * math.pi * k / points for k in range(points // 4)]
    pairs = [(math.cos(a) * 2.0**31, math.sin(a) * 2.0**31) for a in angles]
    return np.minimum(np.array([[round(v) for v in p] for p in pairs], np.int64), 2**31 - 1)


def _powers(points: int, exponents: I64) -> tuple[I64, I64]:
    """cos and sin of 2 pi e / points for 0 <= e < points, of the first quarter's."""
    quarter = points // 4
    turns, rest = exponents // quarter, exponents % quarter
    c, s = roots(points)[rest, 0], roots(points)[rest, 1]
    return (
        np.select([turns == 0, turns == 1, turns == 2], [c, -s, -c], s),
        np.select([turns == 0, turns == 1, turns == 2], [s, c, -s], -c),
    )


def _high(a: I64, b: I64) -> I64:
    """floor((a b + 2**31) / 2**32)"""
    result: I64 = (a * b + 2**31) >> 32
    return result


def _turned(re: I64, im: I64, c: I64, s: I64) -> tuple[I64, I64]:
    """(re + i im) (c - i s), each product rounded to an even number."""
    return 2 * (_high(re, c) + _high(im, s)), 2 * (_high(im, c) + _high(-re, s))


def least_shift(window: I64, points: int) -> int:
    """The fewest bits to drop of samples times these numbers so that the sum of their absolute values
    stays below MOST_SUM, with room for what the transform rounds; at least 1."""
    total = int(np.abs(window).sum()) << 15
    shift = 1
    while (total >> shift) + _SLACK * points + len(window) >= MOST_SUM:
        shift += 1
    return shift


def windowed(x: I64, window: I64, shift: int) -> I64:
    """Samples [..., frame] times the window [frame], without `shift` bits, rounded, ties up."""
    result: I64 = (x * window + (1 << shift >> 1)) >> shift
    return result


def _reversed_bits(count: int) -> I64:
    """The numbers below `count`, a power of two, with their bits in reverse."""
    result = np.zeros(1, np.int64)
    while len(result) < count:
        result = np.concatenate([2 * result, 2 * result + 1])
    return result


def _transform(re: I64, im: I64, points: int) -> tuple[I64, I64]:
    """The discrete Fourier transform of complex rows [rows, points / 2], `points` for whose roots.

    Decimation in time: a first stage of two or four points without factors, then stages of four.
    """
    length = points // 2
    order = _reversed_bits(length)
    re, im = re[:, order], im[:, order]
    span = 1
    if length.bit_length() % 2 == 0:  # an odd power of two
        re, im = (
            np.stack([v[:, ::2] + v[:, 1::2], v[:, ::2] - v[:, 1::2]], -1).reshape(v.shape)
            for v in (re, im)
        )
        span = 2
    while span < length:
        # [rows, groups, 4, span]; the blocks hold every fourth element from 0, 2, 1, 3 on.
        parts = [v.reshape(len(v), -1, 4, span)[:, :, [0, 2, 1, 3]] for v in (re, im)]
        if span > 1:
            exponents = np.outer(np.arange(4), np.arange(span)) * (points // (4 * span))
            turned = _turned(parts[0], parts[1], *_powers(points, exponents))
            for part, factored in zip(parts, turned, strict=True):
                part[:, :, 1:] = factored[:, :, 1:]
        (a, b, c, d), (e, f, g, h) = (np.moveaxis(part, 2, 0) for part in parts)
        re, im = (
            np.stack(v, 2).reshape(len(re), -1)
            for v in (
                ((a + c) + (b + d), (a - c) + (f - h), (a + c) - (b + d), (a - c) - (f - h)),
                ((e + g) + (f + h), (e - g) - (b - d), (e + g) - (f + h), (e - g) + (b - d)),
            )
        )
        span *= 4
    return re, im


def doubled_spectrum(x: I64) -> tuple[I64, I64]:
    """Twice the transform of real rows [rows, points], [rows, points / 2 + 1], real and imaginary.

    By the transform of half as many complex numbers, of the even and the odd elements.
    """
    points = x.shape[1]
    half = points // 2
    re, im = _transform(x[:, ::2], x[:, 1::2], points)
    k = np.arange(1, half // 2)
    sum_re, sum_im = re[:, k] + re[:, half - k], im[:, k] - im[:, half - k]
    odd_re, odd_im = im[:, k] + im[:, half - k], re[:, half - k] - re[:, k]
    turned_re, turned_im = _turned(odd_re, odd_im, *_powers(points, k))
    ends = 2 * (re[:, :1] + im[:, :1]), 2 * (re[:, :1] - im[:, :1])
    middle = slice(half // 2, half // 2 + 1)
    zero = np.zeros_like(ends[0])
    reals = [ends[0], sum_re + turned_re, 2 * re[:, middle], (sum_re - turned_re)[:, ::-1], ends[1]]
    imaginary = [zero, sum_im + turned_im, -2 * im[:, middle], (turned_im - sum_im)[:, ::-1], zero]
    return np.concatenate(reals, 1), np.concatenate(imaginary, 1)


def root(value: I64) -> I64:
    """floor(sqrt(value)) for 0 <= value < 2**62."""
    result = np.sqrt(value.astype(np.float64)).astype(np.int64)
    result -= result * result > value
    result += (result + 1) * (result + 1) <= value
    return result


def logarithm(value: int) -> int:
    """log2 in Q16 of an integer, between the entries of LOGARITHMS; 0 for 0."""
    if value <= 0:
        return 0
    whole = value.bit_length() - 1
    mantissa = (value << 31) >> whole
    index = mantissa >> (31 - _SEGMENT_BITS) & (2**_SEGMENT_BITS - 1)
    rest = mantissa >> (31 - _SEGMENT_BITS - _REST_BITS) & (2**_REST_BITS - 1)
    low, high = int(LOGARITHMS[index]), int(LOGARITHMS[index + 1])
    result: int = (whole << 16) + low + ((high - low) * rest + 2**15 >> 16)
    return result


def bands(spectrum: I64, first: Sequence[int], weights: Sequence[I64]) -> list[list[int]]:
    """For each row of a spectrum the sums of its elements, from `first` on, times each band's weights."""
    rows = []
    for row in spectrum:
        low, high = row & 0xFFFFFFFF, row >> 32
        rows.append(
            [
                int(low[f : f + len(w)] @ w) + (int(high[f : f + len(w)] @ w) << 32)
                for f, w in zip(first, weights, strict=True)
            ]
        )
    return rows
