# SPDX-License-Identifier: Apache-2.0
"""Portable reductions over dimensions, places of extremes, and running sums."""

from __future__ import annotations

from collections.abc import Callable

from ...ir import ops
from ...ir.types import DType, Tensor
from ..call import Call, reads
from ..operands import require_float
from ..values import ScalarType

_NUMBERS = (DType.F32, DType.S8, DType.S16, DType.S32, DType.S64, DType.U8)


def reduced_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """`shape` without `dims`, or with size one there."""
    kept = (1 if d in dims else size for d, size in enumerate(shape) if keepdim or d not in dims)
    return tuple(kept)


def _reduce_dims(call: Call, rank: int) -> tuple[int, ...]:
    """An int[] of dimensions, or one int; absent or empty means all."""
    if call.is_none("dim"):
        return tuple(range(rank))
    if call.is_integer("dim"):
        return (call.dim("dim", rank),)
    return tuple(sorted(call.dims("dim", rank))) or tuple(range(rank))


def _as_s64(call: Call, x: int) -> int:
    """Integers and booleans are summed in int64; codes are not integers."""
    info = call.info(x)
    call.require_dtype(x, DType.S64, DType.S32, DType.S16, DType.U8, DType.BOOL)
    if info.dtype is DType.S64:
        return x
    wide = Tensor("x", DType.S64, info.shape, info.dim_order)
    return call.emit_new(ops.Cast(), wide, x)


def _reduce(name: str, function: str, *dtypes: DType) -> None:
    def convert(call: Call) -> None:
        x = call.tensor("self")
        if function == "sum" and call.out_tensor().dtype is DType.S64:
            x = _as_s64(call, x)
        info = call.info(x)
        if info.dtype is not DType.S64 and function in ("sum", "mean"):
            require_float(call, x)
        call.require_dtype(x, *dtypes)
        if "dtype" in call.schema.types:
            call.require(
                call.is_none("dtype") or call.integer("dtype") == ScalarType[info.dtype.name],
                "reducing in another type is not supported",
            )
        dims, keepdim = _reduce_dims(call, len(info.shape)), call.boolean("keepdim")
        call.require_out(reduced_shape(info.shape, dims, keepdim), info.dtype)
        call.emit(ops.Reduce(function, dims, keepdim), x)

    reads(name)(convert)


@reads("aten::mean.dtype_out")
def _mean_of_all(call: Call) -> None:
    x = call.tensor("self")
    require_float(call, x)
    call.require_out((), DType.F32)
    dims = tuple(range(len(call.info(x).shape)))
    call.emit(ops.Reduce("mean", dims, False), x)


_reduce("aten::mean.out", "mean", DType.F32)
_reduce("aten::sum.IntList_out", "sum", DType.F32, DType.S64)
_reduce("aten::amax.out", "amax", *_NUMBERS)
_reduce("aten::amin.out", "amin", *_NUMBERS)
_reduce("aten::any.out", "any", DType.BOOL)
_reduce("aten::any.dims_out", "any", DType.BOOL)
_reduce("aten::all.out", "all", DType.BOOL)


def _extreme_with_index(function: str) -> Callable[[Call], None]:
    def convert(call: Call) -> None:
        x = call.tensor("self")
        info = call.info(x)
        call.require_dtype(x, *_NUMBERS)
        dim, keepdim = call.dim("dim", len(info.shape)), call.boolean("keepdim")
        shape = reduced_shape(info.shape, (dim,), keepdim)
        call.require_out(shape, info.dtype)
        call.require_out(shape, DType.S64, number=1)
        call.emit(ops.ArgReduce(function, dim, keepdim), x)

    return convert


reads("aten::min.dim_min")(_extreme_with_index("min"))
reads("aten::max.dim_max")(_extreme_with_index("max"))


def _index_of_extreme(function: str) -> Callable[[Call], None]:
    def convert(call: Call) -> None:
        x = call.tensor("self")
        info = call.info(x)
        call.require_dtype(x, *_NUMBERS)
        if call.is_none("dim"):
            call.require(
                not call.boolean("keepdim"), "keepdim without a dimension is not supported"
            )
            flat = Tensor("x", info.dtype, (info.numel,), (0,))
            call.require_out((), DType.S64)
            call.emit(ops.ArgReduce(function, 0, False), call.emit_new(ops.View(), flat, x))
            return
        dim, keepdim = call.dim("dim", len(info.shape)), call.boolean("keepdim")
        call.require_out(reduced_shape(info.shape, (dim,), keepdim), DType.S64)
        call.emit(ops.ArgReduce(function, dim, keepdim), x)

    return convert


reads("aten::argmin.out")(_index_of_extreme("min"))
reads("aten::argmax.out")(_index_of_extreme("max"))


@reads("aten::topk.values")
def _topk(call: Call) -> None:
    """Results that need no order (``sorted=False``) have one, too."""
    x = call.tensor("self")
    info = call.info(x)
    call.require_dtype(x, *_NUMBERS)
    k, dim, largest = call.integer("k"), call.dim("dim", len(info.shape)), call.boolean("largest")
    size = info.shape[dim]
    call.require(1 <= k <= size, f"k is {k}, must lie in [1, {size}]")
    shape = tuple(k if d == dim else extent for d, extent in enumerate(info.shape))
    call.require_out(shape, info.dtype)
    call.require_out(shape, DType.S64, number=1)
    call.emit(ops.TopK(dim, largest), x)


@reads("aten::cumsum.out")
def _cumsum(call: Call) -> None:
    """The operand is converted to the result's type first."""
    x = call.tensor("self")
    info, out = call.info(x), call.out_tensor()
    call.require(
        info.dtype is not DType.S8 or out.dtype is not DType.S8, "sums of codes are not codes"
    )
    call.require_out(info.shape, DType.F32, DType.S32, DType.S64)
    call.require(bool(info.shape), "the operand must have a dimension")
    dim = call.dim("dim", len(info.shape))
    if info.dtype is not out.dtype:
        wide = Tensor("x", out.dtype, info.shape, info.dim_order)
        x = call.emit_new(ops.Cast(), wide, x)
    call.emit(ops.Cumsum(dim), x)
