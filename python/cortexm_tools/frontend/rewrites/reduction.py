# SPDX-License-Identifier: Apache-2.0
"""Sums, means, softmax and others, in operators that the dialect has.

A sum or mean over any dimensions is a linear layer with equal weights, 1 or 1/n, over these dimensions
moved to the end, and the result gets a scale of its own; a cumulated sum is one with a triangle of
ones. The mean over an image's rows and columns stays: ExecuTorch makes an average pool of it. Over one
of the two it is an average pool too, which keeps its operand's scale and moves nothing. A sum over the
last dimension of products with constants has these as weights: of a linear layer, or of a depthwise
convolution if each row has its own (the weighting over time of an SVDF layer).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node

from .builder import Builder, Table, numbers, shape_of
from .weighted import is_part_of_another, weighted_sum

_aten = torch.ops.aten

# 127 * 128 * n must stay below 2**31.
_LONGEST = 1 << 16

# A cumulated sum of more takes more products and weights than sums of floats are worth.
_MOST_CUMULATED = 64


def _reduce(build: Builder) -> Node | None:
    args = build.arguments()
    shape = shape_of(args["self"])
    if not shape or args.get("dtype") not in (None, torch.float32):
        return None
    rank = len(shape)
    dims = sorted({d % rank for d in numbers(args.get("dim") or list(range(rank)), 1)})
    mean = "mean" in str(build.node.target)
    if mean and rank == 4 and dims == [2, 3]:
        return None
    if not mean:
        if is_part_of_another(build.module, build.node):
            return None  # which takes it in
        weighted = weighted_sum(build)
        if weighted is not None:
            return weighted
    count = math.prod(shape[d] for d in dims)
    kept = [d for d in range(rank) if d not in dims]
    if not 1 <= count <= _LONGEST:
        return None
    out = [1 if d in dims else shape[d] for d in range(rank) if args.get("keepdim") or d in kept]
    if mean and rank == 4 and dims in ([2], [3]) and count > 1:
        kernel = [shape[2], 1] if dims == [2] else [1, shape[3]]
        pooled = build(_aten.avg_pool2d.default, args["self"], kernel, [1, 1])
        return build(_aten.reshape.default, pooled, out)
    moved = args["self"]
    if kept + dims != list(range(rank)):
        moved = build(_aten.permute.default, moved, kept + dims)
    rows = build(_aten.reshape.default, moved, [math.prod(shape[d] for d in kept), count])
    weight = torch.full((1, count), 1 / count if mean else 1.0)
    result = build(_aten.linear.default, rows, build.constant(weight))
    return build(_aten.reshape.default, result, out)


def _softmax(build: Builder) -> Node | None:
    """Over the last dimension, where the dialect has it; the only share is all."""
    args = build.arguments()
    shape = shape_of(args["self"])
    dtype = args.get("dtype")
    if not shape or dtype not in (None, torch.float32):
        return None
    dim = int(args["dim"]) % len(shape)
    if shape[dim] == 1:
        return build.constant(torch.ones(shape))
    if math.prod(shape[dim + 1 :]) == 1:  # its rows lie one behind the other
        if dim == len(shape) - 1 and not looks_like_an_image(shape):
            return None
        return _shares_of_rows(build, args["self"], shape, shape[dim])
    order = [d for d in range(len(shape)) if d != dim] + [dim]
    moved = build(_aten.permute.default, args["self"], order)
    moved = build(_aten.clone.default, moved, memory_format=torch.contiguous_format)
    size = [shape[d] for d in order]
    if looks_like_an_image(size):
        result = _shares_of_rows(build, moved, size, shape[dim])
    else:
        result = build(_aten.softmax.int, moved, -1)
    back = [order.index(d) for d in range(len(shape))]
    return build(_aten.permute.default, result, back)


def _shares_of_rows(build: Builder, x: Node, shape: Sequence[int], length: int) -> Node:
    """Of rows that lie one behind the other."""
    rows = build(_aten.reshape.default, x, [math.prod(shape) // length, length])
    return build(_aten.reshape.default, build(_aten.softmax.int, rows, -1), list(shape))


def looks_like_an_image(shape: Sequence[int]) -> bool:
    """Whether C order is that of an image with its channels last, too, as of the scores of one head: then
    ExecuTorch's quantizer leaves a softmax over the last dimension in float."""
    return len(shape) == 4 and shape[1] == 1


def _glu(build: Builder) -> Node | None:
    args = build.arguments()
    shape = shape_of(args["self"])
    if not shape:
        return None
    half, dim = shape[int(args["dim"])] // 2, int(args["dim"])
    value = build(_aten.slice.Tensor, args["self"], dim, 0, half)
    gate = build(_aten.slice.Tensor, args["self"], dim, half, 2 * half)
    return build(_aten.mul.Tensor, value, build(_aten.sigmoid.default, gate))


def _clamp_tensor(build: Builder) -> Node | None:
    """Between tensors: maximum, then minimum."""
    args = build.arguments()
    result: Any = args["self"]
    if shape_of(result) is None:
        return None
    for bound, target in (("min", _aten.maximum.default), ("max", _aten.minimum.default)):
        if args[bound] is not None:
            result = build(target, result, args[bound])
    return result if isinstance(result, Node) and result is not args["self"] else None


def _cumulate(build: Builder) -> Node | None:
    """A linear layer whose weights are a triangle of ones."""
    args = build.arguments()
    shape = shape_of(args["self"])
    if not shape or args.get("dtype") not in (None, torch.float32):
        return None
    count = shape[args["dim"]]
    if not 1 <= count <= _MOST_CUMULATED:
        return None
    last = args["dim"] % len(shape) == len(shape) - 1
    moved = args["self"] if last else build(_aten.transpose.int, args["self"], args["dim"], -1)
    result = build(_aten.linear.default, moved, build.constant(torch.ones(count, count).tril()))
    return result if last else build(_aten.transpose.int, result, args["dim"], -1)


TABLE: Table = {
    _aten.mean.dim: _reduce,
    _aten.mean.default: _reduce,
    _aten.sum.dim_IntList: _reduce,
    _aten.sum.default: _reduce,
    _aten.cumsum.default: _cumulate,
    _aten.softmax.int: _softmax,
    _aten.glu.default: _glu,
    _aten.clamp.Tensor: _clamp_tensor,
}
