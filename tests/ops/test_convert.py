# SPDX-License-Identifier: Apache-2.0
"""Conversions of every float."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.ir import DType, ops

from tests.support.single_operator import run


def test_quantize_survives_every_float() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, 1e30, -1e30, np.inf, -np.inf, np.nan, 3e38], np.float32)
    result = run(ops.Quantize(1.0, 1, -128, 127), [x], (10,))
    assert result.tolist() == [1, 3, 3, 1, 127, -128, 127, -128, 1, 127]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (300.7, DType.S8, 44),
        (-1.9, DType.U8, 255),
        (-1.9, DType.S16, -1),
        (3e9, DType.S32, 2**31 - 1),
        (-3e9, DType.S32, -(2**31)),
        (3e9, DType.S64, 3 * 10**9),
        (1e30, DType.S64, 2**63 - 1),
        (-1e30, DType.S64, -(2**63)),
        (float("nan"), DType.S32, 0),
        (float("inf"), DType.S16, -1),
        (float("nan"), DType.BOOL, 1),
        (-0.0, DType.BOOL, 0),
        (0.25, DType.BOOL, 1),
    ],
)
def test_cast_of_floats(value: float, dtype: DType, expected: int) -> None:
    assert run(ops.Cast(), [np.array([value], np.float32)], (1,), dtype)[0] == expected
