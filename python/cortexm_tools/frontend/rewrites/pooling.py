# SPDX-License-Identifier: Apache-2.0
"""Pools over images in the one form that ExecuTorch lowers correctly.

All sizes are pairs, the stride is stated, and ceil_mode is set only where it gives one more window.
An average that counts its padding is one of the padded image. With ceil_mode the windows are those of
the image, whose last one must begin inside it or its padding before; the padded image by itself
could have one more. An average with a divisor of its own is a depthwise convolution with equal
weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from .builder import Builder, Table, numbers, shape_of

_aten = torch.ops.aten


@dataclass(frozen=True)
class Windows:
    """Where a pool looks; each list has an entry for the height and one for the width.

    Attributes:
        overhang: by how much the last windows reach beyond the padding, for ceil_mode.
    """

    kernel: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    overhang: list[int]

    @property
    def ceil_mode(self) -> bool:
        return any(self.overhang)


def windows(
    size: tuple[int, ...],
    kernel: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    *,
    ceil_mode: bool = False,
) -> Windows:
    """The windows in an image of `size`, (height, width), from the arguments of a pool."""
    k, p, d = numbers(kernel, 2), numbers(padding, 2), numbers(dilation, 2)
    s = numbers(stride, 2) if stride not in (None, [], ()) else k
    overhang = [0, 0]
    if ceil_mode:
        overhang = [
            rounded_up_padding(size[i], d[i] * (k[i] - 1) + 1, s[i], p[i]) for i in range(2)
        ]
    return Windows(k, s, p, d, overhang)


def rounded_up_padding(size: int, kernel: int, stride: int, padding: int) -> int:
    """By how much the input must grow at its end for a pool that rounds down to give the output
    size of one that rounds up, where a window must begin inside the input or its left padding."""
    outputs = -(-(size + 2 * padding - kernel) // stride) + 1
    if (outputs - 1) * stride >= size + padding:
        outputs -= 1
    return max(0, (outputs - 1) * stride + kernel - size - 2 * padding)


def average(
    build: Builder,
    source: Node,
    shape: tuple[int, ...],
    where: Windows,
    *,
    count_padding: bool,
    divisor: int | None = None,
) -> Node:
    """The averages of `source`, of four dimensions.

    Args:
        shape: ends in the channels, height and width of `source`.
        count_padding: whether the padding counts as so many zeros.
        divisor: what the sums are divided by, instead of by the number of elements.
    """
    channels, *size = shape[-3:]
    if divisor is not None:
        return _weighted(build, source, channels, where, 1 / divisor)
    padding = where.padding
    if count_padding and any(padding):
        source = _padded(build, source, size, where)
        padding = [0, 0]
    return build(
        _aten.avg_pool2d.default,
        *(source, where.kernel, where.stride, padding, where.ceil_mode, False),
    )


def _padded(build: Builder, source: Any, size: list[int], where: Windows) -> Node:
    """`source` with its padding, without what no window of a dimension reads that has as many
    windows with ceil_mode as without: the padded image must not have more with it."""
    pads: list[int] = []
    for i in (1, 0):
        before, left_over = where.padding[i], 0
        if where.ceil_mode and not where.overhang[i]:
            left_over = (size[i] + 2 * before - where.kernel[i]) % where.stride[i]
        cut = max(0, left_over - before)
        if cut:
            source = build(_aten.slice.Tensor, source, 2 + i, 0, size[i] - cut)
        pads += [before, before + cut - left_over]
    return build(_aten.constant_pad_nd.default, source, pads, 0.0)


def _weighted(build: Builder, source: Any, channels: int, where: Windows, weight: float) -> Node:
    bottom, right = where.overhang
    if where.ceil_mode:
        source = build(_aten.constant_pad_nd.default, source, [0, right, 0, bottom], 0.0)
    kernel = build.constant(torch.full((channels, 1, *where.kernel), weight))
    return build(
        _aten.conv2d.default,
        *(source, kernel, None, where.stride, where.padding, [1, 1], channels),
    )


def _avg_pool2d(build: Builder) -> Node | None:
    args = build.arguments()
    shape = shape_of(args["self"])
    if shape is None or len(shape) not in (3, 4):
        return None
    names = ("kernel_size", "stride", "padding")
    where = windows(shape[-2:], *(args[n] for n in names), ceil_mode=args["ceil_mode"])
    result = average(
        build,
        _batched(build, args["self"], shape),
        shape,
        where,
        count_padding=args["count_include_pad"],
        divisor=args["divisor_override"],
    )
    return result if len(shape) == 4 else build(_aten.squeeze.dim, result, 0)


def _max_pool2d(build: Builder) -> Node | None:
    args = build.arguments()
    shape = shape_of(args["self"])
    if shape is None or len(shape) not in (3, 4):
        return None
    names = ("kernel_size", "stride", "padding", "dilation")
    where = windows(shape[-2:], *(args[n] for n in names), ceil_mode=args["ceil_mode"])
    source = _batched(build, args["self"], shape)
    sizes = where.kernel, where.stride, where.padding, where.dilation
    result = build(_aten.max_pool2d.default, source, *sizes, where.ceil_mode)
    return result if len(shape) == 4 else build(_aten.squeeze.dim, result, 0)


def _batched(build: Builder, source: Any, shape: tuple[int, ...]) -> Any:
    return source if len(shape) == 4 else build(_aten.unsqueeze.default, source, 0)


TABLE: Table = {
    _aten.avg_pool2d.default: _avg_pool2d,
    _aten.max_pool2d.default: _max_pool2d,
}
