# SPDX-License-Identifier: Apache-2.0
"""Portable operators that compute: float32 arithmetic, comparisons, bounds, reductions.

Arithmetic on raw int8 codes is refused: it means that the lowering left an operator without its
requantization, and the program's result is wrong. Operators that only compare or select codes
(clamp, amax, eq, ...) are right on codes of one scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...ir import ops
from ...ir.types import DType, Tensor, contiguous
from ..call import Call, Table, register
from ..values import ScalarType

TABLE: Table = {}


def require_float(call: Call, *indices: int) -> None:
    """Operands must be float32."""
    for index in indices:
        dtype = call.info(index).dtype
        call.require(
            dtype is not DType.S8,
            "int8 operands without requantization: the lowering left this operator unfinished",
            "lower the model again with this project's frontend, or keep the layer in float",
        )
        call.require(dtype is DType.F32, f"an operand is {dtype.value}, must be f32")


def scalar_operand(call: Call, number: int, dtype: DType) -> int:
    """A number as a constant operand of type `dtype`, which must hold it exactly."""
    value = call.scalar(number)
    with np.errstate(all="ignore"):
        data = np.array(value).astype(dtype.numpy)
    exact = dtype is DType.F32 or data.item() == value
    call.require(exact, f"{value} is not a value of type {dtype.value}")
    return call.add_constant("scalar", data)


def _extremum(function: str, attrs: ops.Attrs) -> None:
    def convert(call: Call) -> None:
        a, b = call.tensor(0), call.tensor(1)
        dtype = call.info(a).dtype
        call.require_dtype(b, dtype)
        call.require_out(call.broadcast(a, b), dtype)
        call.emit(attrs, a, b)

    register(TABLE, f"aten::{function}.out", args=2)(convert)


_extremum("minimum", ops.Minimum())
_extremum("maximum", ops.Maximum())


def _compare(function: str) -> None:
    def tensors(call: Call) -> None:
        _emit_compare(call, function, call.tensor(0), call.tensor(1))

    def scalar(call: Call) -> None:
        x = call.tensor(0)
        _emit_compare(call, function, x, scalar_operand(call, 1, call.info(x).dtype))

    register(TABLE, f"aten::{function}.Tensor_out", args=2)(tensors)
    register(TABLE, f"aten::{function}.Scalar_out", args=2)(scalar)


def _emit_compare(call: Call, function: str, a: int, b: int) -> None:
    call.require_dtype(b, call.info(a).dtype)
    call.require_out(call.broadcast(a, b), DType.BOOL)
    call.emit(ops.Compare(function), a, b)


for _function in ops.COMPARISONS:
    _compare(_function)


def _logical(function: str) -> None:
    def convert(call: Call) -> None:
        a, b = call.tensor(0), call.tensor(1)
        call.require_dtype(a, DType.BOOL)
        call.require_dtype(b, DType.BOOL)
        call.require_out(call.broadcast(a, b), DType.BOOL)
        call.emit(ops.Logical(function), a, b)

    register(TABLE, f"aten::logical_{function}.out", args=2)(convert)
    register(TABLE, f"aten::bitwise_{function}.Tensor_out", args=2)(convert)


for _function in ops.LOGICAL_FUNCTIONS:
    _logical(_function)


def _not(call: Call) -> None:
    x = call.tensor(0)
    call.require_dtype(x, DType.BOOL)
    call.require_out(call.info(x).shape, DType.BOOL)
    call.emit(ops.LogicalNot(), x)


register(TABLE, "aten::logical_not.out", args=1)(_not)
register(TABLE, "aten::bitwise_not.out", args=1)(_not)


def _clamp(call: Call) -> None:
    x = call.tensor(0)
    dtype = call.info(x).dtype
    call.require_dtype(x, DType.F32, DType.S8, DType.S16, DType.S32)
    call.require_out(call.info(x).shape, dtype)
    low, high = _bound(call, 1, dtype), _bound(call, 2, dtype)
    call.require(low is not None or high is not None, "neither of the bounds is given")
    if low is not None and high is not None:
        call.require(low <= high, f"empty range [{low}, {high}]")
    call.emit(ops.Clamp(low, high), x)


def _bound(call: Call, number: int, dtype: DType) -> float | None:
    """A bound as the operator applies it; None if it is absent or cannot act."""
    if call.is_none(number):
        return None
    value = call.scalar(number)
    call.require(not math.isnan(value), f"argument {number} is not a number")
    if dtype is DType.F32:
        return float(np.float32(value)) if math.isfinite(value) else None
    limit = 1 << (8 * dtype.size - 1)
    whole = min(max(value, -limit), limit - 1)
    call.require(whole == int(whole), f"the bound {value} is no value of type {dtype.value}")
    return int(whole)


def _clamp_by_tensors(call: Call) -> None:
    """The larger of operand and lower bound, and the smaller of that and the upper bound."""
    x = call.tensor(0)
    dtype = call.info(x).dtype
    bounds = [(n, index) for n in (1, 2) if (index := call.optional(n)) is not None]
    call.require(bool(bounds), "neither of the bounds is given")
    for number, bound in bounds:
        call.require_dtype(bound, dtype)
        attrs: ops.Attrs = ops.Maximum() if number == 1 else ops.Minimum()
        shape = call.broadcast(x, bound)
        if number == bounds[-1][0]:
            call.require_out(shape, dtype)
            call.emit(attrs, x, bound)
        else:
            inner = Tensor("x", dtype, shape, contiguous(len(shape)), quant=call.info(x).quant)
            x = call.emit_new(attrs, inner, x, bound)


register(TABLE, "aten::clamp.out", args=3)(_clamp)
register(TABLE, "aten::clamp.Tensor_out", args=3)(_clamp_by_tensors)
register(TABLE, "aten::hardtanh.out", args=3)(_clamp)


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


_NUMBERS = (DType.F32, DType.S8, DType.S16, DType.S32, DType.S64, DType.U8)

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
