# SPDX-License-Identifier: Apache-2.0
"""Images in another size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class UpsampleNearest2d(Attrs):
    """x [N,C,H,W] of any type -> out[n,c,i,j] = x[n,c,rows[i],cols[j]]."""

    kind: ClassVar[str] = "upsample_nearest2d"
    rows: tuple[int, ...]
    cols: tuple[int, ...]


@dataclass(frozen=True)
class Between:
    """A place between two neighbours: (1 - weight) of `low` and `weight`, a float32, of `high`."""

    low: int
    high: int
    weight: float


@dataclass(frozen=True)
class UpsampleBilinear2d(Attrs):
    """x [N,C,H,W] f32 or s8 -> the same, interpolated between rows, and between columns first.

    In s8 weights are rounded to multiples of 2**-11 and sums are exact; they are rounded once, ties
    to the even distance from `zero_point`.
    """

    kind: ClassVar[str] = "upsample_bilinear2d"
    rows: tuple[Between, ...]
    cols: tuple[Between, ...]
    zero_point: int = 0
