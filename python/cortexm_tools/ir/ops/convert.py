# SPDX-License-Identifier: Apache-2.0
"""Conversions from one element type to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class Quantize(Attrs):
    """x f32 -> s8 or s16: clamp(round_half_even(x * (1/scale)) + zero_point)."""

    kind: ClassVar[str] = "quantize"
    scale: float
    zero_point: int
    qmin: int
    qmax: int


@dataclass(frozen=True)
class Dequantize(Attrs):
    """x s8 or s16 -> f32: (x - zero_point) * scale."""

    kind: ClassVar[str] = "dequantize"
    scale: float
    zero_point: int


@dataclass(frozen=True)
class Cast(Attrs):
    """x -> x in the result's element type; nonzero is true.

    Floats are cut towards zero, saturated to 32 bits (64 for s64; a NaN gives 0), and wrap to
    narrower integers, as integers do.
    """

    kind: ClassVar[str] = "cast"
