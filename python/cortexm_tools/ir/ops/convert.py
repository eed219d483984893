# SPDX-License-Identifier: Apache-2.0
"""Conversions from one element type to another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64, Rescale
from ..floats import F32
from ..rules import CODES, INT32, Subject
from ..types import Array, DType, Tensor


@operator(
    layout=Layout.SAME,
    overwrites=Operands.NONE,
    work=Work.CONVERT,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Quantize(Attrs):
    """x f32 -> s8 or s16: clamp(round_half_even(x * (1/scale)) + zero_point)."""

    kind: ClassVar[str] = "quantize"
    scale: float
    zero_point: int
    qmin: int
    qmax: int

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.type_of(op.x, DType.F32)
        op.type_of(op.out, *CODES)
        op.same_shape()
        op.positive(scale=self.scale)
        # What the kernels multiply by.
        inverse = 1.0 / self.scale
        op.require(
            inverse <= float(np.finfo(np.float32).max),
            f"the scale {self.scale} is too small: its inverse is not a float32",
        )
        limits = op.out.dtype.limits
        op.within(limits, zero_point=self.zero_point, qmin=self.qmin, qmax=self.qmax)
        op.require(self.qmin <= self.qmax, f"the codes [{self.qmin}, {self.qmax}] are empty")

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        scaled = x.astype(F32) * F32(1.0 / self.scale)
        rounded = np.rint(np.nan_to_num(scaled, nan=0.0, posinf=2.0**30, neginf=-(2.0**30)))
        codes = np.clip(rounded, -(2.0**30), 2.0**30).astype(np.int64) + self.zero_point
        return np.clip(codes, self.qmin, self.qmax)


@operator(
    layout=Layout.SAME,
    overwrites=Operands.NONE,
    work=Work.CONVERT,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Dequantize(Attrs):
    """x s8 or s16 -> f32: (x - zero_point) * scale."""

    kind: ClassVar[str] = "dequantize"
    scale: float
    zero_point: int

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.type_of(op.x, *CODES)
        op.type_of(op.out, DType.F32)
        op.same_shape()
        op.positive(scale=self.scale)
        op.within(op.x.dtype.limits, zero_point=self.zero_point)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        centred = (x.astype(np.int64) - self.zero_point).astype(F32)
        return np.asarray(centred * F32(self.scale))


@operator(
    layout=Layout.SAME,
    overwrites=Operands.NONE,
    work=Work.CONVERT,
    channels=Channels.EACH,
    exact=True,
)
@dataclass(frozen=True)
class Requantize(Attrs):
    """x s8 or s16 -> s8 or s16: codes of one scale as codes of another, within bounds."""

    kind: ClassVar[str] = "requantize"
    in_zero_point: int
    rescale: Rescale
    out_zero_point: int
    act_min: int
    act_max: int

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.type_of(op.x, *CODES)
        op.type_of(op.out, *CODES)
        op.same_shape()
        op.zero_points(op.x.dtype, in_zero_point=self.in_zero_point)
        op.zero_points(op.out.dtype, out_zero_point=self.out_zero_point)
        low, high = op.x.dtype.limits
        op.rescales(rescale=self.rescale)
        largest = (high - low) << max(self.rescale.shift, 0)
        op.require(largest <= INT32[1], f"codes shifted by {self.rescale.shift} exceed 32 bits")
        op.clamp(self.act_min, self.act_max)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        result = self.rescale.apply(x.astype(np.int64) - self.in_zero_point) + self.out_zero_point
        return np.clip(result, self.act_min, self.act_max)


@operator(
    layout=Layout.SAME,
    overwrites=Operands.NONE,
    work=Work.CONVERT,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Lookup(Attrs):
    """x u8 or bool, table [channels, 256] s8 or s16 -> table[c, x], in the table's type.

    c is the index along `dim`, of which there are as many as channels; of one channel it is 0
    everywhere.
    """

    kind: ClassVar[str] = "lookup"
    dim: int

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.type_of(op.x, DType.U8, DType.BOOL)
        op.type_of(op.out, *CODES)
        op.same_type(op.ins[1], op.out)
        op.same_shape()
        op.dimension(self.dim, max(len(op.x.shape), 1))
        table = op.ins[1]
        op.require(table.data is not None, "the table is no constant")
        op.rank(table, 2)
        channels = table.shape[0]
        extent = op.x.shape[self.dim] if op.x.shape else 1
        op.require(
            channels in (1, extent), f"has tables for {channels} channels, the operand {extent}"
        )
        op.shape_of(table, channels, 256)

    def compute(self, results: tuple[Tensor, ...], x: Array, table: Array) -> Array:
        channel = np.zeros(x.shape, np.int64)
        if table.shape[0] > 1:
            along = [1] * x.ndim
            along[self.dim] = -1
            channel = channel + np.arange(table.shape[0]).reshape(along)
        return np.asarray(table[channel, x.astype(np.int64)])


@operator(
    layout=Layout.FOLLOW,
    overwrites=Operands.NONE,
    work=Work.CONVERT,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Cast(Attrs):
    """x -> x in the result's element type; nonzero is true.

    Floats are cut towards zero, saturated to 32 bits (64 for s64; a NaN gives 0), and wrap to
    narrower integers, as integers do.
    """

    kind: ClassVar[str] = "cast"

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.same_shape()

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        to = results[0].dtype.numpy
        if x.dtype == np.float32 and to.kind in "iu":
            return _whole(x, np.iinfo(np.int64 if to.itemsize == 8 else np.int32)).astype(to)
        return x.astype(to)


def _whole(x: Array, limits: np.iinfo[np.signedinteger]) -> I64:  # type: ignore[type-arg]
    """Floats cut towards zero and saturated; a NaN gives 0."""
    cut = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=2.0**70, neginf=-(2.0**70)))
    result = np.full(x.shape, limits.max, np.int64)
    inside = cut < float(limits.max)
    result[inside] = np.maximum(cut[inside], float(limits.min)).astype(np.int64)
    return result
