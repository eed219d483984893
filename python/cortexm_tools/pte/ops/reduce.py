# SPDX-License-Identifier: Apache-2.0
"""Portable reductions over dimensions, places of extremes, and running sums."""

from __future__ import annotations

from collections.abc import Callable

from ...ir import ops
from ...ir.types import DType, Tensor
from ..call import Call, Table, register
from ..operands import require_float
from ..values import ScalarType

TABLE: Table = {}

_NUMBERS = (DType.F32, DType.S8, DType.S16, DType.S32, DType.S64, DType.U8)


def reduced_shape(shape: tuple[int, ...], dims: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """`shape` without `dims`, or with size one there."""
    kept = (1 if d in dims else size for d, size in enumerate(shape) if keepdim or d not in dims)
    return tuple(kept)


def _reduce_dims(call: Call, number: int, rank: int) -> tuple[int, ...]:
    """An int[] of dimensions, or one int; absent or empty means all."""
    if call.is_none(number):
        return tuple(range(rank))
    value = call.program.values[call.instruction.args[number]]
    if isinstance(value, int):
        return (call.dim(number, rank),)
    return tuple(sorted(call.dims(number, rank))) or tuple(range(rank))


def _as_s64(call: Call, x: int) -> int:
    """Integers and booleans are summed in int64; codes are no integers."""
    info = call.info(x)
    call.require_dtype(x, DType.S64, DType.S32, DType.S16, DType.U8, DType.BOOL)
    if info.dtype is DType.S64:
        return x
    wide = Tensor("x", DType.S64, info.shape, info.dim_order)
    return call.emit_new(ops.Cast(), wide, x)


def _reduce(name: str, function: str, args: int, *dtypes: DType) -> None:
    def convert(call: Call) -> None:
        x = call.tensor(0)
        if function == "sum" and call.out_tensor().dtype is DType.S64:
            x = _as_s64(call, x)
        info = call.info(x)
        if info.dtype is not DType.S64 and function in ("sum", "mean"):
            require_float(call, x)
        call.require_dtype(x, *dtypes)
        if args == 4:
            call.require(
                call.is_none(3) or call.integer(3) == ScalarType[info.dtype.name],
                "reducing in another type is not supported",
            )
        dims, keepdim = _reduce_dims(call, 1, len(info.shape)), call.boolean(2)
        call.require_out(reduced_shape(info.shape, dims, keepdim), info.dtype)
        call.emit(ops.Reduce(function, dims, keepdim), x)

    register(TABLE, name, args=args)(convert)


@register(TABLE, "aten::mean.dtype_out", args=2)
def _mean_of_all(call: Call) -> None:
    x = call.tensor(0)
    require_float(call, x)
    call.require_out((), DType.F32)
    dims = tuple(range(len(call.info(x).shape)))
    call.emit(ops.Reduce("mean", dims, False), x)


_reduce("aten::mean.out", "mean", 4, DType.F32)
_reduce("aten::sum.IntList_out", "sum", 4, DType.F32, DType.S64)
_reduce("aten::amax.out", "amax", 3, *_NUMBERS)
_reduce("aten::amin.out", "amin", 3, *_NUMBERS)
_reduce("aten::any.out", "any", 3, DType.BOOL)
_reduce("aten::any.dims_out", "any", 3, DType.BOOL)
_reduce("aten::all.out", "all", 3, DType.BOOL)


def _extreme_with_index(function: str) -> Callable[[Call], None]:
    def convert(call: Call) -> None:
        x = call.tensor(0)
        info = call.info(x)
        call.require_dtype(x, *_NUMBERS)
        dim, keepdim = call.dim(1, len(info.shape)), call.boolean(2)
        shape = reduced_shape(info.shape, (dim,), keepdim)
        call.require_out(shape, info.dtype)
        call.require_out(shape, DType.S64, number=1)
        call.emit(ops.ArgReduce(function, dim, keepdim), x)

    return convert


register(TABLE, "aten::min.dim_min", args=3, outs=2)(_extreme_with_index("min"))
register(TABLE, "aten::max.dim_max", args=3, outs=2)(_extreme_with_index("max"))


def _index_of_extreme(function: str) -> Callable[[Call], None]:
    def convert(call: Call) -> None:
        x = call.tensor(0)
        info = call.info(x)
        call.require_dtype(x, *_NUMBERS)
        if call.is_none(1):
            call.require(not call.boolean(2), "keepdim without a dimension is not supported")
            flat = Tensor("x", info.dtype, (info.numel,), (0,))
            call.require_out((), DType.S64)
            call.emit(ops.ArgReduce(function, 0, False), call.emit_new(ops.View(), flat, x))
            return
        dim, keepdim = call.dim(1, len(info.shape)), call.boolean(2)
        call.require_out(reduced_shape(info.shape, (dim,), keepdim), DType.S64)
        call.emit(ops.ArgReduce(function, dim, keepdim), x)

    return convert


register(TABLE, "aten::argmin.out", args=3)(_index_of_extreme("min"))
register(TABLE, "aten::argmax.out", args=3)(_index_of_extreme("max"))


@register(TABLE, "aten::topk.values", args=5, outs=2)
def _topk(call: Call) -> None:
    """Results that need no order (``sorted=False``) have one, too."""
    x = call.tensor(0)
    info = call.info(x)
    call.require_dtype(x, *_NUMBERS)
    k, dim, largest = call.integer(1), call.dim(2, len(info.shape)), call.boolean(3)
    size = info.shape[dim]
    call.require(1 <= k <= size, f"k is {k}, must lie in [1, {size}]")
    shape = tuple(k if d == dim else extent for d, extent in enumerate(info.shape))
    call.require_out(shape, info.dtype)
    call.require_out(shape, DType.S64, number=1)
    call.emit(ops.TopK(dim, largest), x)


@register(TABLE, "aten::cumsum.out", args=3)
def _cumsum(call: Call) -> None:
    """The operand is converted to the result's type first."""
    x = call.tensor(0)
    info, out = call.info(x), call.out_tensor()
    call.require(
        info.dtype is not DType.S8 or out.dtype is not DType.S8, "sums of codes are no codes"
    )
    call.require_out(info.shape, DType.F32, DType.S32, DType.S64)
    call.require(bool(info.shape), "the operand must have a dimension")
    dim = call.dim(1, len(info.shape))
    if info.dtype is not out.dtype:
        wide = Tensor("x", out.dtype, info.shape, info.dim_order)
        x = call.emit_new(ops.Cast(), wide, x)
    call.emit(ops.Cumsum(dim), x)
