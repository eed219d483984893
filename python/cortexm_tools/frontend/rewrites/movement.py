# SPDX-License-Identifier: Apache-2.0
"""Formulas of operators that move values: paddings, roll, windows, and resampling by a grid.

PyTorch would compute indices; slices and concatenations move the same values as they are, so that
codes stay codes and the plan can let what makes a part write it in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp.decompositions import grid_sampler_2d

Tensor = torch.Tensor
_aten: Any = torch.ops.aten

_MOST_WEIGHTS = 1 << 14  # of a linear layer in the place of an interpolation


# -- paddings -------------------------------------------------------------------------------------


def _reflected(x: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    size = x.shape[dim]
    low, high = x.narrow(dim, 1, before), x.narrow(dim, size - 1 - after, after)
    return (
        low.flip([dim]) if before > 1 else low,
        high.flip([dim]) if after > 1 else high,
    )


def _replicated(x: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    def repeated(start: int, count: int) -> Tensor:
        shape = list(x.shape)
        shape[dim] = count
        return x.narrow(dim, start, 1).expand(shape)

    return repeated(0, before), repeated(x.shape[dim] - 1, after)


def _wrapped(x: Tensor, dim: int, before: int, after: int) -> tuple[Tensor, Tensor]:
    return x.narrow(dim, x.shape[dim] - before, before), x.narrow(dim, 0, after)


_EDGES: dict[str, Callable[[Tensor, int, int, int], tuple[Tensor, Tensor]]] = {
    "reflect": _reflected,
    "replicate": _replicated,
    "circular": _wrapped,
}


def _pad(self: Tensor, pad: Sequence[int], mode: str, value: Any = None) -> Tensor | None:
    """Pairs of `pad` from the last dimension on; corners are padded in both directions."""
    if mode == "constant":
        return _cropped(self, pad, value or 0)
    if mode not in _EDGES or min(pad) < 0:
        return None
    result = self
    for number in range(len(pad) // 2):
        dim, before, after = self.dim() - 1 - number, pad[2 * number], pad[2 * number + 1]
        low, high = _EDGES[mode](result, dim, before, after)
        parts = [part for part in (low, result, high) if part.shape[dim] > 0]
        if len(parts) > 1:
            result = torch.cat(parts, dim)
    return result


def _cropped(self: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor | None:
    """Negative padding takes elements away: slices, and padding with what is positive."""
    if not pad or min(pad) >= 0:
        return None
    result = self
    for number in range(len(pad) // 2):
        before, after = (max(-n, 0) for n in pad[2 * number : 2 * number + 2])
        if before or after:
            dim = self.dim() - 1 - number
            result = result.narrow(dim, before, self.shape[dim] - before - after)
    if max(pad) <= 0:
        return result
    return torch.constant_pad_nd(result, [max(n, 0) for n in pad], value)


def _padding(mode: str) -> Callable[..., Tensor | None]:
    return lambda self, padding: _pad(self, padding, mode)


def _roll(self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    if not dims:
        return _roll(self.reshape([-1]), shifts, [0]).reshape(self.shape)
    result = self
    for shift, dim in zip(shifts, dims, strict=True):
        size = result.shape[dim]
        start = -shift % size if size else 0
        if start:
            parts = [result.narrow(dim, start, size - start), result.narrow(dim, 0, start)]
            result = torch.cat(parts, dim)
    return result


def _shaped_as(self: Tensor, other: Tensor) -> Tensor:
    return self.reshape(other.shape)


def _turned(self: Tensor) -> Tensor:
    return self.permute(list(reversed(range(self.dim()))))


def _matrices_turned(self: Tensor) -> Tensor:
    return self.transpose(-2, -1)


# -- windows --------------------------------------------------------------------------------------


def _shifted(x: Tensor, dim: int, count: int, step: int, length: int, stride: int) -> Tensor:
    """[…, count, length, …]: for each of `count` shifts by `step`, every `stride`-th element."""
    end = (length - 1) * stride + 1
    parts = [
        _aten.slice.Tensor(x, dim, shift * step, shift * step + end, stride)
        for shift in range(count)
    ]
    return torch.stack(parts, dim)


def _unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor | None:
    """The windows along a dimension, each along a new last one."""
    if self.dim() == 0 or size == 0:
        return None
    dim, last = dimension % self.dim(), self.dim()
    count = (self.shape[dim] - size) // step + 1
    if size == step:
        shape = [*self.shape[:dim], count, size, *self.shape[dim + 1 :]]
        return self.narrow(dim, 0, count * size).reshape(shape).movedim(dim + 1, last)
    if size <= count:
        return _shifted(self, dim, size, 1, count, step).movedim(dim, last)
    return _shifted(self, dim, count, step, size, 1).movedim(dim + 1, last)


def _windows_of(size: int, kernel: int, dilation: int, padding: int, stride: int) -> int:
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _im2col(
    self: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Tensor | None:
    """[N, C * kernel, windows], as torch.nn.functional.unfold."""
    if self.dim() != 4:
        return None
    batch, channels = self.shape[:2]
    kernel = list(kernel_size)
    out = [
        _windows_of(self.shape[2 + i], kernel[i], dilation[i], padding[i], stride[i])
        for i in range(2)
    ]
    x = self
    if any(padding):
        x = torch.constant_pad_nd(x, [padding[1], padding[1], padding[0], padding[0]])
    apart = [out[0] * kernel[0], out[1] * kernel[1]]
    if kernel == list(stride) and set(dilation) == {1} and list(x.shape[2:]) == apart:
        tiles = x.reshape([batch, channels, out[0], kernel[0], out[1], kernel[1]])
        windows = tiles.permute([0, 1, 3, 5, 2, 4])
    else:
        rows = _shifted(x, 2, kernel[0], dilation[0], out[0], stride[0])
        columns = _shifted(rows, 4, kernel[1], dilation[1], out[1], stride[1])
        windows = columns.permute([0, 1, 2, 4, 3, 5])  # from [N, C, kh, oh, kw, ow]
    return windows.reshape([batch, channels * kernel[0] * kernel[1], out[0] * out[1]])


def _col2im(
    self: Tensor,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Tensor | None:
    """Of windows that do not overlap, as torch.nn.functional.fold."""
    if self.dim() != 3 or any(padding) or set(dilation) != {1}:
        return None
    height, width = kernel_size
    rows, columns = output_size[0] // height, output_size[1] // width
    whole = [rows * height, columns * width] == list(output_size)
    if list(stride) != [height, width] or not whole:
        return None
    batch, channels = self.shape[0], self.shape[1] // (height * width)
    tiles = self.reshape([batch, channels, height, width, rows, columns])
    image = tiles.permute([0, 1, 4, 2, 5, 3])
    return image.reshape([batch, channels, *output_size])


# -- resampling -----------------------------------------------------------------------------------


def _resized(
    x: Tensor, dim: int, function: Any, output_size: Any, align_corners: bool, factors: Any
) -> Tensor:
    """`x` with its dimension `dim`, of those of the image, resized: a linear layer with constant
    weights, which are what `function` makes of the rows of an identity matrix: with antialias it
    takes a row by itself, but not a column."""
    size, rank = x.shape[dim], x.dim()
    wanted, scales = None, None
    if output_size is not None:
        wanted = [1] * (rank - 2)
        wanted[-1] = int(output_size[dim - 2])
    else:
        scales = [1.0] * (rank - 2)
        scales[-1] = float(factors[dim - 2])
    rows = torch.eye(size).reshape([size, *[1] * (rank - 2), size])
    weights = function(rows, wanted, align_corners, scales)
    turned = x if dim == rank - 1 else x.transpose(dim, rank - 1)
    turned = torch.nn.functional.linear(turned, weights.reshape([size, -1]).t())
    return turned if dim == rank - 1 else turned.transpose(dim, rank - 1)


def _outputs(size: int, number: int, output_size: Any, factors: Any) -> int:
    return int(output_size[number]) if output_size is not None else int(size * factors[number])


def _linear_1d(input: Tensor, output_size: Any, align_corners: bool, scale_factors: Any) -> Tensor:
    """A linear layer; of long rows, whose weights would be many, an image of one row."""
    size = input.shape[2]
    if size * _outputs(size, 0, output_size, scale_factors) <= _MOST_WEIGHTS:
        function = _aten.upsample_linear1d.vec
        return _resized(input, 2, function, output_size, align_corners, scale_factors)
    wide = None if output_size is None else [1, int(output_size[0])]
    factors = None if scale_factors is None else [1.0, float(scale_factors[0])]
    result: Tensor = _aten.upsample_bilinear2d.vec(input.unsqueeze(2), wide, align_corners, factors)
    return result.squeeze(2)


def _by_columns_and_rows(function: Any) -> Callable[..., Tensor | None]:
    """Resampling whose weights are those of one direction times those of the other."""

    def formula(
        input: Tensor, output_size: Any, align_corners: bool, scale_factors: Any
    ) -> Tensor | None:
        result = input
        for dim in (3, 2):
            size = input.shape[dim]
            if size * _outputs(size, dim - 2, output_size, scale_factors) > _MOST_WEIGHTS:
                return None
            result = _resized(result, dim, function, output_size, align_corners, scale_factors)
        return result

    return formula


def _affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor | None:
    """Pixels' places, from -1 to 1, times the matrices `theta` [N, 2, 3]."""
    if len(size) != 4:
        return None
    height, width = size[2:]

    def ramp(count: int) -> Tensor:
        places = torch.linspace(-1, 1, count) if count > 1 else torch.zeros(count)
        return places if align_corners else places * ((count - 1) / count)

    base = torch.stack(
        [
            ramp(width).reshape([1, width]).expand([height, width]),
            ramp(height).reshape([height, 1]).expand([height, width]),
            torch.ones([height, width]),
        ],
        -1,
    ).reshape([height * width, 3])
    grid = torch.matmul(base.expand([size[0], -1, -1]), theta.transpose(1, 2))
    return grid.reshape([size[0], height, width, 2])


