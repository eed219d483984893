# SPDX-License-Identifier: Apache-2.0
"""Images in another size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64, round_away
from ..floats import F32, Floats
from ..rules import INT8, Subject
from ..types import Array, DType, Tensor

WEIGHT_UNIT = 2048  # weights of interpolated codes are multiples of 1 / WEIGHT_UNIT


@operator(
    layout=Layout.COPY,
    overwrites=Operands.NONE,
    work=Work.MOVE,
    channels=Channels.IMAGES,
    exact=True,
)
@dataclass(frozen=True)
class UpsampleNearest2d(Attrs):
    """x [N,C,H,W] of any type -> out[n,c,i,j] = x[n,c,rows[i],cols[j]]."""

    kind: ClassVar[str] = "upsample_nearest2d"
    rows: tuple[int, ...]
    cols: tuple[int, ...]

    def check(self, op: Subject) -> None:
        _check_image(op, len(self.rows), len(self.cols))
        op.types(*DType)
        for places, extent in ((self.rows, op.x.shape[2]), (self.cols, op.x.shape[3])):
            _check_inside(op, places, extent)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        return x[:, :, list(self.rows)][:, :, :, list(self.cols)]


@dataclass(frozen=True)
class Between:
    """A place between two neighbours: (1 - weight) of `low` and `weight`, a float32, of `high`."""

    low: int
    high: int
    weight: float


@operator(
    layout=Layout.EITHER_IMAGE,
    overwrites=Operands.NONE,
    work=Work.PASS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class UpsampleBilinear2d(Attrs):
    """x [N,C,H,W] f32, s8 or s16 -> the same, interpolated between rows, and between columns first.

    On codes weights are rounded to multiples of 2**-11 and sums are exact; they are rounded once, ties
    to the even distance from `zero_point`, or with `away`, of s8 alone, away from the code 0.
    """

    kind: ClassVar[str] = "upsample_bilinear2d"
    rows: tuple[Between, ...]
    cols: tuple[Between, ...]
    zero_point: int = 0
    away: bool = False

    def check(self, op: Subject) -> None:
        _check_image(op, len(self.rows), len(self.cols))
        op.types(DType.F32, DType.S8, DType.S16)
        for places, extent in ((self.rows, op.x.shape[2]), (self.cols, op.x.shape[3])):
            _check_inside(op, tuple(place.low for place in places), extent)
            _check_inside(op, tuple(place.high for place in places), extent)
            inside = all(0.0 <= place.weight <= 1.0 for place in places)
            op.require(inside, "a weight lies outside of [0, 1]")
        op.within(INT8, zero_point=self.zero_point)
        if op.x.dtype is DType.S16:
            op.require(self.zero_point == 0, "int16 codes have a zero point")
        if self.away:
            op.require(op.x.dtype is DType.S8, "ties go away from 0 of int8 codes alone")
            op.require(self.zero_point == 0, "ties go away from 0, not from a zero point")

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        above, below = [place.low for place in self.rows], [place.high for place in self.rows]
        before, after = [place.low for place in self.cols], [place.high for place in self.cols]
        if x.dtype == np.float32:
            real: Floats = x.astype(F32)
            right = np.array([place.weight for place in self.cols], F32)
            down = np.array([place.weight for place in self.rows], F32)[:, None]
            wide = real[..., before] * (F32(1) - right) + real[..., after] * right
            return np.asarray(wide[:, :, above] * (F32(1) - down) + wide[:, :, below] * down)
        codes = x.astype(np.int64) - self.zero_point
        to_right, to_below = code_weights(self.cols), code_weights(self.rows)[:, None]
        rows = codes[..., before] * (WEIGHT_UNIT - to_right) + codes[..., after] * to_right
        total = rows[:, :, above] * (WEIGHT_UNIT - to_below) + rows[:, :, below] * to_below
        # Exact in float64: below 2**39 over 2**22.
        exact = total / float(WEIGHT_UNIT**2)
        rounded = round_away(exact) if self.away else np.rint(exact)
        return np.asarray(rounded.astype(np.int64) + self.zero_point)


def nearest_places(size: int, out: int, scale: float | None) -> tuple[int, ...]:
    """floor(i * step), with step = 1 / scale, or size / out without a scale."""
    step = F32(1.0 / scale if scale is not None else size / out)
    return tuple(min(int(np.floor(F32(i) * step)), size - 1) for i in range(out))


def linear_places(
    size: int, out: int, scale: float | None, align_corners: bool
) -> tuple[Between, ...]:
    """Places between input pixels.

    With aligned corners i * (size - 1) / (out - 1); else (i + 1/2) * step - 1/2, not below 0, with
    the step of nearest_places.
    """
    if size == out:
        return tuple(Between(i, i, 0.0) for i in range(out))
    if align_corners:
        step = F32((size - 1) / (out - 1) if out > 1 else 0.0)
    else:
        step = F32(1.0 / scale if scale is not None else size / out)
    places = []
    for i in range(out):
        at = F32(i) * step
        if not align_corners:
            at = max(step * (F32(i) + F32(0.5)) - F32(0.5), F32(0.0))
        low = min(int(np.floor(at)), size - 1)
        weight = float(min(max(at - F32(low), F32(0.0)), F32(1.0)))
        places.append(Between(low, min(low + 1, size - 1), weight))
    return tuple(places)


def code_weights(places: tuple[Between, ...]) -> I64:
    """Weights of interpolated codes, in units of 2**-11."""
    weights = np.array([place.weight for place in places], np.float64)
    return np.asarray(np.rint(weights * WEIGHT_UNIT), np.int64)


def _check_image(op: Subject, rows: int, cols: int) -> None:
    op.counts(1)
    op.rank(op.x, 4)
    op.shape_of(op.out, *op.x.shape[:2], rows, cols)


def _check_inside(op: Subject, places: tuple[int, ...], extent: int) -> None:
    op.require(all(0 <= place < extent for place in places), "a place lies outside of the image")
