# SPDX-License-Identifier: Apache-2.0
"""Normalizations: of codes, and of float32."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..floats import F32, Floats, sequential_sum
from ..norms import EPSILON_BITS, I64, MOST_SHIFT, MOST_SIZE, finished, normalized
from ..rules import CODES, Subject
from ..types import Array, DType, Tensor

_MOST_OFFSET = 2**30  # what is added to it is below 2^27


@operator(
    layout=Layout.WEIGHTS,
    overwrites=Operands.ALL,
    work=Work.ROWS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class LayerNorm(Attrs):
    """x of codes, factor [size] s32, offset [size] s32 -> codes of x's type.

    Rows are the last `size` elements.

    A row is normalized (ir/norms.py): its mean is subtracted if `centred`, else the zero point. `epsilon` is
    added to size^2 times the variance, or the mean of the squares, in codes, in Q(Size.finer).
    """

    kind: ClassVar[str] = "layer_norm"
    size: int
    centred: bool
    in_zero_point: int
    epsilon: int
    shift: int

    def check(self, op: Subject) -> None:
        _check_codes(op, self.epsilon, self.shift)
        shape = op.x.shape
        op.require(
            1 <= self.size <= MOST_SIZE and self.size in _row_sizes(shape),
            f"rows of {self.size} are not the last extents of {shape}",
        )
        for tensor in op.ins[1:]:
            have = tensor.numel
            op.require(have == self.size, f"{tensor.name!r} has {have} elements, not {self.size}")
        op.zero_points(op.x.dtype, in_zero_point=self.in_zero_point)

    def compute(self, results: tuple[Tensor, ...], x: Array, factor: Array, offset: Array) -> Array:
        rows = normalized(
            x.reshape(-1, self.size).astype(np.int64),
            centred=self.centred,
            zero_point=self.in_zero_point,
            epsilon=self.epsilon,
            code_bits=8 * results[0].dtype.size,
        )
        codes = finished(rows, _wide(factor), _wide(offset), self.shift)
        return _limited(codes, results[0]).reshape(x.shape)


@operator(
    layout=Layout.EITHER_IMAGE,
    overwrites=Operands.NONE,
    work=Work.ROWS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class GroupNorm(Attrs):
    """x [N,C,...] of codes, factor [C] s32, offset [C] s32 -> codes of x's type.

    Groups have C / groups channels.

    As LayerNorm over each group, with one factor and offset for each channel.
    """

    kind: ClassVar[str] = "group_norm"
    groups: int
    epsilon: int
    shift: int

    def check(self, op: Subject) -> None:
        _check_codes(op, self.epsilon, self.shift)
        op.require(len(op.x.shape) >= 2, "the operand has no channels")
        n, channels = op.x.shape[:2]
        op.within((1, channels), groups=self.groups)
        op.require(channels % self.groups == 0, "channels are not a multiple of the groups")
        size = op.x.numel // max(n * self.groups, 1)
        op.require(1 <= size <= MOST_SIZE, f"groups of {size} elements, at most {MOST_SIZE}")
        for tensor in op.ins[1:]:
            op.shape_of(tensor, channels)

    def compute(self, results: tuple[Tensor, ...], x: Array, factor: Array, offset: Array) -> Array:
        n, channels = x.shape[:2]
        rows = normalized(
            x.reshape(n * self.groups, -1).astype(np.int64),
            centred=True,
            zero_point=0,
            epsilon=self.epsilon,
            code_bits=8 * results[0].dtype.size,
        ).reshape(n, channels, -1)
        codes = finished(rows, _wide(factor)[:, None], _wide(offset)[:, None], self.shift)
        return _limited(codes, results[0]).reshape(x.shape)


@operator(
    layout=Layout.WEIGHTS,
    overwrites=Operands.NONE,
    work=Work.ROWS,
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
        op.require(
            self.size in _row_sizes(shape),
            f"rows of {self.size} are not the last extents of {shape}",
        )
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
    work=Work.ROWS,
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


def _row_sizes(shape: tuple[int, ...]) -> set[int]:
    """How many elements the last dimensions have, of any number of them."""
    return {math.prod(shape[first:]) for first in range(len(shape) + 1)}


def _check_codes(op: Subject, epsilon: int, shift: int) -> None:
    """An operand of codes with factors and offsets."""
    op.counts(3)
    op.type_of(op.x, *CODES)
    op.type_of(op.out, op.x.dtype)
    op.same_shape()
    for tensor in op.ins[1:]:
        op.type_of(tensor, DType.S32)
        op.require(tensor.data is not None, f"{tensor.name!r} is no constant")
    offset = op.ins[2].data
    assert offset is not None
    ends = int(offset.min(initial=0)), int(offset.max(initial=0))
    op.within((-_MOST_OFFSET, _MOST_OFFSET), offset=ends)
    op.within((1, 2**EPSILON_BITS), epsilon=epsilon)
    op.within((0, MOST_SHIFT), shift=shift)


def _wide(values: Array) -> I64:
    return values.reshape(-1).astype(np.int64)


def _limited(codes: I64, result: Tensor) -> Array:
    return np.clip(codes, *result.dtype.limits).astype(result.dtype.numpy)


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
