# SPDX-License-Identifier: Apache-2.0
"""Windows over images, which convolutions and pools share: how many there are, and what is in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .rules import Subject

# Kernels count positions of an image in 16 bits.
_EXTENT = (1, 2**15)
_PADDING = (0, 2**15)

Axes = tuple[slice, slice]  # rows and columns


@dataclass(frozen=True)
class Window:
    """Windows at regular distances over an image; pairs are (height, width).

    Attributes:
        kernel: taps of a window.
        stride: pixels from one window to the next.
        padding: (top, left, bottom, right), pixels around the image. Transposed convolutions, where
            windows are written, cut them off the full result.
        dilation: pixels from one tap of a window to the next.
    """

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int] = (1, 1)

    @property
    def reach(self) -> tuple[int, int]:
        """Positions from a window's first tap to its last."""
        rows, columns = (d * (k - 1) + 1 for d, k in zip(self.dilation, self.kernel, strict=True))
        return rows, columns

    # -- checks -----------------------------------------------------------------------------------

    def check(self, op: Subject) -> None:
        """Everything has the right number and range."""
        pairs = {"kernel": self.kernel, "stride": self.stride, "dilation": self.dilation}
        for name, pair in pairs.items():
            op.require(len(pair) == 2, f"the {name} is not a pair")
        op.require(len(self.padding) == 4, "padding is (top, left, bottom, right)")
        op.within(_EXTENT, **pairs)
        op.within(_PADDING, padding=self.padding)

    def check_extents(self, op: Subject) -> None:
        """The result has a pixel for every window that fits in the padded image."""
        for axis in (0, 1):
            size = self.padding[axis] + op.x.shape[2 + axis] + self.padding[2 + axis]
            room = size - self.reach[axis]
            count = room // self.stride[axis] + 1
            have = op.out.shape[2 + axis]
            op.require(
                room >= 0 and have == count,
                f"the result has size {have}, the windows give {max(count, 0)}",
            )

    def check_cut(self, op: Subject) -> None:
        """The result of a transposed convolution is the full one without its padding, and perhaps with
        some more behind it."""
        for axis in (0, 1):
            full = (op.x.shape[2 + axis] - 1) * self.stride[axis] + self.reach[axis]
            least = full - self.padding[axis] - self.padding[2 + axis]
            have = op.out.shape[2 + axis]
            op.require(have >= least, f"the result has size {have}, the operands give {least}")

    def check_pixels(self, op: Subject) -> None:
        """No window lies outside the image."""
        for axis in (0, 1):
            last = (op.out.shape[2 + axis] - 1) * self.stride[axis] - self.padding[axis]
            before = self.padding[axis] >= self.reach[axis]
            op.require(
                not before and last < op.x.shape[2 + axis], "a window lies outside the image"
            )

    # -- meaning ----------------------------------------------------------------------------------

    def over(self, x: npt.NDArray[Any], count: tuple[int, ...], fill: float) -> npt.NDArray[Any]:
        """All windows of x [N,C,H,W] as [N,C,*count,KH,KW], `fill` outside the image."""
        n, c, h, w = x.shape
        top, left = self.padding[:2]
        extent_h, extent_w = (
            (number - 1) * stride + reach
            for number, stride, reach in zip(count, self.stride, self.reach, strict=True)
        )
        padded = np.full((n, c, max(extent_h, top + h), max(extent_w, left + w)), fill, x.dtype)
        padded[:, :, top : top + h, left : left + w] = x
        sn, sc, sh, sw = padded.strides
        (stride_h, stride_w), (dilation_h, dilation_w) = self.stride, self.dilation
        return np.lib.stride_tricks.as_strided(
            padded,
            (n, c, *count, *self.kernel),
            (sn, sc, sh * stride_h, sw * stride_w, sh * dilation_h, sw * dilation_w),
            writeable=False,
        )

    def taps(
        self, count: tuple[int, ...], image: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, int], Axes, Axes]]:
        """Each tap (row, column), one row of them after another: the windows, of `count` (height, width),
        that have it in the image, and its pixels there."""
        for tap in itertools.product(*map(range, self.kernel)):
            (to_y, from_y), (to_x, from_x) = (
                _span(
                    count[axis],
                    image[axis],
                    self.stride[axis],
                    tap[axis] * self.dilation[axis] - self.padding[axis],
                )
                for axis in (0, 1)
            )
            yield (tap[0], tap[1]), (to_y, to_x), (from_y, from_x)


def _span(out: int, extent: int, stride: int, first: int) -> tuple[slice, slice]:
    """Along one axis: the outputs o whose tap o * stride + first is inside, and those positions."""
    begin = max(0, -(first // stride))
    end = max(begin, min(out, (extent - 1 - first) // stride + 1))
    start = begin * stride + first
    return slice(begin, end), slice(start, start + (end - begin) * stride, stride)
