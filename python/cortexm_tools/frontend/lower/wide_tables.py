# SPDX-License-Identifier: Apache-2.0
"""Tables of functions of int16 codes, between whose entries the kernel interpolates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from ...ir.wide import smallest_table


def wide_table(
    function: Callable[[torch.Tensor], torch.Tensor], scale: float, out_scale: float
) -> torch.Tensor:
    """A table of `function` on int16 codes, which the kernel interpolates (docs/numerics.md).

    Args:
        function: of float64 values.
        scale: of the codes it is given; `out_scale` of those it gives.

    Returns:
        int16 [n + 1], with the smallest n from 512 on for which no code is off by more than one,
        or 4,096.
    """
    codes = torch.arange(-32768, 32769, dtype=torch.float64)
    values = torch.round(function(codes * scale) / out_scale).clamp(-32768, 32767)
    return torch.from_numpy(smallest_table(values.numpy()).astype(np.int16))


def factor_of(function: Callable[[torch.Tensor], torch.Tensor], scale: float) -> float | None:
    """The positive number by which a float64 function multiplies the value of every code, if it is no
    other function than that."""
    values = torch.arange(-32768, 32768, dtype=torch.float64) * scale
    results = function(values)
    factor = float(results[-1] / values[-1])
    same = factor > 0 and torch.allclose(results, factor * values, rtol=1e-12, atol=0.0)
    return factor if same else None
