# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of recurrent layers, for every number that there is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from cortexm_tools.ir import DType
from cortexm_tools.ir import recurrent as cells

ALL = np.arange(-(2**19), 2**19)
HEADER = Path(__file__).parents[2] / "kernels" / "src" / "recurrent" / "cells.h"


def test_functions_are_at_most_one_code_off() -> None:
    tanh = np.clip(np.round(2**15 * np.tanh(ALL / 2**16)), -(2**15), 2**15 - 1)
    assert np.abs(cells.tanh(ALL) - tanh).max() <= 1
    sigmoid = np.clip(np.round(2**15 / (1 + np.exp(-ALL / 2**15))), 0, 2**15 - 1)
    assert np.abs(cells.sigmoid(ALL) - sigmoid).max() <= 1
    assert cells.sigmoid(ALL).min() >= 0 and cells.sigmoid(ALL).max() == 2**15 - 1


def test_the_kernels_have_the_same_table() -> None:
    entries = re.findall(r"\{(-?\d+), 0x([0-9a-f]{8})\}", HEADER.read_text(encoding="utf-8"))
    found = [(int(value), int(word, 16)) for value, word in entries]
    assert found == [
        (value, ((slope << 16) | (curvature & 0xFFFF)) & 0xFFFFFFFF)
        for value, slope, curvature in cells.PARABOLAS.tolist()
    ]


def test_nothing_leaves_32_bits() -> None:
    rest = np.arange(-(2**12), 2**12)
    for value, slope, curvature in cells.PARABOLAS.tolist():
        word = (slope << 16) + (curvature & 0xFFFF) + curvature * rest
        for each in (word, value + (word >> 16) * rest):
            assert -(2**31) <= each.min() and each.max() < 2**31


def test_factors_keep_their_precision() -> None:
    random = np.random.default_rng(0)
    for dtype, least in ((DType.S8, 2.0**-17), (DType.S16, 2.0**-32)):
        for _ in range(200):
            factors = 10 ** random.uniform(-4, 3.5) * random.uniform(0.5, 1, 5)
            shift, gates = cells.gate_factors(factors.tolist(), dtype)
            assert cells.GATE_SHIFTS[dtype][0] <= shift <= cells.GATE_SHIFTS[dtype][1]
            made = np.array(gates) * 2.0 ** (shift - 16)
            assert np.abs(made - factors).max() <= max(2.0**-14 * factors.max(), least)
    for factor in 10 ** random.uniform(-6, 3, 100):
        multiplier, shift = cells.out_factor(factor)
        assert abs(multiplier / 2.0**shift - factor) <= max(2.0**-14 * factor, 2.0**-23)
