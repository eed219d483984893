# SPDX-License-Identifier: Apache-2.0
"""Reductions over dimensions, places of extremes, and running sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64
from ..floats import F32
from ..rules import NUMBERS, Subject
from ..types import Array, DType, Tensor


def _sum(columns: Any) -> Any:
    """accumulate adds one element after the other; sum() would add in pairs."""
    return np.add.accumulate(columns, axis=-1, dtype=columns.dtype)[..., -1]


def _extreme(columns: Array, largest: bool) -> I64:
    """The number of the first extreme element, or of the first NaN, of every column."""
    find = np.argmax if largest else np.argmin
    return np.asarray(find(columns, axis=-1), np.int64)


def _pick(columns: Array, index: I64) -> Array:
    return np.take_along_axis(columns, index[..., None], axis=-1)[..., 0]


_ANY_TYPE = tuple(DType)
# What each function makes of the last dimension, and of which types.
_REDUCE: dict[str, tuple[Callable[[Any], Any], tuple[DType, ...]]] = {
    "sum": (_sum, (DType.F32, DType.S64)),
    "mean": (lambda columns: _sum(columns) / F32(columns.shape[-1]), (DType.F32,)),
    "amax": (lambda columns: _pick(columns, _extreme(columns, True)), _ANY_TYPE),
    "amin": (lambda columns: _pick(columns, _extreme(columns, False)), _ANY_TYPE),
    "any": (lambda columns: columns.any(axis=-1), (DType.BOOL,)),
    "all": (lambda columns: columns.all(axis=-1), (DType.BOOL,)),
}
REDUCTIONS = tuple(_REDUCE)


@operator(
    layout=Layout.ANY, overwrites=Operands.NONE, work=Work.ROWS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Reduce(Attrs):
    """x -> x reduced over `dims`; amax and amin in any type, any, all in bool.

    sum is of f32 or s64, mean of f32; float sums are sequential, in float32, in C order of the
    reduced dimensions. The first NaN wins in amax and amin.

    The reduced dimensions are in the result's shape (with size one) if `keepdim`.
    """

    kind: ClassVar[str] = "reduce"
    function: str
    dims: tuple[int, ...]
    keepdim: bool

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.one_of(self.function, REDUCTIONS)
        op.types(*_REDUCE[self.function][1])
        for dim in self.dims:
            op.dimension(dim, len(op.x.shape))
        op.require(len(set(self.dims)) == len(self.dims), "reduces a dimension twice")
        op.shape_of(op.out, *_reduced(op.x.shape, self.dims, self.keepdim))

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        function, _ = _REDUCE[self.function]
        return np.asarray(function(_columns(x, self.dims)), x.dtype).reshape(results[0].shape)


@operator(
    layout=Layout.ANY, overwrites=Operands.NONE, work=Work.ROWS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class ArgReduce(Attrs):
    """x -> [values,] s64 index of the first extreme element along `dim`; `function` min or max.

    The first NaN counts as extreme.

    With two results the first holds the extreme values, in x's type; with one result it is the
    index.
    """

    kind: ClassVar[str] = "arg_reduce"
    function: str
    dim: int
    keepdim: bool

    def check(self, op: Subject) -> None:
        op.counts(1, results=2 if len(op.outs) == 2 else 1)
        op.one_of(self.function, ("min", "max"))
        op.type_of(op.outs[-1], DType.S64)
        op.dimension(self.dim, len(op.x.shape))
        for tensor in op.outs:
            op.shape_of(tensor, *_reduced(op.x.shape, (self.dim,), self.keepdim))
        for values in op.outs[:-1]:
            op.same_type(op.x, values)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> list[Array]:
        columns = _columns(x, (self.dim,))
        found = _extreme(columns, self.function == "max")
        arrays = [_pick(columns, found), found] if len(results) == 2 else [found]
        return [array.reshape(results[0].shape) for array in arrays]


@operator(
    layout=Layout.ANY, overwrites=Operands.NONE, work=Work.ROWS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class TopK(Attrs):
    """x -> values, s64 indices: the k largest (or smallest) elements along `dim`, in order.

    k is the results' extent in `dim`. The lower index comes first where elements are equal; a NaN
    counts as the largest value.
    """

    kind: ClassVar[str] = "topk"
    dim: int
    largest: bool

    def check(self, op: Subject) -> None:
        op.counts(1, results=2)
        values, index = op.outs
        op.type_of(op.x, *NUMBERS)
        op.same_type(op.x, values)
        op.type_of(index, DType.S64)
        shape = op.x.shape
        op.dimension(self.dim, len(shape))
        op.rank(values, len(shape))
        k, size = values.shape[self.dim], shape[self.dim]
        op.require(1 <= k <= size, f"takes {k} of {size} elements")
        for tensor in op.outs:
            op.shape_of(tensor, *(k if d == self.dim else n for d, n in enumerate(shape)))

    def compute(self, results: tuple[Tensor, ...], x: Array) -> list[Array]:
        size, k = x.shape[self.dim], results[0].shape[self.dim]
        if self.largest:
            # A stable ascending sort of the reversed list, reversed: the first of equal ones is first.
            order = np.argsort(np.flip(x, self.dim), axis=self.dim, kind="stable")
            order = size - 1 - np.flip(order, self.dim)
        else:
            order = np.argsort(x, axis=self.dim, kind="stable")
        found = np.take(order, range(k), axis=self.dim)
        return [np.take_along_axis(x, found, axis=self.dim), np.asarray(found, np.int64)]


@operator(
    layout=Layout.FOLLOW,
    overwrites=Operands.NONE,
    work=Work.ROWS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Cumsum(Attrs):
    """x f32, s32 or s64 -> running sums along `dim`, in x's type (float32 sequentially)."""

    kind: ClassVar[str] = "cumsum"
    dim: int

    def check(self, op: Subject) -> None:
        op.counts(1)
        op.types(DType.F32, DType.S32, DType.S64)
        op.same_shape()
        op.dimension(self.dim, len(op.x.shape))

    def compute(self, results: tuple[Tensor, ...], x: Any) -> Array:
        return np.asarray(np.add.accumulate(x, axis=self.dim, dtype=x.dtype))


def _reduced(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    return tuple(
        1 if d in dims else extent for d, extent in enumerate(shape) if keepdim or d not in dims
    )


def _columns(x: Array, dims: tuple[int, ...]) -> Array:
    """x with `dims` as one last dimension, in C order."""
    kept = [d for d in range(x.ndim) if d not in dims]
    moved = x.transpose(*kept, *sorted(dims))
    return moved.reshape(*(x.shape[d] for d in kept), -1)
