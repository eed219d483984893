# SPDX-License-Identifier: Apache-2.0
"""The meaning of data movement, indexing, comparisons, casts and reductions.

Everything here is exact or, for float sums, sequential: a device gives the same bytes.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from . import ops
from .interpreter import F32, implements
from .types import Array, Graph, Op

Int64 = npt.NDArray[np.int64]


def _out_shape(op: Op, graph: Graph) -> tuple[int, ...]:
    return graph.tensors[op.outputs[0]].shape


@implements(ops.Concat)
def _concat(attrs: ops.Concat, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.concatenate(inputs, axis=attrs.dim)


@implements(ops.Slice)
def _slice(attrs: ops.Slice, inputs: list[Array], op: Op, graph: Graph) -> Array:
    axes = [
        begin + step * np.arange(size)
        for begin, step, size in zip(attrs.begin, attrs.step, _out_shape(op, graph), strict=True)
    ]
    return inputs[0][np.ix_(*axes)] if axes else inputs[0]


@implements(ops.Tile)
def _tile(attrs: ops.Tile, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = _out_shape(op, graph)
    x = inputs[0].reshape((1,) * (len(shape) - inputs[0].ndim) + inputs[0].shape)
    return np.tile(x, [out // size for out, size in zip(shape, x.shape, strict=True)])


@implements(ops.AsStrided)
def _as_strided(attrs: ops.AsStrided, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = _out_shape(op, graph)
    index = np.full(shape, attrs.offset, np.int64)
    for axis, stride in enumerate(attrs.strides):
        steps = np.arange(shape[axis]) * stride
        index += steps.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return np.asarray(inputs[0].reshape(-1)[index])


# -- indexing -------------------------------------------------------------------------------------


def in_range(index: Array, size: int) -> Int64:
    """Indices as a device takes them: negative ones from the end, then the nearest valid one."""
    at = index.astype(np.int64)
    return np.clip(np.where(at < 0, at + size, at), 0, size - 1)


def indexed_offsets(shape: tuple[int, ...], axes: tuple[int, ...], indices: list[Array]) -> Int64:
    """Where the elements that `indices` choose from a tensor of `shape` lie, in C order."""
    numbers = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    given = dict(zip(axes, indices, strict=True))
    key = tuple(
        in_range(given[axis], shape[axis]) if axis in given else slice(None)
        for axis in range(axes[-1] + 1)
    )
    return np.asarray(numbers[key])


@implements(ops.Gather)
def _gather(attrs: ops.Gather, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x, index = inputs
    within = tuple(
        slice(None) if d == attrs.dim else slice(size) for d, size in enumerate(index.shape)
    )
    return np.take_along_axis(x[within], in_range(index, x.shape[attrs.dim]), axis=attrs.dim)


@implements(ops.Index)
def _index(attrs: ops.Index, inputs: list[Array], op: Op, graph: Graph) -> Array:
    offsets = indexed_offsets(inputs[0].shape, attrs.axes, inputs[1:])
    return np.asarray(inputs[0].reshape(-1)[offsets])


@implements(ops.IndexPut)
def _index_put(attrs: ops.IndexPut, inputs: list[Array], op: Op, graph: Graph) -> Array:
    """Over flat offsets, so that what is stored twice is stored in C order: the last stays."""
    offsets = indexed_offsets(inputs[0].shape, attrs.axes, inputs[2:])
    values = np.broadcast_to(inputs[1], offsets.shape).reshape(-1)
    result = inputs[0].reshape(-1).copy()
    if attrs.accumulate:
        np.add.at(result, offsets.reshape(-1), values)
    else:
        result[offsets.reshape(-1)] = values
    return result.reshape(inputs[0].shape)


# -- element by element ---------------------------------------------------------------------------


@implements(ops.Where)
def _where(attrs: ops.Where, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.where(inputs[0], inputs[1], inputs[2])


@implements(ops.Cast)
def _cast(attrs: ops.Cast, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x, to = inputs[0], graph.tensors[op.outputs[0]].dtype.numpy
    if x.dtype == np.float32 and to.kind in "iu":
        return _whole(x, np.iinfo(np.int64 if to.itemsize == 8 else np.int32)).astype(to)
    return x.astype(to)


def _whole(x: Array, limits: np.iinfo[np.signedinteger]) -> Int64:  # type: ignore[type-arg]
    """Floats cut towards zero and saturated; a NaN gives 0."""
    cut = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=2.0**70, neginf=-(2.0**70)))
    result = np.full(x.shape, limits.max, np.int64)
    inside = cut < float(limits.max)
    result[inside] = np.maximum(cut[inside], float(limits.min)).astype(np.int64)
    return result


_COMPARE: dict[str, np.ufunc] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@implements(ops.Compare)
def _compare(attrs: ops.Compare, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(_COMPARE[attrs.function](inputs[0], inputs[1]))


_LOGICAL: dict[str, np.ufunc] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


@implements(ops.Logical)
def _logical(attrs: ops.Logical, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(_LOGICAL[attrs.function](inputs[0], inputs[1]))


@implements(ops.LogicalNot)
def _logical_not(attrs: ops.LogicalNot, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(np.logical_not(inputs[0]))


# -- reductions -----------------------------------------------------------------------------------


def _columns(x: Array, dims: tuple[int, ...]) -> Array:
    """x with `dims` as one last dimension, in C order."""
    kept = [d for d in range(x.ndim) if d not in dims]
    moved = x.transpose(*kept, *sorted(dims))
    return moved.reshape(*(x.shape[d] for d in kept), -1)


def _extreme(columns: Array, largest: bool) -> Int64:
    """The number of the first extreme element, or of the first NaN, of every column."""
    find = np.argmax if largest else np.argmin
    return np.asarray(find(columns, axis=-1), np.int64)


def _pick(columns: Array, index: Int64) -> Array:
    return np.take_along_axis(columns, index[..., None], axis=-1)[..., 0]


@implements(ops.Reduce)
def _reduce(attrs: ops.Reduce, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = _out_shape(op, graph)
    columns = _columns(inputs[0], attrs.dims)
    match attrs.function:
        case "sum" | "mean":
            # accumulate adds one element after the other; sum() would add in pairs.
            total = np.add.accumulate(columns, axis=-1, dtype=columns.dtype)[..., -1]
            if attrs.function == "mean":
                total = total / F32(columns.shape[-1])
            return np.asarray(total, columns.dtype).reshape(shape)
        case "amax" | "amin":
            found = _extreme(columns, attrs.function == "amax")
            return _pick(columns, found).reshape(shape)
        case "any":
            return np.asarray(columns.any(axis=-1)).reshape(shape)
        case _:
            return np.asarray(columns.all(axis=-1)).reshape(shape)


@implements(ops.ArgReduce)
def _arg_reduce(attrs: ops.ArgReduce, inputs: list[Array], op: Op, graph: Graph) -> list[Array]:
    columns = _columns(inputs[0], (attrs.dim,))
    found = _extreme(columns, attrs.function == "max")
    results = [_pick(columns, found), found] if len(op.outputs) == 2 else [found]
    return [result.reshape(_out_shape(op, graph)) for result in results]


@implements(ops.TopK)
def _topk(attrs: ops.TopK, inputs: list[Array], op: Op, graph: Graph) -> list[Array]:
    x = inputs[0]
    size, k = x.shape[attrs.dim], _out_shape(op, graph)[attrs.dim]
    if attrs.largest:
        # A stable ascending sort of the reversed list, reversed: the first of equal ones is first.
        order = np.argsort(np.flip(x, attrs.dim), axis=attrs.dim, kind="stable")
        order = size - 1 - np.flip(order, attrs.dim)
    else:
        order = np.argsort(x, axis=attrs.dim, kind="stable")
    found = np.take(order, range(k), axis=attrs.dim)
    return [np.take_along_axis(x, found, axis=attrs.dim), np.asarray(found, np.int64)]


@implements(ops.Cumsum)
def _cumsum(attrs: ops.Cumsum, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(np.add.accumulate(inputs[0], axis=attrs.dim, dtype=inputs[0].dtype))


# -- resampling -----------------------------------------------------------------------------------


@implements(ops.UpsampleNearest2d)
def _nearest(attrs: ops.UpsampleNearest2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return inputs[0][:, :, list(attrs.rows)][:, :, :, list(attrs.cols)]


WEIGHT_UNIT = 2048  # weights of int8 interpolation are multiples of 1 / WEIGHT_UNIT


def code_weights(places: tuple[ops.Between, ...]) -> Int64:
    """Weights of int8 interpolation, in units of 2**-11."""
    weights = np.array([place.weight for place in places], np.float64)
    return np.asarray(np.rint(weights * WEIGHT_UNIT), np.int64)


@implements(ops.UpsampleBilinear2d)
def _bilinear(attrs: ops.UpsampleBilinear2d, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x = inputs[0]
    above, below = ([getattr(p, name) for p in attrs.rows] for name in ("low", "high"))
    before, after = ([getattr(p, name) for p in attrs.cols] for name in ("low", "high"))
    if x.dtype == np.float32:
        right = np.array([p.weight for p in attrs.cols], F32)
        down = np.array([p.weight for p in attrs.rows], F32)[:, None]
        real = x.astype(F32)
        wide = real[..., before] * (F32(1) - right) + real[..., after] * right
        return np.asarray(wide[:, :, above] * (F32(1) - down) + wide[:, :, below] * down)
    col_weights, row_weights = code_weights(attrs.cols), code_weights(attrs.rows)[:, None]
    codes = x.astype(np.int64) - attrs.zero_point
    rows = codes[..., before] * (WEIGHT_UNIT - col_weights) + codes[..., after] * col_weights
    total = rows[:, :, above] * (WEIGHT_UNIT - row_weights) + rows[:, :, below] * row_weights
    # Exact in float64: below 2**31 over 2**22.
    rounded = np.rint(total / float(WEIGHT_UNIT**2)).astype(np.int64)
    return np.asarray(rounded + attrs.zero_point)
