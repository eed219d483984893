# SPDX-License-Identifier: Apache-2.0
"""Portable operators that choose elements by the values of a tensor. Any element type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir import ops
from ...ir.types import DType, Tensor
from ..call import Call, reads

_INDICES = (DType.S64, DType.S32)


@reads("aten::gather.out")
def _gather(call: Call) -> None:
    x, index = call.tensor("self"), call.tensor("index")
    info, shape = call.info(x), call.info(index).shape
    call.require_dtype(index, *_INDICES)
    dim = call.dim("dim", len(info.shape))
    fits = len(shape) == len(info.shape) and all(
        d == dim or size <= info.shape[d] for d, size in enumerate(shape)
    )
    call.require(fits, f"an index of shape {shape} does not fit {info.shape}")
    call.require_out(shape, info.dtype)
    call.emit(ops.Gather(dim), x, index)


def _indexed_shape(call: Call, x: int, axes: tuple[int, ...], indices: Sequence[int]) -> list[int]:
    """The shape of x indexed along `axes`, as numpy and PyTorch define it."""
    shape = call.info(x).shape
    joint = call.broadcast(*indices)
    rest = [size for d, size in enumerate(shape) if d not in axes]
    adjacent = axes == tuple(range(axes[0], axes[0] + len(axes)))
    position = axes[0] if adjacent else 0
    return [*rest[:position], *joint, *rest[position:]]


def _index_operands(call: Call, x: int) -> tuple[tuple[int, ...], list[int]]:
    """Indexed axes and their index tensors."""
    given = call.optional_tensor_list("indices")
    pairs = [(axis, index) for axis, index in enumerate(given) if index is not None]
    rank = len(call.info(x).shape)
    call.require(bool(pairs) and len(given) <= rank, "the indices do not fit the rank")
    for _, index in pairs:
        call.require_dtype(index, *_INDICES)
    return tuple(axis for axis, _ in pairs), [index for _, index in pairs]


@reads("aten::index.Tensor_out")
def _index(call: Call) -> None:
    x = call.tensor("self")
    axes, indices = _index_operands(call, x)
    call.require_out(tuple(_indexed_shape(call, x, axes, indices)), call.info(x).dtype)
    call.emit(ops.Index(axes), x, *indices)


@reads("aten::index_put.out")
def _index_put(call: Call) -> None:
    x, values = call.tensor("self"), call.tensor("values")
    axes, indices = _index_operands(call, x)
    info = call.info(x)
    call.require_dtype(values, info.dtype)
    target = tuple(_indexed_shape(call, x, axes, indices))
    try:
        fits = np.broadcast_shapes(call.info(values).shape, target) == target
    except ValueError:
        fits = False
    call.require(fits, f"values do not broadcast to {target}")
    call.require_out(info.shape, info.dtype)
    call.emit(ops.IndexPut(axes, call.boolean("accumulate")), x, values, *indices)


@reads("aten::index_select.out")
def _index_select(call: Call) -> None:
    x, index = call.tensor("self"), call.tensor("index")
    info, count = call.info(x), call.info(index)
    call.require_dtype(index, *_INDICES)
    call.require(len(count.shape) <= 1, "the index must be a vector")
    dim = call.dim("dim", len(info.shape))
    call.require_out((*info.shape[:dim], count.numel, *info.shape[dim + 1 :]), info.dtype)
    if not count.shape:
        index = call.emit_new(ops.View(), Tensor("x", count.dtype, (1,), (0,)), index)
    call.emit(ops.Index((dim,)), x, index)


@reads("aten::embedding.out")
def _embedding(call: Call) -> None:
    table, index = call.tensor("weight"), call.tensor("indices")
    call.require_dtype(index, *_INDICES)
    info = call.info(table)
    call.require(len(info.shape) == 2, "the table must be a matrix")
    call.require_out((*call.info(index).shape, info.shape[1]), info.dtype)
    call.emit(ops.Index((0,)), table, index)
