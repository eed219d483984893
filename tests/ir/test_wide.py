# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of int16 activations against Python's integers and the real functions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.ir import Rescale
from cortexm_tools.ir.ops.activation import WIDE_TABLES
from cortexm_tools.ir.wide import (
    WIDE_SHIFT,
    WIDE_SUMS,
    interpolate,
    reduced,
    rescale_wide,
    rescale_wide_channels,
    softmax_multiplier,
    softmax_s16,
)

sums = st.sampled_from([1 - WIDE_SUMS, -(2**31), -1, 0, 1, 2**31 - 1, WIDE_SUMS - 1]) | st.integers(
    1 - WIDE_SUMS, WIDE_SUMS - 1
)
rescales = st.builds(Rescale, st.integers(0, 2**31 - 1), st.integers(*WIDE_SHIFT))


@given(sums, rescales)
def test_rescale_rounds_once_with_ties_up(acc: int, rescale: Rescale) -> None:
    factor = reduced(rescale.multiplier)
    assert abs(factor * 2**16 - rescale.multiplier) <= 2**16
    real = Fraction(acc * factor, 2**15) * Fraction(2) ** rescale.shift
    got = int(rescale_wide(np.array([acc]), rescale)[0])
    assert Fraction(-1, 2) <= real - got < Fraction(1, 2)
    # CMSIS-NN shifts twice.
    assert got == ((acc * factor >> (14 - rescale.shift)) + 1) >> 1
    channels = rescale_wide_channels(np.array([[0, acc]]), (Rescale(0, 0), rescale), axis=1)
    assert channels.tolist() == [[0, got]]


def correct_softmax(x: np.ndarray, scale: float) -> np.ndarray:
    """The function over the last axis, rounded to codes of the scale 2**-15."""
    e = np.exp(scale * (x - x.max(axis=-1, keepdims=True)).astype(np.float64))
    return np.minimum(np.rint(e / e.sum(axis=-1, keepdims=True) * 2**15), 32767)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([1, 2, 3, 10, 100, 1000]),
    scale=st.floats(2**-20, 0.69),
    spread=st.sampled_from([1, 30, 1000, 32768]),
)
def test_softmax_is_at_most_one_code_off(seed: int, size: int, scale: float, spread: int) -> None:
    x = np.random.default_rng(seed).integers(-spread, spread, (4, size))
    got = softmax_s16(x, softmax_multiplier(scale))
    assert got.min() >= 0
    assert np.abs(got - correct_softmax(x, scale)).max() <= 1


@pytest.mark.parametrize("below", [0, 1, 700, 719, 721, 1500])
def test_softmax_of_the_most_elements(below: int) -> None:
    """65,536 of them: all equal, or one, or two, so far above the others that these count as almost
    nothing, each of them."""
    for largest in (1, 2):
        x = np.full(2**16, -below)
        x[:largest] = 0
        scale = 0.03
        off = np.abs(softmax_s16(x, softmax_multiplier(scale)) - correct_softmax(x, scale))
        assert off.max() <= 1


@given(st.sampled_from(WIDE_TABLES), st.integers(-32767, 32767), st.integers(-(2**14), 2**14))
def test_a_table_of_a_line_gives_the_line(entries: int, rise: int, offset: int) -> None:
    """Which an interpolation is at its entries, and half a code from at most between them."""
    codes = np.arange(-32768, 32769, 65536 // (entries - 1))
    table = np.floor_divide(codes * rise, 2**16) + offset
    x = np.arange(-32768, 32768)
    got = interpolate(x, table)
    assert np.array_equal(got[:: 65536 // (entries - 1)], table[:-1])
    between = np.interp(x, codes, table)
    assert np.abs(got - between).max() <= 0.5
    assert (np.diff(got) * np.sign(rise) >= 0).all()
