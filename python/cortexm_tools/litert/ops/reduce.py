# SPDX-License-Identifier: Apache-2.0
"""Reductions over dimensions, places of extremes, the largest elements, and running sums."""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.fixed_point import Rescale, quantize_multiplier
from ...ir.types import DType
from ..call import AGAIN, Call, reads
from .slices import part


@reads("REDUCE_MAX", "REDUCE_MIN", options="ReducerOptions")
def _extreme(call: Call) -> None:
    call.types(*DType, operands=1)
    call.same_scale(call.lite(0), call.result())
    _reduce(call, "amax" if call.name == "REDUCE_MAX" else "amin")


def _reduce(call: Call, function: str) -> None:
    x = call.operand(0)
    shape = call.shape(x)
    dims = call.axes(1, len(shape))
    kept = tuple(n for dim, n in enumerate(shape) if dim not in dims)
    attrs = ops.Reduce(function, dims, keepdim=False)
    call.give(call.add(attrs, x, dtype=call.dtype(x), shape=kept))


@reads("MEAN", "SUM", options="ReducerOptions")
def _mean_or_sum(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, operands=1)
    if kind is DType.F32:
        _reduce(call, call.name.lower())
        return
    x, source, y = call.operand(0), call.lite(0), call.result()
    shape = call.shape(x)
    dims = call.axes(1, len(shape))
    kept = tuple(dim for dim in range(len(shape)) if dim not in dims)
    count = math.prod(shape[dim] for dim in dims)
    factor = quantize_multiplier(call.scale(source) / call.scale(y))
    if call.name == "MEAN":
        factor = _of_mean(factor, count)
    # The sums are products with ones.
    zeros = call.zero(source), call.zero(y)
    *outer, last = dims or (len(shape),)
    inner = tuple(dim for dim in kept if dim > last)
    if inner and dims == tuple(range(dims[0], last + 1)):
        batches, columns = math.prod(shape[: dims[0]]), math.prod(shape[last + 1 :])
        sums = ops.BatchMatmul(
            0, zeros[0], zeros[1], factor,
            rhs=ops.Matrices((1, batches, columns, count), (0, count * columns, 1, columns)),
        )  # fmt: skip
        ones = call.number(np.ones((batches, 1, count), np.int8))
        call.give(call.add(sums, ones, x, dtype=kind, shape=(batches, 1, columns)))
        return
    rows = math.prod(shape[dim] for dim in kept)
    x = call.view(call.permute(x, kept + dims), (rows, count))
    attrs = ops.Linear(zeros[0], 0, zeros[1], (factor,), -128, 127)
    ones = call.number(np.ones((1, count), np.int8))
    call.give(call.add(attrs, x, ones, dtype=kind, shape=(rows, 1)))


def _of_mean(factor: Rescale, count: int) -> Rescale:
    """A factor with 1 / count in it: an integer division of its multiplier."""
    more = min(count.bit_length() - 1, 32, 31 + factor.shift)
    return Rescale((factor.multiplier << more) // count, factor.shift - more)


@reads("ARG_MAX", options="ArgMaxOptions")
@reads("ARG_MIN", options="ArgMinOptions")
def _place(call: Call) -> None:
    x = call.operand(0)
    shape = call.shape(x)
    dim = call.one_axis(1, len(shape))
    kept = (*shape[:dim], *shape[dim + 1 :])
    attrs = ops.ArgReduce("max" if call.name == "ARG_MAX" else "min", dim, keepdim=False)
    _indices(call, call.add(attrs, x, dtype=DType.S64, shape=kept), 0)


def _indices(call: Call, found: int, number: int) -> None:
    """Gives indices in the type that the file wants."""
    dtype = call.type(call.result(number))
    call.require(dtype in (DType.S32, DType.S64), f"gives indices as {dtype.value}", AGAIN)
    if dtype is DType.S32:
        found = call.add(ops.Cast(), found, dtype=dtype, shape=call.shape(found))
    call.give(found, number)


@reads("TOPK_V2", options="TopKV2Options")
def _top_k(call: Call) -> None:
    x = call.operand(0)
    shape = call.shape(x)
    count = call.integers(1)
    call.require(len(count) == 1 and bool(shape), f"takes {count} of {shape}", AGAIN)
    wanted = (*shape[:-1], count[0])
    attrs = ops.TopK(len(shape) - 1, largest=True)
    results = (call.dtype(x), wanted), (DType.S64, wanted)
    values, places = call.several(attrs, x, results=results)
    call.give(values)
    _indices(call, places, 1)


@reads("CUMSUM", options="CumsumOptions")
def _cumsum(call: Call) -> None:
    kind = call.types(DType.F32, DType.S32, DType.S64, operands=1)
    x = call.operand(0)
    shape = call.shape(x)
    dim = call.one_axis(1, len(shape))
    backwards = call.option("reverse")
    x = _reversed(call, x, dim) if backwards else x
    if call.option("exclusive"):
        begin = [0] * len(shape)
        fewer = (*shape[:dim], shape[dim] - 1, *shape[dim + 1 :])
        call.require(shape[dim] > 1, "has one exclusive step", "it gives 0")
        less = part(call, x, tuple(begin), fewer)
        before = tuple(int(d == dim) for d in range(len(shape)))
        attrs = ops.Pad(before, tuple(begin), 0)
        x = call.add(attrs, less, dtype=kind, shape=shape)
    x = call.like(ops.Cumsum(dim), x)
    call.give(_reversed(call, x, dim) if backwards else x)


def _reversed(call: Call, x: int, dim: int) -> int:
    shape = call.shape(x)
    begin = tuple(n - 1 if d == dim else 0 for d, n in enumerate(shape))
    step = tuple(-1 if d == dim else 1 for d in range(len(shape)))
    return part(call, x, begin, shape, step)
