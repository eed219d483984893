# SPDX-License-Identifier: Apache-2.0
"""Tables of functions of int16 codes, between whose entries the kernel interpolates."""

from __future__ import annotations

from collections.abc import Callable

import torch

# Of a table with n + 1 entries, the codes -32768, -32768 + 65536 / n, … , 32768; and how many at most.
_SEGMENTS, _MOST_SEGMENTS = 512, 4096


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
    exact = torch.nan_to_num(function(codes * scale) / out_scale, nan=0.0)
    exact = torch.clamp(torch.round(exact), -32768, 32767).to(torch.int64)
    segments = _SEGMENTS
    while True:
        table = exact[:: 65536 // segments].clone()
        off = (interpolate(torch.arange(-32768, 32768), table) - exact[:-1]).abs().max()
        if off <= 1 or segments == _MOST_SEGMENTS:
            return table.to(torch.int16)
        segments *= 2


def interpolate(codes: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """What the kernel gives for codes, int64, from a table, int64 [n + 1]."""
    bits = (65536 // (len(table) - 1)).bit_length() - 1
    position = codes + 32768
    index, rest = position >> bits, position & ((1 << bits) - 1)
    low, high = table[index], table[index + 1]
    return low + (((high - low) * rest + (1 << (bits - 1))) >> bits)
