# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, int8 and float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class Linear(Attrs):
    """x [..., K] s8, weight [O, K] s8, [bias [O] s32] -> [..., O] s8. One requantization for all."""

    kind: ClassVar[str] = "linear"
    in_zero_point: int
    weight_zero_point: int
    out_zero_point: int
    multiplier: int
    shift: int
    act_min: int
    act_max: int


@dataclass(frozen=True)
class BatchMatmul(Attrs):
    """lhs [B,M,K] s8, rhs transposed [B,N,K] s8 -> [B,M,N] s8."""

    kind: ClassVar[str] = "batch_matmul"
    lhs_zero_point: int
    rhs_zero_point: int
    out_zero_point: int
    multiplier: int
    shift: int


@dataclass(frozen=True)
class FloatLinear(Attrs):
    """x [..., K] f32, weight [O, K] f32, [bias [O] f32] -> [..., O] f32."""

    kind: ClassVar[str] = "float_linear"


@dataclass(frozen=True)
class FloatMatmul(Attrs):
    """a [..., M, K] f32, b [..., K, N] f32, of one rank, [bias f32] -> [..., M, N] f32.

    The bias broadcasts to the result.
    """

    kind: ClassVar[str] = "float_matmul"
