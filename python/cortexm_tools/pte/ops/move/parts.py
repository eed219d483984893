# SPDX-License-Identifier: Apache-2.0
"""Operators that join tensors, cut them, or read parts of them. Any element type."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....ir import ops
from ....ir.types import contiguous
from ...call import INT64, Call, reads
from ...operands import SIZE, like


def _concat(call: Call, operands: Sequence[int], dim: int) -> None:
    shapes = [call.info(index).shape for index in operands]
    dtype = call.info(operands[0]).dtype
    for index, shape in zip(operands, shapes, strict=True):
        call.require_dtype(index, dtype)
        call.require(
            len(shape) == len(shapes[0])
            and shape[:dim] + shape[dim + 1 :] == shapes[0][:dim] + shapes[0][dim + 1 :],
            f"shapes {shapes} cannot be joined along dimension {dim}",
        )
    joined = sum(shape[dim] for shape in shapes)
    call.require_out((*shapes[0][:dim], joined, *shapes[0][dim + 1 :]), dtype)
    call.emit(ops.Concat(dim), *operands)


@reads("aten::cat.out")
def _cat(call: Call) -> None:
    operands = call.tensor_list("tensors")
    call.require(bool(operands), "nothing to join")
    _concat(call, operands, call.dim("dim", len(call.info(operands[0]).shape)))


@reads("aten::stack.out")
def _stack(call: Call) -> None:
    operands = call.tensor_list("tensors")
    call.require(bool(operands), "nothing to join")
    shape = call.info(operands[0]).shape
    dim = call.dim("dim", len(shape) + 1)
    views = []
    for index in operands:
        call.require(call.info(index).shape == shape, "operands must have one shape")
        seen = like(call, index, (*shape[:dim], 1, *shape[dim:]))
        views.append(call.emit_new(ops.View(), seen, index))
    _concat(call, views, dim)


def _slice_attrs(rank: int, dim: int, begin: int, step: int = 1) -> ops.Slice:
    """A slice in one dimension."""
    begins, steps = [0] * rank, [1] * rank
    begins[dim], steps[dim] = begin, step
    return ops.Slice(tuple(begins), tuple(steps))


@reads("aten::slice_copy.Tensor_out")
def _slice(call: Call) -> None:
    x = call.tensor("self")
    info = call.info(x)
    dim = call.dim("dim", len(info.shape))
    size = info.shape[dim]
    begin = 0 if call.is_none("start") else call.integer("start", INT64)
    end = size if call.is_none("end") else call.integer("end", INT64)
    step = call.integer("step", (1, 2**31 - 1))
    begin, end, step = slice(begin, end, step).indices(size)
    count = len(range(begin, end, step))
    call.require_out((*info.shape[:dim], count, *info.shape[dim + 1 :]), info.dtype)
    call.emit(_slice_attrs(len(info.shape), dim, begin, step), x)


def _split(call: Call, sizes: Sequence[int], dim: int, *, keep: bool = True) -> None:
    """Cuts the operand along `dim`; the dimension vanishes unless `keep`."""
    x = call.tensor("self")
    info = call.info(x)
    outs = call.out_list()
    call.require(
        sum(sizes) == info.shape[dim] and len(sizes) == len(outs),
        f"size {info.shape[dim]} cannot be split into {len(outs)} parts of sizes {list(sizes)}",
    )
    results = call.define_list()
    begin = 0
    for size, out, result in zip(sizes, outs, results, strict=True):
        before, after = info.shape[:dim], info.shape[dim + 1 :]
        part = (*before, size, *after)
        expected = part if keep else (*before, *after)
        call.require(
            out.shape == expected and out.dtype is info.dtype,
            f"a result is {out.dtype.value} {out.shape}, the operands give {expected}",
        )
        attrs = _slice_attrs(len(info.shape), dim, begin)
        if keep:
            call.emit_into(attrs, (result,), x)
        else:
            sliced = call.emit_new(attrs, like(call, x, part), x)
            call.emit_into(ops.View(), (result,), sliced)
        begin += size


@reads("aten::split_with_sizes_copy.out")
def _split_with_sizes(call: Call) -> None:
    dim = call.dim("dim", len(call.info(call.tensor("self")).shape))
    _split(call, call.integers("split_sizes", SIZE), dim)


@reads("aten::split_copy.Tensor_out")
def _split_evenly(call: Call) -> None:
    shape = call.info(call.tensor("self")).shape
    dim, part = call.dim("dim", len(shape)), call.integer("split_size", (1, 2**31 - 1))
    call.require(shape[dim] // part < 2**16, "too many parts")
    sizes = [min(part, shape[dim] - begin) for begin in range(0, shape[dim], part)]
    _split(call, sizes, dim)


@reads("aten::unbind_copy.int_out")
def _unbind(call: Call) -> None:
    shape = call.info(call.tensor("self")).shape
    dim = call.dim("dim", len(shape))
    call.require(shape[dim] < 2**16, "too many parts")
    _split(call, [1] * shape[dim], dim, keep=False)


@reads("aten::select_copy.int_out")
def _select(call: Call) -> None:
    x = call.tensor("self")
    info = call.info(x)
    dim = call.dim("dim", len(info.shape))
    position = call.as_dim(call.integer("index"), info.shape[dim])
    before, after = info.shape[:dim], info.shape[dim + 1 :]
    call.require_out((*before, *after), info.dtype)
    part = like(call, x, (*before, 1, *after))
    sliced = call.emit_new(_slice_attrs(len(info.shape), dim, position), part, x)
    call.emit(ops.View(), sliced)


@reads("aten::flip.out")
def _flip(call: Call) -> None:
    x = call.tensor("self")
    info = call.info(x)
    dims = call.dims("dims", len(info.shape))
    call.require_out(info.shape, info.dtype)
    begin = tuple(size - 1 if d in dims else 0 for d, size in enumerate(info.shape))
    step = tuple(-1 if d in dims else 1 for d in range(len(info.shape)))
    call.emit(ops.Slice(begin, step), x)


@reads("aten::as_strided_copy.out")
def _as_strided(call: Call) -> None:
    x = call.tensor("self")
    info = call.info(x)
    sizes, strides = call.integers("size", SIZE), call.integers("stride", SIZE)
    offset = 0 if call.is_none("storage_offset") else call.integer("storage_offset", SIZE)
    call.require(len(sizes) == len(strides), "sizes and strides differ in length")
    call.require(
        info.dim_order == contiguous(len(info.shape)), "the operand must be contiguous in memory"
    )
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    call.require(last < info.numel, "the strides lead out of the operand")
    call.require_out(sizes, info.dtype)
    call.emit(ops.AsStrided(strides, offset), x)


@reads("aten::unfold_copy.out")
def _unfold(call: Call) -> None:
    x = call.tensor("self")
    info = call.info(x)
    dim = call.dim("dimension", len(info.shape))
    size = call.integer("size", (1, info.shape[dim]))
    step = call.integer("step", (1, 2**31 - 1))
    strides = [math.prod(info.shape[d + 1 :]) for d in range(len(info.shape))]
    count = (info.shape[dim] - size) // step + 1
    call.require_out((*info.shape[:dim], count, *info.shape[dim + 1 :], size), info.dtype)
    windows = (*strides[:dim], strides[dim] * step, *strides[dim + 1 :], strides[dim])
    call.emit(ops.AsStrided(windows, 0), x)
