# SPDX-License-Identifier: Apache-2.0
"""Graphs with one thing changed: a field made extreme, an operand left out, added, of another type or
shape."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cortexm_tools.ir import DType, Graph, Op, Tensor, contiguous

INTEGERS = (
    *(-(2**63), -(2**31) - 1, -(2**31), -(2**31) + 1, -32769, -256, -129, -128, -32, -31, -1),
    *(0, 1, 2, 30, 31, 32, 127, 128, 255, 256, 8192, 65535, 65536, 2**30, 2**31 - 1, 2**31, 2**63),
)
FLOATS = (
    *(math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 1e-46, 1e-40, 2.0**-126, 1e-5, 0.5, 3.0),
    *(1e5, 1e38, 1e39, 1e300),
)


@dataclass(frozen=True)
class Mutant:
    """A graph and what is different about it."""

    graph: Graph
    change: str

    def __str__(self) -> str:
        return f"{self.graph.ops[0].kind} with {self.change}"


def changed_values(value: object) -> Iterator[object]:
    """Other values of a field, of its type or near it."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from dict.fromkeys((*INTEGERS, value - 1, value + 1))
    elif isinstance(value, float):
        yield from FLOATS
    elif isinstance(value, str):
        yield from ("", "nonsense", value.upper())
    elif isinstance(value, tuple):
        yield from ((), value[:-1], value + value[-1:])
        for place in {0, len(value) - 1}:
            for other in changed_values(value[place]):
                yield (*value[:place], other, *value[place + 1 :])
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            for other in changed_values(getattr(value, field.name)):
                yield replace(value, **{field.name: other})  # type: ignore[type-var]
    elif value is None:
        yield from (*INTEGERS, *FLOATS)


def mutants(graph: Graph) -> Iterator[Mutant]:
    """All changes of a graph of one operator."""
    (op,) = graph.ops
    for field in dataclasses.fields(op.attrs):
        absent = [None] if "None" in str(field.type) else []
        for value in (*changed_values(getattr(op.attrs, field.name)), *absent):
            attrs = replace(op.attrs, **{field.name: value})
            yield _with_op(graph, replace(op, attrs=attrs), f"{field.name} {value}")
    yield _with_op(graph, replace(op, inputs=()), "no operands")
    yield _with_op(graph, replace(op, outputs=()), "no results")
    for place, index in enumerate(op.inputs):
        rest = (*op.inputs[:place], *op.inputs[place + 1 :])
        yield _with_op(graph, replace(op, inputs=rest), f"operand {place} left out")
        more = (*op.inputs, index)
        yield _with_op(graph, replace(op, inputs=more), f"operand {place} once more")
    for index in dict.fromkeys((*op.inputs, *op.outputs)):
        tensor = graph.tensors[index]
        for dtype in DType:
            if dtype is not tensor.dtype:
                other = _constant(replace(tensor, dtype=dtype), tensor)
                yield _with_tensor(graph, index, other, f"{tensor.name} of {dtype.value}")
        for shape in dict.fromkeys(_other_shapes(tensor.shape)):
            resized = replace(tensor, shape=shape, dim_order=contiguous(len(shape)))
            other = _constant(resized, tensor)
            yield _with_tensor(graph, index, other, f"{tensor.name} of shape {shape}")


def _other_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield from ((), (1, *shape), (*shape, 1), shape[1:], shape[:-1], shape[::-1])
    for dim, extent in enumerate(shape):
        for other in (-1, 0, 1, extent - 1, extent + 1, 2 * extent, 2**31, 2**62):
            if other != extent:
                yield (*shape[:dim], other, *shape[dim + 1 :])


def _constant(tensor: Tensor, old: Tensor) -> Tensor:
    """The old tensor's values in another type and shape, as far as there can be any."""
    if old.data is None or not 0 <= tensor.numel < 10**6 or min(tensor.shape, default=1) < 0:
        return replace(tensor, data=None) if old.data is None else tensor
    data = np.resize(old.data, tensor.shape).astype(tensor.dtype.numpy)
    return replace(tensor, data=data)


def _with_op(graph: Graph, op: Op, change: str) -> Mutant:
    return Mutant(replace(graph, ops=(op,), outputs=op.outputs or graph.outputs), change)


def _with_tensor(graph: Graph, index: int, tensor: Tensor, change: str) -> Mutant:
    tensors = (*graph.tensors[:index], tensor, *graph.tensors[index + 1 :])
    return Mutant(replace(graph, tensors=tensors), change)
