# SPDX-License-Identifier: Apache-2.0
"""Products with constant matrices as linear layers, whose weights are quantized by output channel.

x W is a linear layer with the weights W^T; A x is (x^T A^T)^T. A stack of matrices is one layer each, a large
one a product of stacks.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from .builder import Builder, Table, shape_of
from .unary import scaled
from .weighted import rows_by_columns

_aten = torch.ops.aten

_MOST_MATRICES = 64


def _matmul(build: Builder) -> Node | None:
    left, right = build.node.args[:2]
    if build.node.kwargs or len(build.node.args) != 2:
        return None
    shape, weight = shape_of(left), build.value(right)
    if shape and weight is not None and weight.dtype == torch.float32:
        return _by_matrix(build, left, shape, weight)
    if shape and build.value(left) is None:
        return _by_computed(build, left, right, shape)
    shape, weight = shape_of(right), build.value(left)
    if not shape or weight is None or weight.dtype != torch.float32:
        return None
    if len(shape) == 1:  # there is nothing to turn
        return _by_matrix(build, right, shape, weight.t()) if weight.dim() <= 2 else None
    turned = build(_aten.transpose.int, right, -2, -1)
    shape = (*shape[:-2], shape[-1], shape[-2])
    if weight.dim() == 1:
        return _by_matrix(build, turned, shape, weight)
    result = _by_matrix(build, turned, shape, weight.transpose(-2, -1))
    return None if result is None else build(_aten.transpose.int, result, -2, -1)


def _by_computed(build: Builder, left: Any, right: Any, shape: tuple[int, ...]) -> Node | None:
    """Rows of `left`, of that shape, times a matrix: a stack of one, as the quantizer knows no other."""
    if len(shape) < 2 or len(shape_of(right) or ()) != 2:
        return None
    rows = build(_aten.reshape.default, left, [1, -1, shape[-1]])
    result = build(_aten.bmm.default, rows, build(_aten.unsqueeze.default, right, 0))
    return build(_aten.reshape.default, result, [*shape[:-1], -1])


def _linear(build: Builder, x: Any, matrix: torch.Tensor) -> Node:
    return build(_aten.linear.default, x, build.constant(matrix.T))


def _by_matrix(build: Builder, x: Any, shape: tuple[int, ...], weight: torch.Tensor) -> Node | None:
    """x times the matrix `weight`, or each matrix of x times its matrix of `weight`."""
    if weight.dim() == 1:
        column = _linear(build, x, weight.unsqueeze(1))
        return build(_aten.squeeze.dim, column, len(shape) - 1)
    if weight.dim() == 2:
        return _linear(build, x, weight)
    batch, (inner, outputs) = tuple(weight.shape[:-2]), weight.shape[-2:]
    if len(shape) < 2:
        return None
    if math.prod(batch) == 1:
        result = _linear(build, x, weight.reshape(inner, outputs))
        whole = np.broadcast_shapes(shape[:-2], batch)
        if len(whole) == len(shape) - 2:
            return result
        return build(_aten.reshape.default, result, [*whole, shape[-2], outputs])
    lead = shape[:-2]
    if outputs == 1 and inner > 1 and math.prod(lead) == math.prod(batch):
        if lead[len(lead) - len(batch) :] == batch:
            return rows_by_columns(build, x, shape, weight.reshape(-1, inner))
    return _by_stack(build, x, shape, weight)


def _by_stack(build: Builder, x: Any, shape: tuple[int, ...], weight: torch.Tensor) -> Node:
    """Each matrix of x times its matrix of `weight`, where some may have the same one on either side: rows of
    all that have one matrix of `weight` are multiplied together."""
    rows, inner, outputs = shape[-2], *weight.shape[-2:]
    whole = np.broadcast_shapes(shape[:-2], tuple(weight.shape[:-2]))
    rank = len(whole)
    weight = weight.reshape((1,) * (rank + 2 - weight.dim()) + tuple(weight.shape))
    own = [d for d in range(rank) if weight.shape[d] > 1]
    order = own + [d for d in range(rank) if d not in own]
    moved = order != list(range(rank))
    if shape[:-2] != whole:
        x = build(_aten.expand.default, x, [*whole, rows, inner])
    if moved:
        x = build(_aten.permute.default, x, [*order, rank, rank + 1])
    matrices = weight.reshape(-1, inner, outputs)
    x = build(_aten.reshape.default, x, [len(matrices), -1, inner])
    if len(matrices) > _MOST_MATRICES:
        result = build(_aten.bmm.default, x, build.constant(matrices))
    else:
        parts = [
            _linear(build, build(_aten.slice.Tensor, x, 0, number, number + 1), matrix)
            for number, matrix in enumerate(matrices)
        ]
        result = build(_aten.cat.default, parts, 0)
    result = build(_aten.reshape.default, result, [*(whole[d] for d in order), rows, outputs])
    if moved:
        back = [order.index(d) for d in range(rank)]
        result = build(_aten.permute.default, result, [*back, rank, rank + 1])
    return result


def _addmm(build: Builder) -> Node | None:
    """beta times a matrix and alpha times x W; one layer where the matrix is a constant row."""
    args = build.arguments()
    x, weight, added = args["mat1"], build.value(args["mat2"]), build.value(args["self"])
    alpha, beta = float(args["alpha"]), float(args["beta"])
    shape = shape_of(x)
    if shape is None or (weight is None and shape_of(args["mat2"]) is None):
        return None
    if weight is None:
        rows = _by_computed(build, x, args["mat2"], shape)
        if rows is None or build.value(x) is not None:
            return None
        product = rows if alpha == 1 else scaled(build, rows, alpha)
    elif added is not None and added.numel() in (1, *added.shape[-1:]):
        row = build.constant((beta * added).reshape(-1).expand(weight.shape[1]))
        return build(_aten.linear.default, x, build.constant(alpha * weight.T), row)
    else:
        product = _linear(build, x, alpha * weight)
    if added is not None:
        return build(_aten.add.Tensor, product, build.constant(beta * added))
    term = args["self"] if beta == 1 else scaled(build, args["self"], beta)
    return build(_aten.add.Tensor, product, term)


TABLE: Table = {
    _aten.matmul.default: _matmul,
    _aten.mm.default: _matmul,
    _aten.bmm.default: _matmul,
    _aten.addmm.default: _addmm,
}
