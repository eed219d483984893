# SPDX-License-Identifier: Apache-2.0
"""What operators make of one code, element by element, becomes one table of 256 codes.

A hard-swish behind a convolution comes as a minimum and a product of the same codes, a SiLU as a table and
a product; so do other formulas of one tensor and of numbers. Each element of what comes out is a function
of the code in its place, and there are 256 codes: the operators' own definitions give the table, so it has
the bytes that they would have computed. So is what a layer with a single weight gives, a convolution of one
channel or a linear layer of one feature, where nothing lies outside of the image.

Whether a table, which is flash, pays is decided elsewhere (choose/fusions.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

import numpy as np

from ...ir import (
    Array,
    DType,
    Graph,
    Layer,
    Op,
    Tensor,
    contiguous,
    elementwise,
    ops,
    same_layout,
)
from ...ir.edit import GraphBuilder, consumers, producers
from ...ir.exactness import is_exact


@dataclass(frozen=True)
class _Function:
    """A tensor as a function of the codes of another one.

    Attributes:
        of: the other tensor.
        values: [1, 256], the elements for its codes -128 … 127.
        layer: of the last operator whose layer is known.
    """

    of: int
    values: Array
    layer: Layer = Layer()


def find_functions(graph: Graph) -> tuple[Graph, dict[Op, list[Op]]]:
    """`graph`, whose layouts are assigned, with the tables that it might have, and by operators with these
    those that they would make needless."""
    made_by, read_by = producers(graph), consumers(graph)
    known: dict[int, _Function] = {}
    for op in graph.ops:
        found = _follow(op, graph, made_by, known)
        if found is not None:
            known[op.outputs[0]] = found
    places = {index: number for number, op in enumerate(graph.ops) for index in op.outputs}
    kept, gone = frozenset(graph.kept), set[int]()
    build, tables = GraphBuilder(graph), dict[Op, list[Op]]()
    for op in reversed(graph.ops):
        index = op.outputs[0]
        if index not in known or index in gone or graph.tensors[index].dtype is not DType.S8:
            continue
        inner = _inner(op, graph, places, kept, read_by, known)
        if inner or not isinstance(op.attrs, ops.Activation | ops.Lookup):
            gone.update(each.outputs[0] for each in inner)
            tables[_with_table(build, op, graph, known[index])] = [op, *inner]
    return replace(graph, tensors=tuple(build.tensors)), tables


def _follow(
    op: Op, graph: Graph, made_by: Mapping[int, Op], known: Mapping[int, _Function]
) -> _Function | None:
    """The result of `op` as a function of codes; None if it is something else."""
    if _has_one_weight(op, graph):
        return _follow_layer(op, graph, known)
    if not op.attrs.traits.is_elementwise or not is_exact(op.attrs):
        return None
    parts = elementwise.split_table(op, graph)
    if parts is None:
        return None
    operands, table = parts
    if isinstance(op.attrs, ops.Lookup) and table is not None and len(table) > 1:
        return None  # one for each channel
    out = graph.tensors[op.outputs[0]]
    of, layer = None, op.layer
    values: list[Array] = []
    for index in operands:
        tensor = graph.tensors[index]
        constant = elementwise.constant_operand(index, graph, made_by, len(out.shape))
        if constant is not None:
            if constant[1] is not None:
                return None
            values.append(constant[0])
            continue
        one = known.get(index) or _itself(index, tensor)
        if one is None or of not in (None, one.of) or not _lies_alike(tensor, out):
            return None
        of = one.of
        layer = one.layer if layer == Layer() else layer
        values.append(one.values)
    if of is None:
        return None
    whole = [np.ascontiguousarray(np.broadcast_to(v, (1, elementwise.VALUES))) for v in values]
    return _Function(of, elementwise.results(op, out, whole, table), layer)


def _is_layer(op: Op) -> bool:
    return isinstance(op.attrs, ops.ConvAttrs | ops.Linear)


def _has_one_weight(op: Op, graph: Graph) -> bool:
    """Whether it is a layer whose results are each a product of one code."""
    if not _is_layer(op):
        return False
    if isinstance(op.attrs, ops.ConvAttrs):
        window = op.attrs.window
        if window.stride != (1, 1) or any(window.padding):
            return False
    constants = [graph.tensors[index] for index in op.inputs[1:]]
    return constants[0].numel == 1 and all(tensor.is_constant for tensor in constants)


def _follow_layer(op: Op, graph: Graph, known: Mapping[int, _Function]) -> _Function | None:
    """The result of such a layer, from as many rows or pixels as there are codes."""
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    one = known.get(op.inputs[0]) or _itself(op.inputs[0], x)
    if one is None or not _lies_alike(x, out) or len(x.shape) == 1:
        return None
    shape = (elementwise.VALUES, *(1 for _ in x.shape[1:]))
    result = replace(out, shape=shape, dim_order=contiguous(len(shape)))
    constants = [graph.tensors[index].data for index in op.inputs[1:]]
    made = op.attrs.compute((result,), one.values.reshape(shape), *constants)
    values = np.asarray(made).astype(out.dtype.numpy).reshape(1, -1)
    return _Function(one.of, values, op.layer)


def _itself(index: int, tensor: Tensor) -> _Function | None:
    if tensor.dtype is not DType.S8:
        return None
    return _Function(index, np.arange(-128, 128, dtype=np.int8)[None])


def _lies_alike(x: Tensor, out: Tensor) -> bool:
    return x.shape == out.shape and same_layout(x.shape, x.dim_order, out.dim_order)


def _inner(
    end: Op,
    graph: Graph,
    places: Mapping[int, int],
    kept: Set[int],
    read_by: Mapping[int, list[Op]],
    known: Mapping[int, _Function],
) -> list[Op]:
    """The operators that nobody needs but `end`, whose result becomes a table; the last ones first, so
    that the readers of each are known."""
    of, within = known[end.outputs[0]].of, {end.outputs[0]}
    found: list[Op] = []
    before = {places[i] for i in end.inputs if i in places}
    while before:
        number = max(before)
        before.remove(number)
        op = graph.ops[number]
        index = op.outputs[0]
        if index in kept or index not in known or known[index].of != of:
            continue
        if {reader.outputs[0] for reader in read_by[index]} <= within:
            within.add(index)
            found.append(op)
            before |= {places[i] for i in op.inputs if i in places}
    return found


def _with_table(build: GraphBuilder, op: Op, graph: Graph, function: _Function) -> Op:
    data = np.ascontiguousarray(function.values.reshape(-1))
    name = f"{graph.tensors[op.outputs[0]].name}_table"
    table = build.add_tensor(Tensor(name, DType.S8, data.shape, contiguous(1), data=data))
    return Op(ops.Activation(), (function.of, table), op.outputs, function.layer)
