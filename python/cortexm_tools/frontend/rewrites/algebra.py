# SPDX-License-Identifier: Apache-2.0
"""Formulas of linear algebra: products of tensors, and parts of matrices.

What PyTorch itself divides into permutations and matrix products is left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .volumes import margins_of

Formula = Callable[..., Any]
Tensor = torch.Tensor
_aten: Any = torch.ops.aten


# -- products -------------------------------------------------------------------------------------


def _einsum(equation: str, tensors: Sequence[Tensor], path: Any) -> Any:
    """PyTorch writes it as permutations, products and a batched matrix product."""
    return torch.einsum(equation, *tensors)


def _divided(operator: Any) -> Formula:
    """As PyTorch itself writes it."""
    return lambda **arguments: operator(**arguments)


def _outer(self: Tensor, vec2: Tensor) -> Tensor:
    return self.unsqueeze(1) * vec2.unsqueeze(0)


def _dot(self: Tensor, other: Tensor | None = None, tensor: Tensor | None = None) -> Tensor:
    right = other if tensor is None else tensor
    assert right is not None
    return torch.sum(self * right, [0])


def _matrix_vector(self: Tensor, vec: Tensor) -> Tensor:
    return torch.matmul(self, vec.unsqueeze(1)).squeeze(1)


def _baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Tensor:
    product: Tensor = torch.bmm(batch1, batch2)
    return self * beta + product * alpha if (beta, alpha) != (1, 1) else self + product


def _addmv(self: Tensor, mat: Tensor, vec: Tensor, beta: float, alpha: float) -> Tensor:
    product = _matrix_vector(mat, vec) * alpha
    return self * beta + product


def _addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: float, alpha: float) -> Tensor:
    product: Tensor = torch.bmm(batch1, batch2).sum([0]) * alpha
    return self * beta + product


def _bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Any) -> Tensor:
    """x^T W y for every output: a linear layer on the products of every x with every y."""
    products = input1.unsqueeze(-1) * input2.unsqueeze(-2)
    return torch.nn.functional.linear(products.flatten(-2), weight.flatten(1), bias)


def _cross(self: Tensor, other: Tensor, dim: int | None) -> Tensor:
    """Of components i + 1 and i + 2, less that of i + 2 and i + 1."""
    along = self.shape.index(3) if dim is None else dim

    def turned(x: Tensor, by: int) -> Tensor:
        return torch.cat([x.narrow(along, by, 3 - by), x.narrow(along, 0, by)], along)

    return turned(self, 1) * turned(other, 2) - turned(self, 2) * turned(other, 1)


# -- layers whose weights are computed ------------------------------------------------------------


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    result = torch.matmul(input, weight.mT)
    return result if bias is None else result + bias


def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int] | str,
    dilation: Sequence[int],
    groups: int,
) -> Tensor | None:
    """Products of the kernels with the windows, a matrix for each group: no layer takes such kernels."""
    margins = margins_of(padding, weight.shape[2:], dilation)
    if margins is None:
        return None
    dims = weight.dim() - 2
    if dims == 1:
        input, weight = input.unsqueeze(2), weight.unsqueeze(2)
        stride, margins, dilation = [1, *stride], [0, *margins], [1, *dilation]
    kernel = tuple(weight.shape[2:])
    windows = torch.nn.functional.unfold(
        input, kernel, tuple(dilation), tuple(margins), tuple(stride)
    )
    rows = weight.reshape([1, groups, weight.shape[0] // groups, -1])
    batch = input.shape[0]
    if batch > 1:
        rows = rows.expand([batch, -1, -1, -1])
    columns = windows.reshape([batch, groups, rows.shape[3], -1])
    size = [
        (n + 2 * margin - gap * (taps - 1) - 1) // step + 1
        for n, margin, gap, taps, step in zip(
            input.shape[2:], margins, dilation, kernel, stride, strict=True
        )
    ]
    result = torch.matmul(rows, columns).reshape([batch, -1, *size[-dims:]])
    return result if bias is None else result + bias.reshape([-1, *([1] * dims)])


# -- parts ----------------------------------------------------------------------------------------


def _triangle(lower: bool) -> Formula:
    def formula(self: Tensor, diagonal: int) -> Tensor:
        ones = torch.ones(self.shape[-2:], dtype=torch.bool)
        kept = ones.tril(diagonal) if lower else ones.triu(diagonal)
        return self.masked_fill(~kept, 0.0)

    return formula


def _diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A step of one row and one column at a time through the rows behind each other."""
    matrix = self.movedim((dim1, dim2), (-2, -1))
    rows, columns = matrix.shape[-2:]
    begin = max(offset, -offset * columns)
    count = min(rows + min(offset, 0), columns - max(offset, 0))
    end = begin + (count - 1) * (columns + 1) + 1
    result: Tensor = _aten.slice.Tensor(matrix.flatten(-2), -1, begin, end, columns + 1)
    return result


def _trace(self: Tensor) -> Tensor:
    return _diagonal(self).sum([-1])


FORMULAS: dict[Any, Formula] = {
    _aten.einsum.default: _einsum,
    _aten.inner.default: _divided(_aten.inner.default),
    _aten.tensordot.default: _divided(_aten.tensordot.default),
    _aten.kron.default: _divided(_aten.kron.default),
    _aten.linalg_multi_dot.default: _divided(_aten.linalg_multi_dot.default),
    _aten.outer.default: _outer,
    _aten.dot.default: _dot,
    _aten.vdot.default: _dot,
    _aten.mv.default: _matrix_vector,
    _aten.baddbmm.default: _baddbmm,
    _aten.addmv.default: _addmv,
    _aten.addbmm.default: _addbmm,
    _aten.bilinear.default: _bilinear,
    _aten.cross.default: _cross,
    _aten.linalg_cross.default: _cross,
    _aten.tril.default: _triangle(True),
    _aten.triu.default: _triangle(False),
    _aten.diagonal.default: _diagonal,
    _aten.trace.default: _trace,
}

DIVIDED = {
    _aten.einsum.default,
    _aten.inner.default,
    _aten.tensordot.default,
    _aten.kron.default,
    _aten.linalg_multi_dot.default,
}
"""Those whose formula is PyTorch's own implementation, which tracing sees through."""

COMPUTED_KERNELS: dict[Any, Formula] = {
    _aten.linear.default: _linear,
    _aten.conv1d.default: _convolution,
    _aten.conv1d.padding: _convolution,
    _aten.conv2d.default: _convolution,
    _aten.conv2d.padding: _convolution,
}
"""For calls whose weights are no constants."""
