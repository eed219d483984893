# SPDX-License-Identifier: Apache-2.0
"""The meaning of the operators in ops_more, registered with the reference interpreter.

Float sums are taken in float64 and rounded once: a device that sums in float32 differs in the last
bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import ops_more as more
from .interpreter import F32, implements
from .types import Array, Graph, Op

F64 = npt.NDArray[np.float64]


def _out_shape(op: Op, graph: Graph) -> tuple[int, ...]:
    return graph.tensors[op.outputs[0]].shape


@implements(more.Concat)
def _concat(attrs: more.Concat, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.concatenate(inputs, axis=attrs.dim)


@implements(more.Slice)
def _slice(attrs: more.Slice, inputs: list[Array], op: Op, graph: Graph) -> Array:
    axes = [
        begin + step * np.arange(size)
        for begin, step, size in zip(attrs.begin, attrs.step, _out_shape(op, graph), strict=True)
    ]
    return inputs[0][np.ix_(*axes)] if axes else inputs[0]


@implements(more.Expand)
def _expand(attrs: more.Expand, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.broadcast_to(inputs[0], _out_shape(op, graph))


@implements(more.Tile)
def _tile(attrs: more.Tile, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = _out_shape(op, graph)
    x = inputs[0].reshape((1,) * (len(shape) - inputs[0].ndim) + inputs[0].shape)
    return np.tile(x, [out // size for out, size in zip(shape, x.shape, strict=True)])


@implements(more.AsStrided)
def _as_strided(attrs: more.AsStrided, inputs: list[Array], op: Op, graph: Graph) -> Array:
    shape = _out_shape(op, graph)
    index = np.full(shape, attrs.offset, np.int64)
    for axis, stride in enumerate(attrs.strides):
        steps = np.arange(shape[axis]) * stride
        index += steps.reshape([-1 if d == axis else 1 for d in range(len(shape))])
    return np.asarray(inputs[0].reshape(-1)[index])


@implements(more.Gather)
def _gather(attrs: more.Gather, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x, index = inputs
    within = tuple(
        slice(None) if d == attrs.dim else slice(size) for d, size in enumerate(index.shape)
    )
    return np.take_along_axis(x[within], index.astype(np.int64), axis=attrs.dim)


def _key(axes: tuple[int, ...], indices: list[Array]) -> tuple[Any, ...]:
    """A numpy index that applies `indices` to `axes`."""
    given = dict(zip(axes, indices, strict=True))
    return tuple(given.get(axis, slice(None)) for axis in range(axes[-1] + 1))


@implements(more.Index)
def _index(attrs: more.Index, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(inputs[0][_key(attrs.axes, inputs[1:])])


@implements(more.IndexPut)
def _index_put(attrs: more.IndexPut, inputs: list[Array], op: Op, graph: Graph) -> Array:
    result = inputs[0].copy()
    key = _key(attrs.axes, inputs[2:])
    if attrs.accumulate:
        np.add.at(result, key, inputs[1])
    else:
        result[key] = inputs[1]
    return result


@implements(more.Where)
def _where(attrs: more.Where, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.where(inputs[0], inputs[1], inputs[2])


@implements(more.Cast)
def _cast(attrs: more.Cast, inputs: list[Array], op: Op, graph: Graph) -> Array:
    with np.errstate(invalid="ignore"):
        return inputs[0].astype(graph.tensors[op.outputs[0]].dtype.numpy)


_COMPARE: dict[str, np.ufunc] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@implements(more.Compare)
def _compare(attrs: more.Compare, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(_COMPARE[attrs.function](inputs[0], inputs[1]))


@implements(more.Clamp)
def _clamp(attrs: more.Clamp, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x: Array = inputs[0]
    if attrs.low is not None:
        x = np.maximum(x, np.array(attrs.low, x.dtype))
    if attrs.high is not None:
        x = np.minimum(x, np.array(attrs.high, x.dtype))
    return x


def _erf(x: F64) -> F64:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))


def _sigmoid(x: F64) -> F64:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def _hardsigmoid(x: F64) -> F64:
    return np.asarray(np.clip(x + 3.0, 0.0, 6.0) / 6.0)


_UNARY: dict[str, Any] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": _erf,
    "exp": np.exp,
    "floor": np.floor,
    "gelu": lambda x: 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0))),
    "hardsigmoid": _hardsigmoid,
    "hardswish": lambda x: x * _hardsigmoid(x),
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "neg": np.negative,
    "reciprocal": np.reciprocal,
    "relu": lambda x: np.maximum(x, 0.0),
    "round": np.rint,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "sigmoid": _sigmoid,
    "sign": np.sign,
    "silu": lambda x: x * _sigmoid(x),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}


@implements(more.Unary)
def _unary(attrs: more.Unary, inputs: list[Array], op: Op, graph: Graph) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(_UNARY[attrs.function](inputs[0].astype(np.float64)), F32)


_BINARY: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "minimum": np.minimum,
    "maximum": np.maximum,
}


@implements(more.Binary)
def _binary(attrs: more.Binary, inputs: list[Array], op: Op, graph: Graph) -> Array:
    b = inputs[1].astype(F32)
    if attrs.alpha != 1.0:
        b = b * F32(attrs.alpha)
    with np.errstate(all="ignore"):
        return np.asarray(_BINARY[attrs.function](inputs[0], b), F32)


_LOGICAL: dict[str, np.ufunc] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


@implements(more.Logical)
def _logical(attrs: more.Logical, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(_LOGICAL[attrs.function](inputs[0], inputs[1]))


@implements(more.LogicalNot)
def _logical_not(attrs: more.LogicalNot, inputs: list[Array], op: Op, graph: Graph) -> Array:
    return np.asarray(np.logical_not(inputs[0]))


@implements(more.Reduce)
def _reduce(attrs: more.Reduce, inputs: list[Array], op: Op, graph: Graph) -> Array:
    x, dims, keep = inputs[0], attrs.dims, attrs.keepdim
    match attrs.function:
        case "sum":
            return np.asarray(x.sum(axis=dims, keepdims=keep, dtype=np.float64), F32)
        case "mean":
            return np.asarray(x.mean(axis=dims, keepdims=keep, dtype=np.float64), F32)
        case "amax":
            return np.asarray(x.max(axis=dims, keepdims=keep))
        case "amin":
            return np.asarray(x.min(axis=dims, keepdims=keep))
        case "any":
            return np.asarray(x.any(axis=dims, keepdims=keep))
        case _:
            return np.asarray(x.all(axis=dims, keepdims=keep))


@implements(more.ArgReduce)
def _arg_reduce(attrs: more.ArgReduce, inputs: list[Array], op: Op, graph: Graph) -> list[Array]:
    find = np.argmin if attrs.function == "min" else np.argmax
    index = find(inputs[0], axis=attrs.dim, keepdims=True)
    values = np.take_along_axis(inputs[0], index, axis=attrs.dim)
    results = [values, index] if len(op.outputs) == 2 else [index]
    return results if attrs.keepdim else [r.squeeze(attrs.dim) for r in results]
