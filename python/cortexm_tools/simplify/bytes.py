# SPDX-License-Identifier: Apache-2.0
"""Makes a table of what maps bytes to codes: a camera's, brought to the first layer's scale, or truth values.

`(x.float() / 255 - mean) / std`, quantized, is a chain of operators that take elements one by one, with
constants that are one number or one for each index of a dimension (a channel). So a code depends on
its byte and its channel alone, and there are 256 bytes: the table holds, for every channel, the codes
that these very operators give for them, computed by the reference interpreter. Only operators that
are exact (ir/exactness.py) take part, so the table has the bytes that every device would compute.

Operators in the chain that only bring elements to other places do so with the bytes, which are the
smallest form that the elements have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ir import Array, DType, Graph, Layer, Op, Tensor, Work, contiguous, elementwise, ops
from ..ir.edit import GraphBuilder, consumers, producers
from ..ir.exactness import is_exact

# Tables of more channels cost more flash than the operators.
_MOST_CHANNELS = 32

_BYTES = (DType.U8, DType.BOOL)
_CODES = (DType.S8, DType.S16)


@dataclass(frozen=True)
class _Bytes:
    """A tensor whose elements depend on bytes.

    Attributes:
        source: the tensor of bytes.
        moves: what brings them to their places, with the shape that they have then.
        values: [channels or 1, 256]: the element for every byte.
        dim: of the tensor, whose index is the channel; None of one channel.
        steps: operators on the way that compute.
        are_codes: whether they are codes, and not integers that count.
        layer: of the last operator whose layer is known.
    """

    source: int
    moves: tuple[tuple[Any, tuple[int, ...]], ...]
    values: Array
    dim: int | None
    steps: int = 0
    are_codes: bool = False
    layer: Layer = Layer()


def fold_bytes(graph: Graph) -> Graph:
    """The graph with tables for what its bytes become."""
    if not any(tensor.dtype in _BYTES for tensor in graph.tensors):
        return graph
    made_by, read_by = producers(graph), consumers(graph)
    known: dict[int, _Bytes] = {}
    for op in graph.ops:
        found = _follow(op, graph, made_by, known)
        if found is not None:
            known[op.outputs[0]] = found
    build = GraphBuilder(graph)
    chosen = _ends(graph, read_by, known)
    moved: dict[tuple[int, tuple[Any, ...]], int] = {}
    for op in graph.ops:
        if op.outputs[0] not in chosen:
            build.add(op)
            continue
        found = known[op.outputs[0]]
        source = _move(build, found, moved)
        values, dim = found.values, found.dim
        if bool((values == values[:1]).all()):
            values, dim = values[:1], None
        out = graph.tensors[op.outputs[0]]
        data = np.ascontiguousarray(values)
        table = Tensor(f"{out.name}_table", out.dtype, data.shape, contiguous(2), data=data)
        inputs = (source, build.add_tensor(table))
        build.add(Op(ops.Lookup(dim or 0), inputs, op.outputs, found.layer))
    return build.finish()


def _ends(graph: Graph, read_by: dict[int, list[Op]], known: dict[int, _Bytes]) -> set[int]:
    """The codes that a table should give: those that something reads that no table comes behind."""
    ends, served = set[int](), set[int]()
    for op in reversed(graph.ops):
        index = op.outputs[0]
        found = known.get(index)
        if found is None:
            continue
        readers = read_by.get(index, [])
        if index not in graph.kept and readers and all(r.outputs[0] in served for r in readers):
            served.add(index)
        elif found.are_codes and op.attrs.traits.work is not Work.MOVE:
            served.add(index)
            if not isinstance(op.attrs, ops.Lookup) or found.steps > 1:
                ends.add(index)
    return ends


def _follow(
    op: Op, graph: Graph, made_by: dict[int, Op], known: dict[int, _Bytes]
) -> _Bytes | None:
    """What the result of `op` is of bytes; None if it is something else."""
    if op.attrs.traits.work is Work.MOVE:
        x = known.get(op.inputs[0])
        return None if x is None else _moved(op, graph, x)
    if not op.attrs.traits.is_elementwise or not is_exact(op.attrs):
        return None
    parts = elementwise.split_table(op, graph)
    if parts is None:
        return None
    operands, table = parts
    out = graph.tensors[op.outputs[0]]
    origin: _Bytes | None = None
    dim: int | None = None
    values: list[Array] = []
    if isinstance(op.attrs, ops.Lookup) and table is not None and len(table) > 1:
        dim = op.attrs.dim
    for index in operands:
        one = known.get(index) or _begins(graph.tensors[index], index)
        if one is not None:
            if graph.tensors[index].shape != out.shape:
                return None
            if origin is not None and (one.source, one.moves) != (origin.source, origin.moves):
                return None
            before, origin = origin, one
            if before is not None:
                both = one.are_codes and before.are_codes
                origin = replace(one, steps=max(one.steps, before.steps), are_codes=both)
            own, along = one.values, one.dim
        else:
            constant = elementwise.constant_operand(index, graph, made_by, len(out.shape))
            if constant is None:
                return None
            own, along = constant
        if along is not None and dim is not None and along != dim:
            return None
        dim = dim if along is None else along
        values.append(own)
    if origin is None:
        return None
    channels = 1 if dim is None else out.shape[dim]
    if channels > _MOST_CHANNELS:
        return None
    full = [
        np.ascontiguousarray(np.broadcast_to(each, (channels, elementwise.VALUES)))
        for each in values
    ]
    made = elementwise.results(op, out, full, table)
    # Integers that count are no codes, and stay none where they are limited.
    keeps = isinstance(op.attrs, ops.Clamp | ops.Minimum | ops.Maximum)
    codes = origin.are_codes if keeps else not isinstance(op.attrs, ops.Cast)
    codes &= out.dtype in _CODES
    layer = op.layer if op.layer != Layer() else origin.layer
    return _Bytes(origin.source, origin.moves, made, dim, origin.steps + 1, codes, layer)


def _begins(tensor: Tensor, index: int) -> _Bytes | None:
    if tensor.dtype not in _BYTES or tensor.is_constant:
        return None
    return _Bytes(index, (), np.arange(256, dtype=np.uint8).astype(tensor.dtype.numpy)[None], None)


def _moved(op: Op, graph: Graph, x: _Bytes) -> _Bytes | None:
    """`x` behind an operator that moves elements; None if that is another one than these."""
    before, after = graph.tensors[op.inputs[0]].shape, graph.tensors[op.outputs[0]].shape
    attrs, dim, values = op.attrs, x.dim, x.values
    if isinstance(attrs, ops.Clone):
        return x
    if isinstance(attrs, ops.Transpose):
        dim = None if dim is None else attrs.perm.index(dim)
    elif isinstance(attrs, ops.Slice):
        if dim is not None:
            values = values[attrs.begin[dim] + attrs.step[dim] * np.arange(after[dim])]
    elif isinstance(attrs, ops.View):
        if dim is not None:
            outside = math.prod(before[:dim])
            same = [
                place
                for place, extent in enumerate(after)
                if extent == before[dim] and math.prod(after[:place]) == outside
            ]
            if not same:
                return None
            dim = same[0]
    else:
        return None
    return replace(x, moves=(*x.moves, (attrs, after)), values=values, dim=dim)


def _move(build: GraphBuilder, found: _Bytes, moved: dict[tuple[int, tuple[Any, ...]], int]) -> int:
    """The bytes in their places."""
    index = found.source
    for count in range(1, len(found.moves) + 1):
        key = (found.source, found.moves[:count])
        if key not in moved:
            attrs, shape = found.moves[count - 1]
            before = build.tensors[index]
            order = contiguous(len(shape))
            if isinstance(attrs, ops.Transpose):
                order = tuple(attrs.perm.index(dim) for dim in before.dim_order)
            made = Tensor(f"{before.name}_moved", before.dtype, shape, order)
            moved[key] = build.add_tensor(made)
            build.add(Op(attrs, (index,), (moved[key],), found.layer))
        index = moved[key]
    return index
