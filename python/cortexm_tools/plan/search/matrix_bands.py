# SPDX-License-Identifier: Apache-2.0
"""Bands of rows of matrices: attention without the whole matrix of scores.

What lies between the two products of an attention block, ``q k^T`` and ``p v``, goes row by row: scale
and mask element by element, softmax along a row. So a band of rows of one head goes through all of them,
and of the scores only this band ever exists. No row is needed twice. Keys and values are read as a whole,
a head at a time; what is element by element, and softmax, are written over what they read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir import Graph, Op, Operands, Tensor, ops
from ..lower.boxes import merged
from ..memory.overlap import ELEMENTS
from ..types import Call, Field, ScratchArg, Step, TensorArg
from .bands import Chain, Placed, with_loops

_SOFTMAX = (ops.Softmax, ops.WideSoftmax)
_PERIODS = {"a_period", "b_period"}
_Calls = Sequence[tuple[Call, ...]]


def is_matrix_chain(graph: Graph, chain: Chain) -> bool:
    """Whether a chain is one of matrices, not of images."""
    return isinstance(graph.ops[chain.first].attrs, ops.BatchMatmul)


def matrix_chains(graph: Graph, calls: _Calls) -> list[tuple[int, int]]:
    """The first and the last operator of every chain: two products of matrices, and between them what
    goes row by row, each reading the result of the one before, which nothing else reads."""
    readers = _readers(graph)
    found = []
    for first, op in enumerate(graph.ops):
        path = _path(graph, readers, first)
        numbers = range(first, first + len(path))
        if len(path) > 1 and path == list(numbers):
            height = _height(graph, op)
            if all(_is_member(graph, graph.ops[n], calls[n], height) for n in numbers):
                found.append((first, path[-1]))
    return found


def together(graph: Graph) -> tuple[Op, ...] | None:
    """The operators of a graph in an order in which no other ones come between those of a chain; None if
    they are so already, or nowhere."""
    readers = _readers(graph)
    paths = [path for n in range(len(graph.ops)) if len(path := _path(graph, readers, n)) > 1]
    order = list(range(len(graph.ops)))
    maker = {index: n for n, op in enumerate(graph.ops) for index in op.outputs}
    for path in paths:
        places = [order.index(n) for n in path]
        between = order[places[0] : places[-1] + 1]
        needed: set[int] = set()
        for number in reversed(between):
            if number in path or number in needed:
                needed |= {maker[i] for i in graph.ops[number].inputs if i in maker}
        others = [n for n in between if n not in path]
        before = [n for n in others if n in needed]
        after = [n for n in others if n not in needed]
        order[places[0] : places[-1] + 1] = [*before, *path, *after]
    if not paths or order == sorted(order):
        return None
    return tuple(graph.ops[n] for n in order)


def band_height(graph: Graph, chain: Chain) -> int:
    """The rows of one matrix of a chain, of which a band has some or all."""
    return _height(graph, graph.ops[chain.first])


def _height(graph: Graph, op: Op) -> int:
    """The rows of a product."""
    return _placed(graph, op)[0].shape[2]


def _placed(graph: Graph, op: Op) -> tuple[ops.Matrices, ops.Matrices, ops.Matrices]:
    """Where the operands and the result of a product lie."""
    assert isinstance(op.attrs, ops.BatchMatmul)
    placed = op.attrs.placed(*(graph.tensors[index] for index in op.inputs))
    assert placed is not None
    return placed


def replaced_in_bands(graph: Graph, chain: Chain) -> frozenset[int]:
    """The operators of a chain whose bands take the place of those that they read."""
    if not is_matrix_chain(graph, chain):
        return frozenset()
    return frozenset(
        number
        for number in range(chain.first + 1, chain.last)
        for op, before in [(graph.ops[number], graph.ops[number - 1].outputs[0])]
        if isinstance(op.attrs, ops.View) or _goes_over(graph, op, before)
    )


def _goes_over(graph: Graph, op: Op, operand: int) -> bool:
    x, out = graph.tensors[operand], graph.tensors[op.outputs[0]]
    return (
        op.attrs.traits.overwrites is not Operands.NONE
        and (op.attrs.traits.overwrites is Operands.ALL or op.inputs.index(operand) == 0)
        and op.inputs.count(operand) == 1
        and x.dtype is out.dtype
    )


def matrix_step(graph: Graph, calls: _Calls, chain: Chain) -> Step:
    """One step that computes a chain, `chain.rows` rows of one matrix a band."""
    members = graph.ops[chain.first : chain.last + 1]
    matrices, height = graph.tensors[members[0].outputs[0]].shape[:2]
    inside = {index for op in members[:-1] for index in op.outputs}
    alike: dict[tuple[int, tuple[tuple[str, Field], ...]], Call] = {}
    result: list[Call] = []
    lists: list[list[Placed]] = []
    for matrix in range(matrices):
        for begin in range(0, height, chain.rows):
            first, count = matrix * height + begin, min(chain.rows, height - begin)
            band: list[Placed] = []
            for op, called in zip(members, calls[chain.first : chain.last + 1], strict=True):
                for call in called:  # a view has none
                    changes, starts = _band(graph, op, call, _Rows(first, count, height))
                    key = op.outputs[0], tuple(changes.items())
                    if key not in alike:
                        alike[key] = _with_fields(call, changes, count, matrices * height)
                    band.append((alike[key], _offsets(graph, op, call, starts, first, inside)))
            lists.append(band)
        if chain.rows < height:  # a loop for each matrix, else one for all
            result += with_loops(lists, matrix)
            lists = []
    result += with_loops(lists, 0) if lists else ()
    return Step(members[-1], tuple(result), tuple(members[:-1]))


def _with_fields(call: Call, changes: Mapping[str, Field], count: int, rows: int) -> Call:
    """A call with other fields, and what follows from them: it is for `count` of so many `rows`."""
    fields: dict[str, Field] = dict(call.fields) | dict(changes)
    scratch = call.kernel.scratch_bytes(fields)
    args = tuple(ScratchArg(scratch) if isinstance(arg, ScratchArg) else arg for arg in call.args)
    return replace(call, fields=tuple(fields.items()), args=args, macs=call.macs * count // rows)


def _readers(graph: Graph) -> dict[int, list[int]]:
    readers: dict[int, list[int]] = {}
    for number, op in enumerate(graph.ops):
        for index in set(op.inputs):
            readers.setdefault(index, []).append(number)
    return readers


def _path(graph: Graph, readers: Mapping[int, Sequence[int]], first: int) -> list[int]:
    """The operators from a product of matrices to the next one on its rows; none if there is none."""
    begin = graph.ops[first].attrs
    if not isinstance(begin, ops.BatchMatmul) or begin.out is not None:
        return []
    path = [first]
    while True:
        (made,) = graph.ops[path[-1]].outputs
        if made in graph.kept or len(readers.get(made, ())) != 1:
            return []
        (number,) = readers[made]
        op = graph.ops[number]
        if len(op.outputs) != 1:
            return []
        path.append(number)
        if isinstance(op.attrs, ops.BatchMatmul):
            states = {state.after for state in graph.states}
            is_left = op.inputs[0] == made != op.inputs[1] and op.attrs.lhs is None
            return path if is_left and op.outputs[0] not in states else []
        if not _goes_by_rows(graph, op, made):
            return []


def _goes_by_rows(graph: Graph, op: Op, source: int) -> bool:
    x, out = graph.tensors[source], graph.tensors[op.outputs[0]]
    if x.numel != out.numel or x.shape[-1:] != out.shape[-1:] or not (_is_c(x) and _is_c(out)):
        return False
    if isinstance(op.attrs, _SOFTMAX):
        return op.attrs.dim == len(x.shape) - 1
    return isinstance(op.attrs, ops.View) or x.shape == out.shape


def _is_c(tensor: Tensor) -> bool:
    return tensor.dim_order == tuple(range(len(tensor.shape)))


def _is_member(graph: Graph, op: Op, calls: tuple[Call, ...], height: int) -> bool:
    """Whether its call can be cut into rows: `height` of one matrix."""
    if isinstance(op.attrs, ops.View):
        return not calls
    if len(calls) != 1 or calls[0].turns != 1:
        return False
    (call,) = calls
    row = graph.tensors[op.outputs[0]].shape[-1]
    if isinstance(op.attrs, ops.BatchMatmul):
        return _height(graph, op) == height and call.kernel.serves == "batch_matmul"
    if any(arg.offset for arg in call.tensors):
        return False
    if isinstance(op.attrs, _SOFTMAX):
        return call.kernel.serves == "softmax" and call.int_fields["inner"] == 1
    if len(call.args) != len(op.inputs) + 1:
        return False
    if "dims" in dict(call.fields):
        return call.kernel.op == "where" and _rows_of_box(call, row, height) is not None
    if call.kernel.serves not in ELEMENTS or "channels" in call.int_fields:
        return False
    if not _PERIODS & set(call.int_fields):
        return len(call.tensors) == 2 and call.args[0] == call.tensors[0]
    periods = [call.int_fields[name] for name in sorted(_PERIODS)]
    return all(period % (height * row) == 0 or row % period == 0 for period in periods)


_Box = tuple[list[int], list[list[int]], int]  # extents, strides by operand; how many are a row


def _rows_of_box(call: Call, row: int, height: int) -> _Box | None:
    """A box some last dimensions of which are a row; None if the rows of a matrix do not lie along one
    of the dimensions before them."""
    fields = dict(call.fields)
    dims = list(_ints(fields["dims"]))
    tables = [list(_ints(fields[name])) for name in _tables(call)]
    inner, last = 1, 0
    while inner < row and last < len(dims):
        last += 1
        part, place = row // inner, len(dims) - last
        if dims[place] > part and row % inner == dims[place] % part == 0:
            dims[place : place + 1] = [dims[place] // part, part]  # several rows
            for table in tables:
                table[place : place + 1] = [table[place] * part, table[place]]
        inner *= dims[-last]
    if last == len(dims):
        dims.insert(0, 1)
        for table in tables:
            table.insert(0, 0)
    return (dims, tables, last) if inner == row and dims[-last - 1] % height == 0 else None


def _tables(call: Call) -> list[str]:
    return [name for name, _ in call.fields if name.endswith("_stride")]


def _ints(value: Field) -> tuple[int, ...]:
    assert isinstance(value, tuple)
    return value


@dataclass(frozen=True)
class _Rows:
    """Some rows of a matrix: from `first`, counted through all matrices of `height` rows."""

    first: int
    count: int
    height: int


def _band(graph: Graph, op: Op, call: Call, rows: _Rows) -> tuple[dict[str, Field], list[int]]:
    """The fields in which the call for some rows differs from the call for all, and the first element
    that it reads of each operand and, of a product, writes of its result."""
    row = graph.tensors[op.outputs[0]].shape[-1]
    first, count = rows.first, rows.count
    if isinstance(op.attrs, ops.BatchMatmul):
        matrix, line = divmod(first, rows.height)
        starts = []
        for each, own_line in zip(_placed(graph, op), (line, 0, line), strict=True):
            group, number = divmod(matrix, each.shape[1])
            at = zip((group, number, own_line), each.strides, strict=False)
            starts.append(each.offset + sum(place * stride for place, stride in at))
        return {"groups": 1, "batches": 1, "rows": count}, starts
    if isinstance(op.attrs, _SOFTMAX):
        return {"outer": count}, [first * row]
    box = _rows_of_box(call, row, rows.height) if "dims" in dict(call.fields) else None
    if box is not None:
        dims, tables, last = box
        index = np.unravel_index(first, dims[:-last])
        starts = [sum(int(i) * s for i, s in zip(index, t, strict=False)) for t in tables]
        extents, steps = merged([count, *dims[-last:]], [t[-last - 1 :] for t in tables])
        changes: dict[str, Field] = {"rank": len(extents), "dims": extents}
        return changes | dict(zip(_tables(call), steps, strict=True)), starts
    changes, starts = {"count": count * row}, [first * row]
    if _PERIODS & set(call.int_fields):
        starts = []
        for name in sorted(_PERIODS):
            period = call.int_fields[name]
            whole = row % period != 0
            changes |= {name: count * row} if whole else {}
            starts.append(first * row % period if whole else 0)
    return changes, starts


def _offsets(
    graph: Graph, op: Op, call: Call, starts: Sequence[int], first: int, inside: set[int]
) -> tuple[int, ...]:
    """Of each argument in bytes; what exists in bands alone begins with the band."""
    out = graph.tensors[op.outputs[0]]
    places = {
        position: 0 if index in inside else start * graph.tensors[index].dtype.size
        for position, (index, start) in enumerate(zip(op.inputs, starts, strict=False))
    }
    if op.outputs[0] not in inside:
        made = max(n for n, arg in enumerate(call.args) if isinstance(arg, TensorArg))
        is_product = isinstance(op.attrs, ops.BatchMatmul)
        start = starts[-1] if is_product else first * out.shape[-1]
        places[made] = start * out.dtype.size
    return tuple(places.get(position, 0) for position in range(len(call.args)))
