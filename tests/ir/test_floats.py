# SPDX-License-Identifier: Apache-2.0
"""A product added with one rounding, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cortexm_tools.ir.floats import fma


def nearest(exact: Fraction) -> np.float32:
    """The float32 nearest to a fraction, ties to even."""
    if exact == 0:
        return np.float32(0)
    exponent = -149
    while abs(exact) >= Fraction(2) ** (exponent + 24):
        exponent += 1
    steps = round(exact / Fraction(2) ** exponent)  # Python's rounds ties to even
    with np.errstate(over="ignore"):
        return np.float32(float(steps) * 2.0**exponent)


# Neighbours, subnormal products, subnormal operands, and terms of which one is little beside the other.
@pytest.mark.parametrize("exponents", [(-4, 4), (-80, -60), (-149, 0), (-24, 24)])
def test_fma_rounds_once(exponents: tuple[int, int]) -> None:
    generator = np.random.default_rng(exponents[1] - exponents[0])
    shape = (3, 400)
    bits = np.where(
        generator.random(shape) < 0.5,
        generator.integers(-(1 << 24), 1 << 24, shape),
        generator.integers(-4, 5, shape) << 21,
    )
    values = np.ldexp(
        bits.astype(np.float64), generator.integers(*exponents, shape, endpoint=True) - 24
    )
    total, x, y = values.astype(np.float32)
    is_cancelled = generator.random(shape[1]) < 0.3
    total = np.where(is_cancelled, -x * y, total)
    found = fma(total, x, y)
    for one, a, b, got in zip(total, x, y, found, strict=True):
        exact = Fraction(float(one)) + Fraction(float(a)) * Fraction(float(b))
        assert got == nearest(exact), (one, a, b)


def test_fma_of_what_is_no_finite_number() -> None:
    inf, nan = np.float32(np.inf), np.float32(np.nan)
    cases = [
        (1, inf, 2, inf),
        (-inf, inf, 2, nan),
        (inf, 3e38, -3e38, inf),
        (0, inf, 0, nan),
        (nan, 1, 1, nan),
    ]
    for total, x, y, want in cases:
        got = fma(*(np.array([v], np.float32) for v in (total, x, y)))
        np.testing.assert_array_equal(got, np.float32(want))
    largest = np.array([3e38], np.float32)
    assert fma(largest, largest, largest)[0] == inf
    # The exact product, and not the rounded one, decides on which side of zero the sum lies.
    x = np.array([1 + 2**-12], np.float32)
    assert fma(-x * x, x, x)[0] == 2**-24
