# SPDX-License-Identifier: Apache-2.0
"""Normalizations, float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class FloatLayerNorm(Attrs):
    """x f32, weight [size] f32, bias [size] f32 -> f32; rows of the last `size` elements.

    (x - mean) * (1 / sqrt(variance + epsilon)) * weight + bias, over each row.
    """

    kind: ClassVar[str] = "float_layer_norm"
    size: int
    epsilon: float


@dataclass(frozen=True)
class FloatGroupNorm(Attrs):
    """x [N,C,...] f32, weight [C] f32, bias [C] f32 -> f32; groups of C / groups channels.

    As FloatLayerNorm over each group, with one weight and bias for each channel.
    """

    kind: ClassVar[str] = "float_group_norm"
    groups: int
    epsilon: float
