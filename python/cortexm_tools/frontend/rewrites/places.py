# SPDX-License-Identifier: Apache-2.0
"""Formulas of max pools whose places are read, and of unpooling by such places.

A place is that of the first maximum in its window, as a number in the image's rows behind each other. Padding
has no place: it is a repetition of the image's edge, and stands for the pixel that it repeats, which is in
every window that such padding is in, and behind it. So the maxima and the first of them are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Node

from .pooling import Windows, windows

Tensor = torch.Tensor
Places = tuple[Tensor, Tensor]
_aten: Any = torch.ops.aten


def _pool_2d(
    self: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Places | None:
    image = self if self.dim() == 4 else self.unsqueeze(0)
    where = windows(
        tuple(image.shape[2:]), kernel_size, stride, padding, dilation, ceil_mode=ceil_mode
    )
    found = _pool(image, where)
    if found is None or self.dim() == 4:
        return found
    return found[0].squeeze(0), found[1].squeeze(0)


def _pool(x: Tensor, where: Windows) -> Places | None:
    has_padding = any(where.padding) or where.ceil_mode
    if has_padding and where.dilation != [1, 1]:
        return None  # a window need not have the pixel that its padding repeats
    values = _aten.max_pool2d.default(
        x, where.kernel, where.stride, where.padding, where.dilation, where.ceil_mode
    )
    (top, left), (below, right) = where.padding, where.overhang
    whole = x
    if has_padding:
        pads = [left, left + right, top, top + below]
        whole = torch.nn.functional.pad(x, pads, mode="replicate")
    columns = _aten.im2col.default(whole, where.kernel, where.dilation, [0, 0], where.stride)
    columns = columns.reshape([-1, math.prod(where.kernel), math.prod(values.shape[2:])])
    width = whole.shape[3]
    taps = _grid(where.kernel, where.dilation, width).flatten()
    places = taps[columns.argmax(1)].reshape(values.shape)
    places = places + _grid(values.shape[2:], where.stride, width)
    if has_padding:
        rows, columns = (
            (torch.arange(whole.shape[2 + i]) - where.padding[i]).clamp(0, x.shape[2 + i] - 1)
            for i in range(2)
        )
        places = (rows.unsqueeze(1) * x.shape[3] + columns).flatten()[places]
    return values, places


def _grid(size: Sequence[int], steps: Sequence[int], width: int) -> Tensor:
    """The places of pixels that lie so many steps apart."""
    rows = torch.arange(size[0]) * (steps[0] * width)
    return rows.unsqueeze(1) + torch.arange(size[1]) * steps[1]


def _pool_1d(
    self: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Places | None:
    def pair(value: Any, other: int) -> list[int]:
        return [other, *value] if isinstance(value, (list, tuple)) else [other, int(value)]

    sizes = (
        pair(kernel_size, 1),
        pair(stride or kernel_size, 1),
        pair(padding, 0),
        pair(dilation, 1),
    )
    found = _pool_2d(self.unsqueeze(-2), *sizes, ceil_mode)
    return None if found is None else (found[0].squeeze(-2), found[1].squeeze(-2))


def _adaptive(pool: Callable[..., Places | None]) -> Callable[..., Places | None]:
    def formula(self: Tensor, output_size: Sequence[int]) -> Places | None:
        """Of windows of one size."""
        sizes = list(zip(self.shape[-len(output_size) :], output_size, strict=True))
        if any(size % wanted for size, wanted in sizes):
            return None
        return pool(self, [size // wanted for size, wanted in sizes], None, 0, 1, False)

    return formula


def _unpool(self: Tensor, indices: Tensor, output_size: Sequence[int]) -> Tensor:
    planes = math.prod(self.shape[:-2])
    whole = torch.zeros([planes, math.prod(output_size)])
    places = torch.arange(planes).unsqueeze(1), indices.reshape([planes, -1])
    result = torch.index_put(whole, places, self.reshape([planes, -1]))
    return result.reshape([*self.shape[:-2], *output_size])


PLACES: dict[Any, Callable[..., Places | None]] = {
    _aten.max_pool1d_with_indices.default: _pool_1d,
    _aten.max_pool2d_with_indices.default: _pool_2d,
    _aten.adaptive_max_pool1d.default: _adaptive(_pool_1d),
    _aten.adaptive_max_pool2d.default: _adaptive(_pool_2d),
}
"""For calls whose places are read."""


def gives_places(call: Node) -> bool:
    """Whether the places that a max pool gives beside its maxima are read."""
    return call.target in PLACES and any(user.args[1] == 1 for user in call.users)


UNPOOL = _aten.max_unpool2d.default

FORMULAS: dict[Any, Callable[..., Any]] = {UNPOOL: _unpool}
