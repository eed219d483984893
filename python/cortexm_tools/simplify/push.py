# SPDX-License-Identifier: Apache-2.0
"""Moves states up in place that a model shifts by a concatenation.

A part of a concatenation, sliced along its dimension, is a slice of that part: `torch.roll` followed by
an assignment of the last elements is the first form below.

concat(x[k:], new) has x without its first k elements along the dimension, and `new` behind; if `new` has
k elements, that is push(x, new). It is done for the state x alone, over which the result may lie.

A state that is read as nothing but images of one row, whose elements it has in the same logical order, and
these by depthwise convolutions, is kept as such images, channels last, as the convolutions read them. Views
keep the logical order, and along the last dimension, which is the same in both, a push commutes with
them: every column of new elements is in the same place.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph, Op, Tensor, channels_last, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers


def push_states(graph: Graph) -> Graph:
    build = GraphBuilder(graph)
    made_by = producers(graph)
    before = {state.before for state in graph.states}
    for op in graph.ops:
        if isinstance(op.attrs, ops.Slice):
            op = _slice_of_part(op, graph, made_by)
        elif isinstance(op.attrs, ops.Concat):
            op = _as_push(op, graph, made_by, before)
        build.add(op)
    return _keep_images(build.finish())


def _slice_of_part(op: Op, graph: Graph, made_by: dict[int, Op]) -> Op:
    """The slice of a concatenation's first operand, if it takes elements of that alone."""
    joined = made_by.get(op.inputs[0])
    if joined is None or not isinstance(joined.attrs, ops.Concat):
        return op
    assert isinstance(op.attrs, ops.Slice)
    dim, part = joined.attrs.dim, graph.tensors[joined.inputs[0]]
    count = graph.tensors[op.outputs[0]].shape[dim]
    first = op.attrs.begin[dim]
    last = first + op.attrs.step[dim] * (count - 1)
    inside = min(first, last) >= 0 and max(first, last) < part.shape[dim]
    return replace(op, inputs=joined.inputs[:1]) if inside else op


def _as_push(op: Op, graph: Graph, made_by: dict[int, Op], states: set[int]) -> Op:
    assert isinstance(op.attrs, ops.Concat)
    if len(op.inputs) != 2:
        return op
    dim, (kept, new) = op.attrs.dim, op.inputs
    cut = _whole(kept, graph, made_by)
    if cut is None or not isinstance(cut.attrs, ops.Slice) or cut.inputs[0] not in states:
        return op
    x, added = graph.tensors[cut.inputs[0]], graph.tensors[new].shape[dim]
    begin = tuple(added if d == dim else 0 for d in range(len(x.shape)))
    shape = graph.tensors[op.outputs[0]].shape
    if x.shape != shape or cut.attrs.begin != begin or set(cut.attrs.step) != {1}:
        return op
    return Op(ops.Push(dim), (cut.inputs[0], new), op.outputs, op.layer)


def _whole(index: int, graph: Graph, made_by: dict[int, Op]) -> Op | None:
    """What makes a tensor, in front of slices that take all of it."""
    op = made_by.get(index)
    while op is not None and isinstance(op.attrs, ops.Slice):
        x, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
        if x.shape != out.shape or any(op.attrs.begin) or set(op.attrs.step) != {1}:
            break
        op = made_by.get(op.inputs[0])
    return op


def _keep_images(graph: Graph) -> Graph:
    made_by, read_by = producers(graph), consumers(graph)
    build, states = GraphBuilder(graph), list(graph.states)
    pushes: dict[Op, tuple[Op, ...]] = {}
    dropped: list[Op] = []
    for place, state in enumerate(states):
        push, views = made_by.get(state.after), read_by.get(state.after, [])
        if (
            push is None
            or not isinstance(push.attrs, ops.Push)
            or push.inputs[0] != state.before
            or read_by[state.before] != [push]
            or state.after in graph.outputs
            or sum(other.after == state.after for other in states) != 1
            or push.attrs.dim != len(graph.tensors[state.before].shape) - 1
            or not views
            or not all(_is_image(view, graph, read_by) for view in views)
        ):
            continue
        shapes = {graph.tensors[view.outputs[0]].shape for view in views}
        if len(shapes) != 1:
            continue
        (shape,) = shapes
        first, new = graph.tensors[state.before], graph.tensors[push.inputs[1]]
        old = build.add_tensor(_image(first, shape))
        after = build.add_tensor(_image(graph.tensors[state.after], shape))
        columns = replace(new, shape=(*shape[:-1], new.shape[-1]), dim_order=contiguous(4))
        added = build.add_tensor(columns)
        pushes[push] = (
            Op(ops.View(), push.inputs[1:], (added,), push.layer),
            Op(ops.Push(3), (old, added), (after,), push.layer),
        )
        dropped += views
        for view in views:
            build.alias(view.outputs[0], after)
        states[place] = replace(
            state, before=old, after=after, initial=state.initial.reshape(shape)
        )
    for op in graph.ops:
        for kept in pushes.get(op, () if op in dropped else (op,)):
            build.add(kept)
    return build.finish(states=states)


def _image(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    return replace(tensor, shape=shape, dim_order=channels_last(4))


def _is_image(op: Op, graph: Graph, read_by: dict[int, list[Op]]) -> bool:
    """Whether it views columns as images of one row, which only depthwise convolutions read."""
    (out,), x = op.outputs, graph.tensors[op.inputs[0]]
    shape, readers = graph.tensors[out].shape, read_by.get(out, [])
    return (
        isinstance(op.attrs, ops.View)
        and len(shape) == 4
        and len(x.shape) != 4
        and shape[2] == 1
        and shape[3] == x.shape[-1]
        and out not in graph.kept
        and bool(readers)
        and all(isinstance(reader.attrs, ops.DepthwiseConv2d) for reader in readers)
    )
