# SPDX-License-Identifier: Apache-2.0
"""Moves states up in place that a model shifts by a concatenation.

A part of a concatenation, sliced along its dimension, is a slice of that part: `torch.roll` followed by
an assignment of the last elements is the first form below.

concat(x[k:], new) has x without its first k elements along the dimension, and `new` behind; if `new` has
k elements, that is push(x, new). It is done for the state x alone, over which the result may lie.

A state that is read as nothing but images by convolutions is kept as such images, channels last, as they read
them, whatever views and transpositions lead there. Let these bring every element to the place that
`where` says. If along one of the image's two axes lies the dimension that is pushed, in the same
order, each step of the way keeps that dimension in one piece, and the new elements, for which it is
shorter, go the same way to the end of that axis.

If the new elements are the results of a linear layer and would have to be put in another order for it, its
outputs are computed in that order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..ir import Array, Graph, Op, Tensor, channels_last, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers

_CONVOLUTIONS = (ops.Conv2d, ops.DepthwiseConv2d)


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


@dataclass(frozen=True)
class _Way:
    """From a state to the images that are read.

    Attributes:
        steps: views and transpositions, one after the other.
        where: for each element of the image, its place in the state in C order.
        axes: the dimension that is pushed, behind each step.
    """

    steps: tuple[Op, ...]
    where: Array
    axes: tuple[int, ...]

    @property
    def axis(self) -> int:
        return self.axes[-1]


def _keep_images(graph: Graph) -> Graph:
    made_by, read_by = producers(graph), consumers(graph)
    build, states = GraphBuilder(graph), list(graph.states)
    added: dict[Op, list[Op]] = {}
    dropped: list[Op] = []
    for place, state in enumerate(states):
        push = made_by.get(state.after)
        if (
            push is None
            or not isinstance(push.attrs, ops.Push)
            or push.inputs[0] != state.before
            or read_by[state.before] != [push]
            or state.after in graph.outputs
            or sum(other.after == state.after for other in states) != 1
        ):
            continue
        ways = _ways(graph, read_by, state.after, push.attrs.dim)
        if not ways or any(not np.array_equal(ways[0].where, way.where) for way in ways[1:]):
            continue
        old = graph.tensors[state.before]
        shape = ways[0].where.shape
        if old.shape == shape and old.dim_order == channels_last(4):
            continue
        after = build.add_tensor(_image(graph.tensors[state.after], shape))
        before = build.add_tensor(_image(old, shape))
        added[push], columns = _columns(build, push, ways[0], made_by, read_by)
        added[push].append(Op(ops.Push(ways[0].axis), (before, columns), (after,), push.layer))
        for way in ways:
            dropped += way.steps
            build.alias(way.steps[-1].outputs[0] if way.steps else state.after, after)
        initial = state.initial.reshape(-1)[ways[0].where]
        states[place] = replace(state, before=before, after=after, initial=initial)
    for op in graph.ops:
        for kept in added.get(op, () if op in dropped else (op,)):
            build.add(kept)
    return build.finish(states=states)


def _image(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    return replace(tensor, shape=shape, dim_order=channels_last(4))


def _ways(graph: Graph, read_by: dict[int, list[Op]], state: int, dim: int) -> list[_Way]:
    """The ways from a state to all that reads it; none if one does not end in images of a convolution."""
    shape = graph.tensors[state].shape
    time = np.arange(shape[dim]).reshape([-1 if d == dim else 1 for d in range(len(shape))])
    time = np.broadcast_to(time, shape)
    found: list[_Way] = []
    to_do = [(state, _Way((), np.arange(time.size).reshape(shape), (dim,)))]
    while to_do:
        index, way = to_do.pop()
        readers = read_by.get(index, [])
        if not readers or (index in graph.kept and index != state):
            return []
        images = [isinstance(r.attrs, _CONVOLUTIONS) and r.inputs[0] == index for r in readers]
        if all(images):
            if way.where.ndim != 4 or way.axis not in (2, 3):
                return []
            found.append(way)
            continue
        for reader in readers:
            if isinstance(reader.attrs, ops.View):
                where = way.where.reshape(graph.tensors[reader.outputs[0]].shape)
            elif isinstance(reader.attrs, ops.Transpose):
                where = way.where.transpose(reader.attrs.perm)
            else:
                return []
            axis = _axis(time.reshape(-1)[where], shape[dim])
            if axis is None:
                return []
            steps = (*way.steps, reader)
            to_do.append((reader.outputs[0], _Way(steps, where, (*way.axes, axis))))
    return found


def _axis(time: Array, count: int) -> int | None:
    """The dimension along which `time` counts up from 0 to `count` - 1, and no other one."""
    for axis, extent in enumerate(time.shape):
        counted = np.arange(count).reshape([-1 if d == axis else 1 for d in range(time.ndim)])
        if extent == count and bool((time == counted).all()):
            return axis
    return None


def _columns(
    build: GraphBuilder,
    push: Op,
    way: _Way,
    made_by: dict[int, Op],
    read_by: dict[int, list[Op]],
) -> tuple[list[Op], int]:
    """The new elements as images: the operators, and the tensor."""
    new = push.inputs[1]
    first, count = build.tensors[new], build.tensors[new].shape[way.axes[0]]
    done: list[Op] = []
    last = new
    for step, axis in zip(way.steps, way.axes[1:], strict=True):
        shape = list(build.tensors[step.outputs[0]].shape)
        shape[axis] = count
        out = replace(first, shape=tuple(shape), dim_order=contiguous(len(shape)))
        made = build.add_tensor(out)
        done.append(Op(step.attrs, (last,), (made,), push.layer))
        last = made
    _, channels, height, width = build.tensors[last].shape
    source = _source(build, new, made_by, read_by)
    if source is None or channels == 1 or height * width == 1 or count != 1:
        return done, last
    return _in_order(build, source, done, last, push)


def _source(
    build: GraphBuilder, index: int, made_by: dict[int, Op], read_by: dict[int, list[Op]]
) -> Op | None:
    """The linear layer of one row which a tensor is a view of, and nothing else reads."""
    op = made_by.get(index)
    while op is not None and isinstance(op.attrs, ops.View) and len(read_by[op.outputs[0]]) == 1:
        op = made_by.get(op.inputs[0])
    if op is None or not isinstance(op.attrs, ops.Linear) or len(read_by[op.outputs[0]]) != 1:
        return None
    out = build.tensors[op.outputs[0]]
    constant = all(build.tensors[i].is_constant for i in op.inputs[1:])
    return op if constant and out.shape[-1] == out.numel else None


def _in_order(
    build: GraphBuilder, linear: Op, done: list[Op], last: int, push: Op
) -> tuple[list[Op], int]:
    """The linear layer again, its outputs in the order of images, channels last: they are views of it."""
    attrs = linear.attrs
    assert isinstance(attrs, ops.Linear)
    image = build.tensors[last]
    outputs = image.numel
    places = np.arange(outputs)
    places = places.reshape(build.tensors[push.inputs[1]].shape)
    for op in done:
        if isinstance(op.attrs, ops.Transpose):
            places = places.transpose(op.attrs.perm)
        else:
            places = places.reshape(build.tensors[op.outputs[0]].shape)
    order = places.reshape(image.shape).transpose(0, 2, 3, 1).reshape(-1)
    if np.array_equal(order, np.arange(outputs)):
        return done, last
    constants = []
    for index in linear.inputs[1:]:
        tensor = build.tensors[index]
        assert tensor.data is not None
        constants.append(build.add_tensor(replace(tensor, data=tensor.data[order])))
    rescales = attrs.rescales
    if len(rescales) > 1:
        rescales = tuple(rescales[k] for k in order)
    row = build.add_tensor(build.tensors[linear.outputs[0]])
    _, c, h, w = image.shape
    pixels = build.add_tensor(replace(image, shape=(1, h, w, c), dim_order=contiguous(4)))
    turned = build.add_tensor(replace(image, dim_order=channels_last(4)))
    return [
        replace(
            linear,
            attrs=replace(attrs, rescales=rescales),
            inputs=(linear.inputs[0], *constants),
            outputs=(row,),
        ),
        Op(ops.View(), (row,), (pixels,), push.layer),
        Op(ops.Transpose((0, 3, 1, 2)), (pixels,), (turned,), push.layer),
    ], turned
