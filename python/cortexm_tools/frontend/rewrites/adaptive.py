# SPDX-License-Identifier: Apache-2.0
"""Formulas of adaptive pools whose output size does not divide the input's.

Output i of n from an input of size s is the pool of [floor(i s / n), ceil((i + 1) s / n)). Runs of
neighbouring outputs whose windows have one size and follow at one distance are a pool of a slice;
the runs' results are joined. Averages of very many runs, as enlarging by averages (mode "area") has
them, are a linear layer along the columns and one along the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ...ir.windows import runs_of

Tensor = torch.Tensor
_aten: Any = torch.ops.aten

_MOST_POOLS = 40  # in the place of one
_MOST_WEIGHTS = 1 << 14  # of a linear layer in the place of pools


def _whole(x: Tensor, size: Sequence[int]) -> bool:
    """Whether the output size divides the input's."""
    return all(n % wanted == 0 for n, wanted in zip(x.shape[2:], size, strict=True))


def _average(self: Tensor, output_size: Sequence[int]) -> Tensor | None:
    """Rows and columns at once, which rounds once."""
    if self.dim() != 4 or _whole(self, output_size):
        return None
    runs = [runs_of(n, wanted) for n, wanted in zip(self.shape[2:], output_size, strict=True)]
    weights = max(n * wanted for n, wanted in zip(self.shape[2:], output_size, strict=True))
    if len(runs[0]) * len(runs[1]) > _MOST_POOLS and weights <= _MOST_WEIGHTS:
        return _averages(_averages(self, 3, output_size[1]), 2, output_size[0])
    rows = []
    for row in runs[0]:
        band = self.narrow(2, row.start, row.length)
        parts = [
            _aten.avg_pool2d.default(
                band.narrow(3, column.start, column.length),
                [row.size, column.size],
                [row.stride, column.stride],
            )
            for column in runs[1]
        ]
        rows.append(parts[0] if len(parts) == 1 else torch.cat(parts, 3))
    return rows[0] if len(rows) == 1 else torch.cat(rows, 2)


def _averages(x: Tensor, dim: int, wanted: int) -> Tensor:
    """Along `dim`, by a linear layer."""
    size = x.shape[dim]
    if size == wanted:
        return x
    places, outputs = torch.arange(size), torch.arange(wanted).unsqueeze(1)
    taken = places >= outputs * size // wanted
    taken = taken & (places < ((outputs + 1) * size + wanted - 1) // wanted)
    weights = taken.float() / taken.sum(1, keepdim=True)
    last = x.dim() - 1
    result = torch.nn.functional.linear(x.transpose(dim, last), weights)
    return result.transpose(dim, last)


def _maximum(x: Tensor, output_size: Sequence[int]) -> Tensor:
    """One direction after the other: maxima do not round."""
    for dim in (2, 3):
        parts = []
        for run in runs_of(x.shape[dim], output_size[dim - 2]):
            kernel, stride = [1, 1], [1, 1]
            kernel[dim - 2], stride[dim - 2] = run.size, run.stride
            part = x.narrow(dim, run.start, run.length)
            parts.append(_aten.max_pool2d.default(part, kernel, stride))
        x = parts[0] if len(parts) == 1 else torch.cat(parts, dim)
    return x


def _maximum_2d(self: Tensor, output_size: Sequence[int]) -> tuple[Tensor] | None:
    """The values; where their positions are read too the operator stays."""
    if self.dim() != 4 or _whole(self, output_size):
        return None
    return (_maximum(self, output_size),)


def _one_row(function: Callable[[Tensor, Sequence[int]], Any]) -> Callable[..., Any]:
    """The formula in one dimension of one in two."""

    def formula(self: Tensor, output_size: Sequence[int]) -> Any:
        if self.dim() != 3:
            return None
        result = function(self.unsqueeze(2), [1, int(output_size[0])])
        if isinstance(result, tuple):
            return (result[0].squeeze(2),)
        return None if result is None else result.squeeze(2)

    return formula


def _maximum_1d(self: Tensor, output_size: Sequence[int]) -> tuple[Tensor]:
    """Of whole windows too: its two results keep it from being a pool otherwise."""
    return (_maximum(self, output_size),)


FORMULAS: dict[Any, Callable[..., Any]] = {
    _aten.adaptive_avg_pool1d.default: _one_row(_average),
    _aten.adaptive_avg_pool2d.default: _average,
    _aten.adaptive_max_pool1d.default: _one_row(_maximum_1d),
    _aten.adaptive_max_pool2d.default: _maximum_2d,
}
