# SPDX-License-Identifier: Apache-2.0
"""Fixed-point arithmetic against Python's integers, and against the real functions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cortexm_tools.ir.fixed_point import (
    count_leading_zeros,
    exp_on_negative,
    one_over_one_plus,
    requantize,
    rounding_shift,
)

from tests.support.single_operator import requantize_one

int32s = st.integers(-(2**31), 2**31 - 1)


@given(int32s, st.integers(2**30, 2**31 - 1), st.integers(-31, 30))
def test_requantize(acc: int, multiplier: int, shift: int) -> None:
    assert requantize(np.array([acc]), multiplier, shift)[0] == requantize_one(
        acc, multiplier, shift
    )


def test_rounding_shift_rounds_ties_away_from_zero() -> None:
    values = np.array([-6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 6])
    expected = [-2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2]
    assert rounding_shift(values, 2).tolist() == expected
    assert rounding_shift(values, 0).tolist() == values.tolist()


def test_fixed_point_functions_follow_the_real_ones() -> None:
    x = -np.arange(0, 2**31, 2**31 // 4001)
    error = np.abs(exp_on_negative(x) / 2**31 - np.exp(x / 2**26))
    assert error.max() < 3e-7
    y = np.arange(0, 2**31, 2**31 // 4001)
    error = np.abs(one_over_one_plus(y) / 2**31 - 1 / (1 + y / 2**31))
    assert error.max() < 1e-8


def test_count_leading_zeros() -> None:
    values = [0, 1, 2, 3, 2**15, 2**30 + 5, 2**31 - 1, -1]
    assert count_leading_zeros(np.array(values)).tolist() == [32, 31, 30, 30, 16, 1, 1, 0]
