# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic and choices, element by element as Python has them."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from cortexm_tools.ir import Attrs, DType, ops

from tests.support.single_operator import check_refused, int8s, run, same

FLOATS = np.array([-np.inf, -1.0, -0.0, 0.0, 2.5, np.inf, np.nan], np.float32)


@pytest.mark.parametrize("function", ops.COMPARISONS)
def test_comparisons(function: str) -> None:
    """Of each number with each: zeros are equal, and a NaN differs from all."""
    expected = [[getattr(operator, function)(float(a), float(b)) for b in FLOATS] for a in FLOATS]
    result = run(ops.Compare(function), [FLOATS[:, None], FLOATS], (7, 7), DType.BOOL)
    same(result, np.array(expected))


def test_logic_and_choice() -> None:
    a, b = np.array([[False], [True]]), np.array([False, True])
    for function, table in (("and", [0, 0, 0, 1]), ("or", [0, 1, 1, 1]), ("xor", [0, 1, 1, 0])):
        result = run(ops.Logical(function), [a, b], (2, 2), DType.BOOL)
        same(result, np.array(table, np.bool_).reshape(2, 2))
    same(run(ops.LogicalNot(), [b], (2,), DType.BOOL), np.array([True, False]))
    x, y = int8s(3), int8s(2, 3) - np.int8(9)
    same(run(ops.Where(), [a, x, y], (2, 3)), np.array([[-9, -8, -7], [0, 1, 2]], np.int8))


@pytest.mark.parametrize(
    ("attrs", "dtype", "message"),
    [
        (ops.Compare("eq"), DType.S8, "must be bool"),
        (ops.Compare("is"), DType.BOOL, "unknown function 'is'"),
        (ops.Logical("and"), DType.BOOL, "is s8, must be bool"),
    ],
)
def test_what_is_refused(attrs: Attrs, dtype: DType, message: str) -> None:
    check_refused(attrs, [int8s(2), int8s(2)], (2,), dtype, message)