def _grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor | None:
    """By PyTorch's own decomposition: elements by index, and weights."""
    if input.dim() != 4:
        return None
    result: Tensor = grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)
    return result


FORMULAS: dict[Any, Callable[..., Any]] = {
    _aten.pad.default: _pad,
    _aten.reflection_pad1d.default: _padding("reflect"),
    _aten.reflection_pad2d.default: _padding("reflect"),
    _aten.replication_pad1d.default: _padding("replicate"),
    _aten.replication_pad2d.default: _padding("replicate"),
    _aten.roll.default: _roll,
    _aten.reshape_as.default: _shaped_as,
    _aten.view_as.default: _shaped_as,
    _aten.numpy_T.default: _turned,
    _aten.mT.default: _matrices_turned,
    _aten.im2col.default: _im2col,
    _aten.unfold.default: _unfold,
    _aten.col2im.default: _col2im,
    _aten.upsample_linear1d.vec: _linear_1d,
    _aten.upsample_bicubic2d.vec: _by_columns_and_rows(_aten.upsample_bicubic2d.vec),
    _aten._upsample_bicubic2d_aa.vec: _by_columns_and_rows(_aten._upsample_bicubic2d_aa.vec),
    _aten._upsample_bilinear2d_aa.vec: _by_columns_and_rows(_aten._upsample_bilinear2d_aa.vec),
}

FLOAT_FORMULAS: dict[Any, Callable[..., Any]] = {
    _aten.affine_grid_generator.default: _affine_grid,
    _aten.grid_sampler.default: _grid_sampler,
    _aten.grid_sampler_2d.default: _grid_sampler,
}
"""Those that compute places, for which codes of eight bits are too coarse."""
