# SPDX-License-Identifier: Apache-2.0
"""Windows over images, which convolutions and pools share: how many there are, and what is in them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .rules import Subject

# Kernels count positions of an image in 16 bits.
_EXTENT = (1, 2**15)
_PADDING = (0, 2**15)


class Geometry(Protocol):
    """The attributes of an operator with windows; pairs are (height, width)."""

    @property
    def stride(self) -> tuple[int, int]: ...

    @property
    def padding(self) -> tuple[int, int, int, int]: ...


def check_geometry(attrs: Geometry, op: Subject) -> None:
    """Strides, dilations and paddings have the right number and range."""
    pairs = {"stride": attrs.stride, "dilation": dilation(attrs)}
    op.require(all(len(pair) == 2 for pair in pairs.values()), "strides and dilations are pairs")
    op.require(len(attrs.padding) == 4, "padding is (top, left, bottom, right)")
    op.within(_EXTENT, **pairs)
    op.within(_PADDING, padding=attrs.padding)


def check_kernel(attrs: Geometry, kernel: tuple[int, int], op: Subject) -> None:
    """The same for an operator whose window is an attribute."""
    check_geometry(attrs, op)
    op.require(len(kernel) == 2, "the kernel is a pair")
    op.within(_EXTENT, kernel=kernel)


def dilation(attrs: Geometry) -> tuple[int, int]:
    return getattr(attrs, "dilation", (1, 1))


def reach(kernel: int, dilation: int) -> int:
    """Positions from a window's first tap to its last."""
    return dilation * (kernel - 1) + 1


def check_extents(attrs: Geometry, kernel: tuple[int, int], op: Subject) -> None:
    """The result has a pixel for every window that fits in the padded image."""
    for axis in (0, 1):
        size = attrs.padding[axis] + op.x.shape[2 + axis] + attrs.padding[2 + axis]
        room = size - reach(kernel[axis], dilation(attrs)[axis])
        count = room // attrs.stride[axis] + 1
        have = op.out.shape[2 + axis]
        op.require(
            room >= 0 and have == count,
            f"the result has size {have}, the windows give {max(count, 0)}",
        )


def check_pixels(attrs: Geometry, kernel: tuple[int, int], op: Subject) -> None:
    """No window lies outside the image."""
    for axis in (0, 1):
        last = (op.out.shape[2 + axis] - 1) * attrs.stride[axis] - attrs.padding[axis]
        before = attrs.padding[axis] >= reach(kernel[axis], dilation(attrs)[axis])
        op.require(not before and last < op.x.shape[2 + axis], "a window lies outside the image")


def windows(
    x: npt.NDArray[Any],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[int, int, int, int],
    dilation: tuple[int, int],
    out_hw: tuple[int, int],
    fill: float,
) -> npt.NDArray[Any]:
    """All windows of x [N,C,H,W] as [N,C,H',W',KH,KW], `fill` outside the image."""
    n, c, h, w = x.shape
    reach_h = (out_hw[0] - 1) * stride[0] + reach(kernel[0], dilation[0])
    reach_w = (out_hw[1] - 1) * stride[1] + reach(kernel[1], dilation[1])
    padded = np.full(
        (n, c, max(reach_h, padding[0] + h), max(reach_w, padding[1] + w)), fill, x.dtype
    )
    padded[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w] = x
    sn, sc, sh, sw = padded.strides
    return np.lib.stride_tricks.as_strided(
        padded,
        (n, c, *out_hw, *kernel),
        (sn, sc, sh * stride[0], sw * stride[1], sh * dilation[0], sw * dilation[1]),
        writeable=False,
    )


def span(out: int, extent: int, stride: int, first: int) -> tuple[slice, slice]:
    """Along one axis: the outputs o whose tap o * stride + first is inside, and those positions."""
    begin = max(0, -(first // stride))
    end = max(begin, min(out, (extent - 1 - first) // stride + 1))
    start = begin * stride + first
    return slice(begin, end), slice(start, start + (end - begin) * stride, stride)
