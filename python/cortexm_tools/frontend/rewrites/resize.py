# SPDX-License-Identifier: Apache-2.0
"""Nearest-neighbour upsampling as movement of data, and sampling at constant places.

By whole factors each row and column is repeated: a new dimension after it is expanded and joined.
By others the rows and columns are selected with the indices that PyTorch's own operator takes.

A pixel sampled at a constant place is a sum of up to four of the image with constant weights: they are
selected, and a depthwise convolution adds them up whose channels are the pixels of the result.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from .builder import Builder, Table, shape_of

_aten = torch.ops.aten

# Numbers of PyTorch's modes.
_BILINEAR, _NEAREST = 0, 1
_ZEROS = 0


def _indices(build: Builder, dim: int, size: int, wanted: int) -> torch.Tensor:
    """The index in `dim`, an image dimension, of the source of each of the results."""
    args = build.arguments()
    count = len(shape_of(args["input"]) or ()) - 2
    ramp = torch.arange(size, dtype=torch.float32)
    shape, output = [1] * (count + 2), [1] * count
    shape[dim], output[dim - 2] = size, wanted
    target: Any = build.node.target
    factors = args["scale_factors"]
    if factors is None:
        result: torch.Tensor = target(ramp.reshape(shape), output, None)
    else:
        scales = [1.0] * count
        scales[dim - 2] = float(factors[dim - 2])
        result = target(ramp.reshape(shape), None, scales)
    return result.reshape(-1).to(torch.int64)


def _nearest(build: Builder) -> Node | None:
    args = build.arguments()
    shape, value = shape_of(args["input"]), build.node.meta["val"]
    if shape is None:
        return None
    result: Any = args["input"]
    size = list(shape)
    factors = dict.fromkeys(range(len(shape)), 1)
    for dim in range(len(shape) - 1, 1, -1):
        wanted = int(value.shape[dim])
        indices = _indices(build, dim, size[dim], wanted)
        factor = wanted // size[dim]
        if torch.equal(indices, torch.arange(size[dim]).repeat_interleave(factor)):
            factors[dim] = factor
        else:
            result = build(_aten.index_select.default, result, dim, build.constant(indices))
            size[dim] = wanted
    if max(factors.values()) > 1:
        # All whole factors by one expansion: [N, C, H, 1, W, 1].
        apart, wide = list[int](), list[int]()
        for dim, extent in enumerate(size):
            apart += [extent] if factors[dim] == 1 else [extent, 1]
            wide += [extent] if factors[dim] == 1 else [extent, factors[dim]]
        result = build(_aten.reshape.default, result, apart)
        result = build(_aten.expand.default, result, wide)
        joined = [extent * factors[dim] for dim, extent in enumerate(size)]
        result = build(_aten.reshape.default, result, joined)
    return result if isinstance(result, Node) and result is not args["input"] else None


def _taps(
    size: tuple[int, int], grid: torch.Tensor, mode: int, padding: int, align_corners: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of which pixels each result consists: indices and weights [taps, results].

    PyTorch's operator tells where the places are once they are brought inside: by sampling ramps.
    """
    height, width = size
    sample: Any = _aten.grid_sampler_2d.default
    x, y = grid.double().reshape(-1, 2).unbind(1)
    if mode == _NEAREST:
        # In the grid's own type, as places between two pixels fall to either side by its rounding.
        kind = grid.dtype if height * width <= 1 << 24 else torch.float64
        ramp = torch.arange(height * width, dtype=kind).reshape(1, 1, height, width)
        images = torch.cat((ramp, torch.ones_like(ramp)), 1)
        found = sample(images, grid.to(kind), mode, padding, align_corners)[0]
        return found[:1].reshape(1, -1).round().long(), found[1:].reshape(1, -1)
    if padding == _ZEROS:
        if align_corners:
            x, y = (x + 1) / 2 * (width - 1), (y + 1) / 2 * (height - 1)
        else:
            x, y = ((x + 1) * width - 1) / 2, ((y + 1) * height - 1) / 2
    else:
        ramps = torch.meshgrid(
            *(torch.arange(n, dtype=torch.float64) for n in (height, width)), indexing="ij"
        )
        found = sample(torch.stack(ramps)[None], grid.double(), mode, padding, align_corners)[0]
        y, x = found.reshape(2, -1)
    indices, weights = [], []
    for row in (0, 1):
        for column in (0, 1):
            top, left = y.floor() + row, x.floor() + column
            weight = (1 - (y - top).abs()) * (1 - (x - left).abs())
            outside = (top < 0) | (top >= height) | (left < 0) | (left >= width)
            weights.append(weight.masked_fill(outside, 0))
            at = top.clamp(0, height - 1) * width + left.clamp(0, width - 1)
            indices.append(at.long())
    return torch.stack(indices), torch.stack(weights)


def _grid_sampler(build: Builder) -> Node | None:
    args = build.arguments()
    shape, grid = shape_of(args["input"]), build.value(args["grid"])
    mode, padding = int(args["interpolation_mode"]), int(args["padding_mode"])
    if shape is None or len(shape) != 4 or grid is None or mode not in (_BILINEAR, _NEAREST):
        return None
    if not bool((grid == grid[:1]).all()) or not bool(grid.isfinite().all()):
        return None
    indices, weights = _taps(shape[2:], grid[:1], mode, padding, bool(args["align_corners"]))
    if 0 in shape or not indices.numel():
        return None
    images, results = shape[0] * shape[1], indices.shape[1]
    flat = build(_aten.reshape.default, args["input"], [images, shape[2] * shape[3]])
    taken = build(_aten.index_select.default, flat, 1, build.constant(indices.reshape(-1)))
    out = [*shape[:2], *grid.shape[1:3]]
    if len(indices) == 1 and bool((weights == 1).all()):
        return build(_aten.reshape.default, taken, out)
    # All images are one, window under window: of a single image the convolution is depthwise.
    window = [2, 2] if len(indices) == 4 else [1, 1]
    taken = build(_aten.reshape.default, taken, [1, images * window[0], window[1], results])
    taken = build(_aten.permute.default, taken, [0, 3, 1, 2])
    kernel = build.constant(weights.T.reshape(results, 1, *window).float())
    summed = build(_aten.conv2d.default, taken, kernel, None, window, [0, 0], [1, 1], results)
    return build(_aten.reshape.default, build(_aten.permute.default, summed, [0, 2, 3, 1]), out)


TABLE: Table = {
    _aten.grid_sampler.default: _grid_sampler,
    _aten.grid_sampler_2d.default: _grid_sampler,
    _aten.upsample_nearest1d.vec: _nearest,
    _aten.upsample_nearest2d.vec: _nearest,
    _aten._upsample_nearest_exact1d.vec: _nearest,
    _aten._upsample_nearest_exact2d.vec: _nearest,
}
