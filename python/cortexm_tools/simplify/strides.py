# SPDX-License-Identifier: Apache-2.0
"""Moves an operand of a product of matrices once.

Heads of attention are cut out of one linear layer's rows by views, transpositions and slices in a row,
each of which would be a copy. All of them only choose which element of the first tensor stands at which
place: if that is a sum of the place's indices times a stride each, one strided copy from there gives
the same tensor, element by element. A transposition permutes the strides, a slice adds its begin times
the stride to the offset and multiplies the stride by its step, and a view keeps the elements in logical
order, which has strides if no dimension that it splits or joins has a gap. Where the strides are those
of logical order, there is nothing to copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ..ir import Graph, Layout, Op, contiguous, ops
from ..ir.edit import GraphBuilder, producers

# Results in C order: reading them by strides asks for no copy of its own.
_IN_ORDER = (Layout.ROWS, Layout.MATRICES, Layout.WEIGHTS)


@dataclass(frozen=True)
class _Access:
    """Element [i] is number offset + sum(i * strides) of the first tensor."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


def move_operands_once(graph: Graph) -> Graph:
    made_by = producers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        if isinstance(op.attrs, ops.BatchMatmul):
            moved = tuple(_moved(build, made_by, index) for index in op.inputs)
            op = replace(op, inputs=moved)
        build.add(op)
    return build.finish()


def _moved(build: GraphBuilder, made_by: dict[int, Op], index: int) -> int:
    """`index`, or a tensor like it that is read from what `index` comes from."""
    chain: list[Op] = []
    root = index
    while (op := made_by.get(root)) is not None and isinstance(
        op.attrs, ops.View | ops.Transpose | ops.Slice
    ):
        chain.append(op)
        root = op.inputs[0]
    if not _is_in_order(build, made_by, op):
        return index
    while sum(isinstance(each.attrs, ops.Transpose | ops.Slice) for each in chain) > 1:
        root = chain[-1].inputs[0]
        access = _composed(chain, build)
        if access is not None:
            return _copied(build, root, access, chain[0])
        chain.pop()  # perhaps from what comes out of the first of them
    return index


def _is_in_order(build: GraphBuilder, made_by: dict[int, Op], op: Op | None) -> bool:
    """Whether the result of `op` is in C order, as that of one that writes into a state may be."""
    while op is not None and isinstance(op.attrs, ops.IndexPut):
        first = build.tensors[op.inputs[0]]
        if op.inputs[0] not in made_by:
            return first.dim_order == contiguous(len(first.shape))
        op = made_by[op.inputs[0]]
    while op is not None and op.attrs.traits.layout is Layout.SAME:
        op = made_by.get(op.inputs[0])
    return op is not None and op.attrs.traits.layout in _IN_ORDER


def _composed(chain: list[Op], build: GraphBuilder) -> _Access | None:
    """What the operators, of which the last comes first, make of the elements that they begin with."""
    shape = build.tensors[chain[-1].inputs[0]].shape
    access: _Access | None = _Access(shape, _in_order(shape))
    for each in reversed(chain):
        access = _after(access, each, build.tensors[each.outputs[0]].shape) if access else None
    return access


def _copied(build: GraphBuilder, root: int, access: _Access, last: Op) -> int:
    """A tensor like the result of `last`, read from `root`."""
    like = build.tensors[last.outputs[0]]
    made = build.add_tensor(replace(like, dim_order=contiguous(len(like.shape))))
    whole = access.offset == 0 and like.numel == build.tensors[root].numel
    attrs: ops.View | ops.AsStrided = ops.AsStrided(access.strides, access.offset)
    if whole and _same(access.shape, access.strides, _in_order(access.shape)):
        attrs = ops.View()
    build.add(Op(attrs, (root,), (made,), last.layer))
    return made


def _in_order(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _same(shape: tuple[int, ...], left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether the strides are equal, where there is more than one element."""
    return all(n == 1 or a == b for n, a, b in zip(shape, left, right, strict=True))


def _after(access: _Access, op: Op, shape: tuple[int, ...]) -> _Access | None:
    """What `op` makes of an access; None if that has no strides."""
    attrs = op.attrs
    if isinstance(attrs, ops.Transpose):
        return _Access(shape, tuple(access.strides[d] for d in attrs.perm), access.offset)
    if isinstance(attrs, ops.Slice):
        begins = sum(b * s for b, s in zip(attrs.begin, access.strides, strict=True))
        steps = tuple(a * s for a, s in zip(attrs.step, access.strides, strict=True))
        return _Access(shape, steps, access.offset + begins)
    strides = _viewed(access, shape)
    return None if strides is None else _Access(shape, strides, access.offset)


def _viewed(access: _Access, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of the elements of an access in another shape; None if there are none."""
    runs: list[tuple[int, int]] = []
    for extent, stride in zip(reversed(access.shape), reversed(access.strides), strict=True):
        if extent == 1:
            continue
        if runs and stride == runs[-1][0] * runs[-1][1]:
            runs[-1] = runs[-1][0] * extent, runs[-1][1]
        else:
            runs.append((extent, stride))
    found: list[int] = []
    left, stride = runs.pop(0) if runs else (1, 1)
    for extent in reversed(shape):
        if extent == 1:
            found.append(0)
            continue
        if left == 1 and runs:
            left, stride = runs.pop(0)
        if left % extent:
            return None
        found.append(stride)
        left, stride = left // extent, stride * extent
    return tuple(reversed(found))
