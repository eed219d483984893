# SPDX-License-Identifier: Apache-2.0
"""Rules of reductions and running sums."""

from __future__ import annotations

from .. import ops
from ..types import DType
from .rules import NUMBERS, Subject, rule

_TYPES = {
    "sum": (DType.F32, DType.S64),
    "mean": (DType.F32,),
    "any": (DType.BOOL,),
    "all": (DType.BOOL,),
}


def _reduced(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    return tuple(
        1 if d in dims else extent for d, extent in enumerate(shape) if keepdim or d not in dims
    )


@rule(ops.Reduce)
def _reduce(attrs: ops.Reduce, op: Subject) -> None:
    op.counts(1)
    op.one_of(attrs.function, ops.REDUCTIONS)
    op.types(*_TYPES.get(attrs.function, tuple(DType)))
    for dim in attrs.dims:
        op.dimension(dim, len(op.x.shape))
    op.require(len(set(attrs.dims)) == len(attrs.dims), "reduces a dimension twice")
    op.shape_of(op.out, *_reduced(op.x.shape, attrs.dims, attrs.keepdim))


@rule(ops.ArgReduce)
def _arg_reduce(attrs: ops.ArgReduce, op: Subject) -> None:
    op.counts(1, results=2 if len(op.outs) == 2 else 1)
    op.one_of(attrs.function, ("min", "max"))
    op.type_of(op.outs[-1], DType.S64)
    op.dimension(attrs.dim, len(op.x.shape))
    for tensor in op.outs:
        op.shape_of(tensor, *_reduced(op.x.shape, (attrs.dim,), attrs.keepdim))
    for values in op.outs[:-1]:
        op.same_type(op.x, values)


@rule(ops.TopK)
def _topk(attrs: ops.TopK, op: Subject) -> None:
    op.counts(1, results=2)
    values, index = op.outs
    op.type_of(op.x, *NUMBERS)
    op.same_type(op.x, values)
    op.type_of(index, DType.S64)
    shape = op.x.shape
    op.dimension(attrs.dim, len(shape))
    op.rank(values, len(shape))
    k, size = values.shape[attrs.dim], shape[attrs.dim]
    op.require(1 <= k <= size, f"takes {k} of {size} elements")
    for tensor in op.outs:
        op.shape_of(tensor, *(k if d == attrs.dim else n for d, n in enumerate(shape)))


@rule(ops.Cumsum)
def _cumsum(attrs: ops.Cumsum, op: Subject) -> None:
    op.counts(1)
    op.types(DType.F32, DType.S32, DType.S64)
    op.same_shape()
    op.dimension(attrs.dim, len(op.x.shape))
