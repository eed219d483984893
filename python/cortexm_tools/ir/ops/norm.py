# SPDX-License-Identifier: Apache-2.0
"""Normalizations, float32."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..floats import F32, Floats, sequential_sum
from ..rules import Subject
from ..types import Array, DType, Tensor


@operator(
    layout=Layout.WEIGHTS,
    overwrites=Operands.NONE,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class FloatLayerNorm(Attrs):
    """x f32, weight [size] f32, bias [size] f32 -> f32; rows of the last `size` elements.

    (x - mean) * (1 / sqrt(variance + epsilon)) * weight + bias, over each row.
    """

    kind: ClassVar[str] = "float_layer_norm"
    size: int
    epsilon: float

    def check(self, op: Subject) -> None:
        _check_norm(op, self.epsilon)
        shape = op.x.shape
        sizes = {math.prod(shape[first:]) for first in range(len(shape) + 1)}
        op.require(self.size in sizes, f"rows of {self.size} are not the last extents of {shape}")
        for tensor in op.ins[1:]:
            have = tensor.numel
            op.require(have == self.size, f"{tensor.name!r} has {have} elements, not {self.size}")

    def compute(
        self, results: tuple[Tensor, ...], x: Floats, weight: Floats, bias: Floats
    ) -> Array:
        rows = _normalized(x.reshape(-1, self.size), self.epsilon)
        return np.asarray(rows * weight.reshape(-1) + bias.reshape(-1)).reshape(x.shape)


@operator(
    layout=Layout.EITHER_IMAGE,
    overwrites=Operands.NONE,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class FloatGroupNorm(Attrs):
    """x [N,C,...] f32, weight [C] f32, bias [C] f32 -> f32; groups of C / groups channels.

    As FloatLayerNorm over each group, with one weight and bias for each channel.
    """

    kind: ClassVar[str] = "float_group_norm"
    groups: int
    epsilon: float

    def check(self, op: Subject) -> None:
        _check_norm(op, self.epsilon)
        op.require(len(op.x.shape) >= 2, "the operand has no channels")
        channels = op.x.shape[1]
        op.within((1, channels), groups=self.groups)
        op.require(channels % self.groups == 0, "channels are not a multiple of the groups")
        for tensor in op.ins[1:]:
            op.shape_of(tensor, channels)

    def compute(
        self, results: tuple[Tensor, ...], x: Floats, weight: Floats, bias: Floats
    ) -> Array:
        n, channels = x.shape[:2]
        rows = _normalized(x.reshape(n * self.groups, -1), self.epsilon)
        pixels = rows.reshape(n, channels, -1)
        result = pixels * weight.reshape(-1, 1) + bias.reshape(-1, 1)
        return np.asarray(result).reshape(x.shape)


def _check_norm(op: Subject, epsilon: float) -> None:
    """An operand with weight and bias."""
    op.counts(3)
    op.types(DType.F32)
    op.same_shape()
    op.real(epsilon=epsilon)
    op.require(epsilon >= 0.0, f"epsilon is {epsilon}, must not be negative")


def _normalized(x: Floats, epsilon: float) -> Floats:
    """Rows of x with mean 0 and variance 1."""
    size = F32(x.shape[1])
    centred = x - sequential_sum(x, 1) / size
    variance = sequential_sum(centred * centred, 1) / size
    return np.asarray(centred * (F32(1.0) / np.sqrt(variance + F32(epsilon))))
