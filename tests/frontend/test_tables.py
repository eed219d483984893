# SPDX-License-Identifier: Apache-2.0
"""Tables of functions of one code."""

from __future__ import annotations

import numpy as np
import torch

from cortexm_tools.frontend.lower.tables import table_of


def test_clamp_with_equal_parameters_clips_codes() -> None:
    table = table_of(lambda x: torch.clamp(x, 0.5, 2.0), 1 / 64, -128, 1 / 64, -128).numpy()
    assert np.array_equal(table, np.clip(np.arange(-128, 128), -96, 0))


def test_hardswish() -> None:
    s, z, t, y = 0.05, 10, 0.03, -115
    table = table_of(torch.nn.functional.hardswish, s, z, t, y).numpy()
    x = (np.arange(-128, 128) - z) * s
    values = x * np.clip(x + 3, 0, 6) / 6
    assert np.array_equal(table, np.clip(np.rint(values / t) + y, -128, 127))
    assert table[0] == y  # far below -3
    assert table[255] == 80  # x = 5.85, where the function is the identity
