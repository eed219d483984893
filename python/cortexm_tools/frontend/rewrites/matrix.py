# SPDX-License-Identifier: Apache-2.0
"""Products with constant matrices as linear layers, whose weights are quantized by output channel.

x W is a linear layer with the weights W^T; A x is (x^T A^T)^T. A stack of matrices is one layer each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from .builder import Builder, Table, shape_of
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
    if math.prod(lead) != math.prod(batch) or lead[len(lead) - len(batch) :] != batch:
        return None
    if outputs == 1 and inner > 1:
        return rows_by_columns(build, x, shape, weight.reshape(-1, inner))
    if math.prod(batch) > _MOST_MATRICES:
        return None
    rows = build(_aten.reshape.default, x, [-1, *shape[-2:]])
    parts = [
        _linear(build, build(_aten.slice.Tensor, rows, 0, number, number + 1), matrix)
        for number, matrix in enumerate(weight.reshape(-1, inner, outputs))
    ]
    joined = build(_aten.cat.default, parts, 0)
    return build(_aten.reshape.default, joined, [*lead, shape[-2], outputs])


def _addmm(build: Builder) -> Node | None:
    args = build.arguments()
    bias, weight = build.value(args["self"]), build.value(args["mat2"])
    if bias is None or weight is None or bias.dim() != 1 or args["alpha"] != 1 or args["beta"] != 1:
        return None
    if bias.numel() != weight.shape[1] or shape_of(args["mat1"]) is None:
        return None
    return build(_aten.linear.default, args["mat1"], build.constant(weight.T), args["self"])


TABLE: Table = {
    _aten.matmul.default: _matmul,
    _aten.mm.default: _matmul,
    _aten.bmm.default: _matmul,
    _aten.addmm.default: _addmm,
}
