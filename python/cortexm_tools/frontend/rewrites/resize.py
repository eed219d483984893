# SPDX-License-Identifier: Apache-2.0
"""Nearest-neighbour upsampling as movement of data.

By whole factors each row and column is repeated: a new dimension after it is expanded and joined.
By others the rows and columns are selected with the indices that PyTorch's own operator takes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node

from .builder import Builder, Table, shape_of

_aten = torch.ops.aten


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
        result = target(ramp.reshape(shape), output, None)
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
    for dim in range(len(shape) - 1, 1, -1):
        wanted = int(value.shape[dim])
        indices = _indices(build, dim, size[dim], wanted)
        factor = wanted // size[dim]
        if torch.equal(indices, torch.arange(wanted)):
            continue
        if torch.equal(indices, torch.arange(size[dim]).repeat_interleave(factor)):
            apart = [*size[: dim + 1], 1, *size[dim + 1 :]]
            result = build(_aten.reshape.default, result, apart)
            apart[dim + 1] = factor
            result = build(_aten.expand.default, result, apart)
            size[dim] = wanted
            result = build(_aten.reshape.default, result, list(size))
        else:
            result = build(_aten.index_select.default, result, dim, build.constant(indices))
            size[dim] = wanted
    return result if isinstance(result, Node) and result is not args["input"] else None


TABLE: Table = {
    _aten.upsample_nearest1d.vec: _nearest,
    _aten.upsample_nearest2d.vec: _nearest,
}
