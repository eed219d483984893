# SPDX-License-Identifier: Apache-2.0
"""Pools over windows of images, int8 and float32."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..floats import F32, Floats
from ..geometry import Window
from ..rules import CODES, INT32, Subject
from ..types import Array, DType, Tensor


@operator(
    layout=Layout.IMAGE,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.IMAGES,
    exact=True,
)
@dataclass(frozen=True)
class AvgPool2d(Attrs):
    """x [N,C,H,W] s8 or s16 -> that type; padding does not count."""

    kind: ClassVar[str] = "avg_pool2d"
    window: Window

    def check(self, op: Subject) -> None:
        _check_average(self.window, op, *CODES)
        pixels = math.prod(map(min, self.window.kernel, op.x.shape[2:]))
        # A sum of codes, with half the divisor for the rounding.
        largest = -op.x.dtype.limits[0] * pixels + pixels // 2
        op.require(largest <= INT32[1], f"the sum of {pixels} codes does not fit in 32 bits")

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        ones = np.ones((1, 1, *x.shape[2:]), np.int64)
        total, count = (
            self.window.over(image, results[0].shape[2:], 0).sum(axis=(4, 5))
            for image in (x.astype(np.int64), ones)
        )
        magnitude = (np.abs(total) + count // 2) // count
        return np.clip(np.where(total < 0, -magnitude, magnitude), *results[0].dtype.limits)


@operator(
    layout=Layout.IMAGE,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.IMAGES,
    exact=True,
)
@dataclass(frozen=True)
class MaxPool2d(Attrs):
    """x [N,C,H,W] s8 or s16 -> that type; padding never wins."""

    kind: ClassVar[str] = "max_pool2d"
    window: Window
    act_min: int
    act_max: int

    def check(self, op: Subject) -> None:
        _check_pool(self.window, op, *CODES)
        op.clamp(self.act_min, self.act_max)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        below = results[0].dtype.limits[0] - 1
        found = self.window.over(x.astype(np.int64), results[0].shape[2:], below)
        return np.asarray(np.clip(found.max(axis=(4, 5)), self.act_min, self.act_max))


@operator(
    layout=Layout.SAME, overwrites=Operands.NONE, work=Work.SUMS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class FloatAvgPool2d(Attrs):
    """x [N,C,H,W] f32 -> f32; window sums divided by `divisor`.

    Without a divisor, by the number of pixels in the window: padding counts if `count_padding`,
    what hangs over the padded image never does.
    """

    kind: ClassVar[str] = "float_avg_pool2d"
    window: Window
    declared_padding: tuple[int, int]
    count_padding: bool
    divisor: int | None

    def check(self, op: Subject) -> None:
        _check_average(self.window, op, DType.F32)
        op.require(len(self.declared_padding) == 2, "the declared padding is a pair")
        op.within((0, 2**15), declared_padding=self.declared_padding)
        if self.divisor is not None:
            op.within((1, INT32[1]), divisor=self.divisor)

    def compute(self, results: tuple[Tensor, ...], x: Floats) -> Array:
        total = np.zeros(results[0].shape, F32)
        for _, (to_y, to_x), (from_y, from_x) in self.window.taps(total.shape[2:], x.shape[2:]):
            total[:, :, to_y, to_x] += x[:, :, from_y, from_x]
        if self.divisor is not None:
            return np.asarray(total / F32(self.divisor))
        counts = [self._counts(axis, total.shape[2 + axis], x.shape[2 + axis]) for axis in (0, 1)]
        return np.asarray(total / np.outer(counts[0], counts[1]).astype(F32))

    def _counts(self, axis: int, out: int, extent: int) -> npt.NDArray[np.int64]:
        """For each window along one axis its positions that count."""
        around = self.declared_padding[axis] if self.count_padding else 0
        first = np.arange(out) * self.window.stride[axis] - self.window.padding[axis]
        end = np.minimum(first + self.window.kernel[axis], extent + around)
        return np.asarray(end - np.maximum(first, -around))


@operator(
    layout=Layout.SAME, overwrites=Operands.NONE, work=Work.SUMS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class FloatMaxPool2d(Attrs):
    """x [N,C,H,W] f32 -> f32; padding never wins, and a NaN always does."""

    kind: ClassVar[str] = "float_max_pool2d"
    window: Window

    def check(self, op: Subject) -> None:
        _check_pool(self.window, op, DType.F32)

    def compute(self, results: tuple[Tensor, ...], x: Floats) -> Array:
        best = np.full(results[0].shape, -np.inf, F32)
        for _, (to_y, to_x), (from_y, from_x) in self.window.taps(best.shape[2:], x.shape[2:]):
            value, old = x[:, :, from_y, from_x], best[:, :, to_y, to_x]
            best[:, :, to_y, to_x] = np.where((value > old) | np.isnan(value), value, old)
        return best


def _check_average(window: Window, op: Subject, *dtypes: DType) -> None:
    op.require(window.dilation == (1, 1), "an average has no dilation")
    _check_pool(window, op, *dtypes)


def _check_pool(window: Window, op: Subject, *dtypes: DType) -> None:
    op.counts(1)
    op.types(*dtypes)
    for tensor in (op.x, op.out):
        op.rank(tensor, 4)
    op.require(op.x.shape[:2] == op.out.shape[:2], "batch or channels differ")
    window.check(op)
    window.check_extents(op)
    window.check_pixels(op)
