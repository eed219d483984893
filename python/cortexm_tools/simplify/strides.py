# SPDX-License-Identifier: Apache-2.0
"""Lets products of matrices read their operands, and write their results, where they lie.

Heads of attention are cut out of one linear layer's rows by views, transpositions and slices in a row,
each of which would be a copy, and the results go back into such rows. All of them only choose which
element of the first tensor stands at which place. That is found by moving the numbers of the elements
the same way: where they are a sum of the place's indices times a stride each, the product takes these
strides (`ops.Matrices`), and nothing is moved. What a kernel cannot read so, rows of the left operand
that are not in one piece, is moved once, by one strided copy.

The layer that makes queries, keys and values in one then is two layers, each with its rows of the weights
and of the biases, and the same sums: the memory of queries and keys is free before that of values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..ir import Array, Graph, Layout, Op, Tensor, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers, remove_dead

# Results in C order: reading them by strides asks for no copy of its own.
_IN_ORDER = (Layout.ROWS, Layout.MATRICES, Layout.WEIGHTS)
_MOVES = ops.View | ops.Transpose | ops.Slice


def move_operands_once(graph: Graph) -> Graph:
    return _split_layers(remove_dead(_place_results(remove_dead(_place_operands(graph)))))


# -- operands -----------------------------------------------------------------------------------------


def _place_operands(graph: Graph) -> Graph:
    made_by = producers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        if isinstance(op.attrs, ops.BatchMatmul):
            op = _reading(build, made_by, op)
        build.add(op)
    return build.finish()


def _reading(build: GraphBuilder, made_by: dict[int, Op], op: Op) -> Op:
    for position, name in enumerate(("lhs", "rhs")):
        index = op.inputs[position]
        if getattr(op.attrs, name) is None:
            root, found = _read(build, made_by, index, is_left=position == 0)
            attrs = replace(op.attrs, **{name: found})
            assert isinstance(attrs, ops.BatchMatmul)
            inputs = (root, *op.inputs[1:]) if position == 0 else (op.inputs[0], root)
            if _fits(build, attrs, inputs):
                op = replace(op, attrs=attrs, inputs=inputs)
    return op


def _fits(build: GraphBuilder, attrs: ops.BatchMatmul, inputs: tuple[int, ...]) -> bool:
    """Whether both operands lie in groups of one size."""
    lhs, rhs = (build.tensors[index] for index in inputs)
    return attrs.placed(lhs, rhs) is not None


def _read(
    build: GraphBuilder, made_by: dict[int, Op], index: int, *, is_left: bool
) -> tuple[int, ops.Matrices | None]:
    """What a product reads in the place of `index`, and where in it the matrices lie."""
    chain: list[Op] = []
    root = index
    while (op := made_by.get(root)) is not None and isinstance(op.attrs, _MOVES):
        chain.append(op)
        root = op.inputs[0]
    if not _is_in_order(build, made_by, root):
        return index, None
    while moves := sum(not isinstance(each.attrs, ops.View) for each in chain):
        root = chain[-1].inputs[0]
        places = _moved(chain, build)
        found = _matrices(places)
        if found is not None:
            if _is_dense(places, build.tensors[root]):
                return _viewed(build, root, build.tensors[index], chain[0]), None
            if _is_readable(found, is_left):
                return root, found
            if moves > 1:
                return _copied(build, root, found, index, chain[0]), None
        chain.pop()  # perhaps from what comes out of the first of them
    return index, None


def _is_in_order(build: GraphBuilder, made_by: dict[int, Op], index: int) -> bool:
    """Whether a tensor is in C order: an operator that makes it so, or a state into which one writes."""
    op = made_by.get(index)
    while op is not None and isinstance(op.attrs, ops.IndexPut):
        index = op.inputs[0]
        op = made_by.get(index)
    while op is not None and op.attrs.traits.layout is Layout.SAME:
        index = op.inputs[0]
        op = made_by.get(index)
    if op is None:
        given = build.tensors[index]
        return not given.is_constant and given.dim_order == contiguous(len(given.shape))
    return op.attrs.traits.layout in _IN_ORDER


def _moved(chain: list[Op], build: GraphBuilder) -> Array:
    """For each element of what the operators make, of which the last comes first, its number in what
    they begin with."""
    first = build.tensors[chain[-1].inputs[0]]
    places = np.arange(first.numel).reshape(first.shape)
    for each in reversed(chain):
        result = build.tensors[each.outputs[0]]
        places = np.asarray(each.attrs.compute((result,), places))
    return places


def _matrices(places: Array) -> ops.Matrices | None:
    """Places of matrices [B,I,J] as sums of strides, with as few groups as possible; None if they are
    no such sums."""
    batches, rows, cols = places.shape
    for groups in range(1, batches + 1):
        if batches % groups:
            continue
        box = places.astype(np.int64).reshape(groups, batches // groups, rows, cols)
        first = int(box.flat[0])
        strides = tuple(
            int(box[tuple(int(d == axis) for d in range(4))]) - first if extent > 1 else 0
            for axis, extent in enumerate(box.shape)
        )
        if min(strides) < 0:
            continue
        found = ops.Matrices(box.shape, strides, first)
        if np.array_equal(found.places(), places):
            return found
    return None


def _is_readable(found: ops.Matrices, is_left: bool) -> bool:
    """Whether kernels read these: the left ones by rows, the right ones by rows or columns."""
    in_one = [n == 1 or s == 1 for n, s in zip(found.shape, found.strides, strict=True)]
    return in_one[3] or (in_one[2] and not is_left)


def _is_dense(places: Array, root: Tensor) -> bool:
    return places.size == root.numel and bool((np.diff(places.reshape(-1)) == 1).all())


def _viewed(build: GraphBuilder, root: int, like: Tensor, last: Op) -> int:
    """`root` with the shape of another tensor."""
    if build.tensors[root].shape == like.shape:
        return root
    made = build.add_tensor(replace(like, dim_order=contiguous(len(like.shape))))
    build.add(Op(ops.View(), (root,), (made,), last.layer))
    return made


def _copied(build: GraphBuilder, root: int, found: ops.Matrices, index: int, last: Op) -> int:
    """A tensor like `index`, moved from `root` by one copy."""
    like = build.tensors[index]
    made = build.add_tensor(replace(like, shape=found.shape, dim_order=contiguous(4)))
    attrs = ops.AsStrided(found.strides, found.offset)
    build.add(Op(attrs, (root,), (made,), last.layer))
    return _viewed(build, made, like, last)


# -- results ------------------------------------------------------------------------------------------


def _place_results(graph: Graph) -> Graph:
    read_by = consumers(graph)
    build = GraphBuilder(graph)
    dropped: set[int] = set()
    for op in graph.ops:
        if op.outputs[0] in dropped:
            continue
        if isinstance(op.attrs, ops.BatchMatmul) and op.attrs.out is None:
            chain, found = _written(graph, read_by, op)
            if chain:
                dropped |= {each.outputs[0] for each in chain}
                op = replace(op, attrs=replace(op.attrs, out=found), outputs=chain[-1].outputs)
        build.add(op)
    return build.finish()


def _written(
    graph: Graph, read_by: dict[int, list[Op]], op: Op
) -> tuple[list[Op], ops.Matrices | None]:
    """The operators that bring a product's result to where only operators on rows read it, and where its
    matrices lie there; no operators if it cannot be written there."""
    (index,) = op.outputs
    attrs, shape = op.attrs, graph.tensors[index].shape
    assert isinstance(attrs, ops.BatchMatmul)
    places = np.arange(math.prod(shape)).reshape(shape)
    chain: list[Op] = []
    best: tuple[list[Op], ops.Matrices | None] = [], None
    while index not in graph.kept and len(read_by.get(index, ())) == 1:
        (reader,) = read_by[index]
        if not isinstance(reader.attrs, ops.View | ops.Transpose):
            break
        chain.append(reader)
        (index,) = reader.outputs
        places = np.asarray(reader.attrs.compute((graph.tensors[index],), places))
        if _is_dense(places, graph.tensors[index]) or not _reads_rows(read_by.get(index, ())):
            continue
        back = np.empty(places.size, np.int64)
        back[places.reshape(-1)] = np.arange(places.size)
        found = _matrices(back.reshape(shape))
        if found is not None and _is_readable(found, is_left=True) and index not in graph.kept:
            if (
                replace(attrs, out=found).placed(*(graph.tensors[each] for each in op.inputs))
                is not None
            ):
                best = list(chain), found
    return best


def _reads_rows(readers: list[Op] | tuple[Op, ...]) -> bool:
    return bool(readers) and all(each.attrs.traits.layout in _IN_ORDER for each in readers)


# -- layers of several parts --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """Outputs of a layer that one operand is made of, from `first` to before `end`."""

    first: int
    end: int


def _split_layers(graph: Graph) -> Graph:
    read_by, made_by = consumers(graph), producers(graph)
    build = GraphBuilder(graph)
    # Of the result of a layer: what takes its place.
    parts_of: dict[int, list[tuple[_Part, int]]] = {}
    for op in graph.ops:
        if isinstance(op.attrs, ops.Linear) and (parts := _parts(graph, read_by, op)):
            parts_of[op.outputs[0]] = [(part, _add_part(build, op, part)) for part in parts]
            continue
        if isinstance(op.attrs, ops.BatchMatmul):
            for position in (0, 1):
                op = _of_part(graph, made_by, parts_of, op, position)
        build.add(op)
    return remove_dead(build.finish()) if parts_of else graph


def _layer_result(graph: Graph, made_by: dict[int, Op], index: int) -> int:
    """What a tensor is a view of."""
    while (op := made_by.get(index)) is not None and isinstance(op.attrs, ops.View):
        index = op.inputs[0]
    return index


def _parts(graph: Graph, read_by: dict[int, list[Op]], op: Op) -> list[_Part]:
    """The outputs that products of matrices read of a layer, if nothing else reads them and others read
    some than others; else none."""
    width = graph.tensors[op.outputs[0]].shape[-1]
    if any(not graph.tensors[index].is_constant for index in op.inputs[1:]):
        return []
    found: dict[_Part, set[int]] = {}  # the results of those that read it
    to_do = [op.outputs[0]]
    while to_do:
        index = to_do.pop()
        if index in graph.kept:
            return []
        for reader in read_by.get(index, ()):
            if isinstance(reader.attrs, ops.View):
                to_do.append(reader.outputs[0])
                continue
            if not isinstance(reader.attrs, ops.BatchMatmul):
                return []
            for own, read in zip((reader.attrs.lhs, reader.attrs.rhs), reader.inputs, strict=True):
                part = None if own is None else _part(own, width)
                if read == index and part is None:
                    return []
                if read == index and part is not None:
                    found.setdefault(part, set()).add(reader.outputs[0])
    parts = sorted(found, key=lambda part: (part.first, part.end))
    if any(a.end > b.first for a, b in pairwise(parts)):
        return []
    joined: list[_Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last is not None and last.end == part.first and found[last] == found[part]:
            joined[-1] = _Part(last.first, part.end)
            found[joined[-1]] = found[part]
        else:
            joined.append(part)
    return joined if len(joined) > 1 else []


def _part(own: ops.Matrices, width: int) -> _Part | None:
    """The outputs of a layer with so many of which matrices in its results are made."""
    first, last = own.offset % width, own.offset % width
    for extent, stride in zip(own.shape, own.strides, strict=True):
        if stride < width:
            last += (extent - 1) * stride
        elif stride % width:
            return None
    return _Part(first, last + 1) if last < width else None


def _add_part(build: GraphBuilder, op: Op, part: _Part) -> int:
    """The layer's part as a layer; returns its result, of two dimensions."""
    attrs = op.attrs
    assert isinstance(attrs, ops.Linear)
    result = build.tensors[op.outputs[0]]
    each = attrs.rescales if len(attrs.rescales) == 1 else attrs.rescales[part.first : part.end]
    constants = []
    for index in op.inputs[1:]:
        tensor = build.tensors[index]
        assert tensor.data is not None
        data = tensor.data[part.first : part.end]
        constants.append(build.add_tensor(replace(tensor, shape=data.shape, data=data)))
    shape = *result.shape[:-1], part.end - part.first
    made = build.add_tensor(replace(result, shape=shape, dim_order=contiguous(len(shape))))
    build.add(Op(replace(attrs, rescales=each), (op.inputs[0], *constants), (made,), op.layer))
    return made


def _of_part(
    graph: Graph,
    made_by: dict[int, Op],
    parts_of: dict[int, list[tuple[_Part, int]]],
    op: Op,
    position: int,
) -> Op:
    """A product that reads a part of a layer, if one takes the place of its operand."""
    layer = _layer_result(graph, made_by, op.inputs[position])
    if layer not in parts_of:
        return op
    name = ("lhs", "rhs")[position]
    own: ops.Matrices = getattr(op.attrs, name)
    width = graph.tensors[layer].shape[-1]
    row, column = divmod(own.offset, width)
    ((part, made),) = (each for each in parts_of[layer] if each[0].first <= column < each[0].end)
    narrow = part.end - part.first
    steps = tuple(s if s < width else s // width * narrow for s in own.strides)
    moved = replace(own, strides=steps, offset=row * narrow + column - part.first)
    inputs = list(op.inputs)
    inputs[position] = made
    return replace(op, attrs=replace(op.attrs, **{name: moved}), inputs=tuple(inputs))
