# SPDX-License-Identifier: Apache-2.0
"""Keeps a state as a ring that one depthwise convolution sums up, as the memory of an SVDF layer.

Of push(x, new), which the convolution alone reads, with one window that is all of the image, a result is the
requantized sum over the steps, oldest first, of (code - in_zero_point) * weight. The ring has the same
steps in the order of time from some position on: `new` is written over the oldest ones, which push would
have dropped, and those behind it are then the oldest. So each code meets the same weight, and sums of
integers do not depend on their order. Nothing is moved but what is new.

Channels lie in fours, with all rows of four of them in one piece. If the new elements are results of a linear
layer in another order, its outputs are computed in this one; and to fill up the last four, it gets outputs
whose weights are zero, as are theirs over time. Nobody reads what comes of them.

Weights that fit into 4 bits are stored in bytes: to unpack them takes longer than the sums. A
memory of int16 codes is moved up, by blocks of words: far less than its convolution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..ir import Array, DType, Graph, Op, State, Tensor, contiguous, ops
from ..ir.edit import GraphBuilder, consumers, producers


@dataclass(frozen=True)
class _Memory:
    """A state that becomes a ring.

    Attributes:
        push, conv: what writes it, and what reads it.
        turns: pushes after which all of it is new.
        rows: of all channels, that are new with each of them.
        channels: of the ring, a multiple of four.
        source: the linear layer of one row that computes what is new, for nothing else.
        places: the new elements in its results, or else in what is pushed.
    """

    state: State
    push: Op
    conv: Op
    turns: int
    rows: int
    channels: int
    source: Op | None
    places: Array


def keep_rings(graph: Graph) -> Graph:
    made_by, read_by = producers(graph), consumers(graph)
    found = [_memory(graph, state, made_by, read_by) for state in graph.states]
    by_push = {memory.push.outputs: memory for memory in found if memory is not None}
    if not by_push:
        return graph
    build = GraphBuilder(graph)
    kept = {memory.state.before for memory in by_push.values()}
    states = [state for state in graph.states if state.before not in kept]
    rings: dict[Op, tuple[_Memory, int, int]] = {}
    for op in graph.ops:
        if op.outputs in by_push:
            memory = by_push[op.outputs]
            ring, position = _write(build, memory, states)
            rings[memory.conv] = (memory, ring, position)
        elif op in rings:
            _sum(build, *rings[op], states)
        else:
            build.add(op)
    return build.finish(states=states)


def _memory(
    graph: Graph, state: State, made_by: dict[int, Op], read_by: dict[int, list[Op]]
) -> _Memory | None:
    """The state as a ring, if it can be one."""
    push, readers = made_by.get(state.after), read_by.get(state.after, [])
    if push is None or not isinstance(push.attrs, ops.Push) or len(readers) != 1:
        return None
    (conv,) = readers
    x, dim = graph.tensors[state.after], push.attrs.dim
    if not isinstance(conv.attrs, ops.DepthwiseConv2d) or conv.inputs[0] != state.after:
        return None
    window = conv.attrs.window
    new = graph.tensors[push.inputs[1]].shape[dim]
    sole = sum(other.after == state.after for other in graph.states) == 1
    if (
        not sole
        or push.inputs[0] != state.before
        or read_by[state.before] != [push]
        or state.after in graph.outputs
        or x.dtype is not DType.S8
        or x.shape[0] != 1
        or dim not in (2, 3)
        or x.shape[dim] % new
        or window.kernel != x.shape[2:]
        or window.dilation != (1, 1)
        or any(window.padding)
        or graph.tensors[conv.outputs[0]].shape != (1, x.shape[1], 1, 1)
        or not all(graph.tensors[index].is_constant for index in conv.inputs[1:])
    ):
        return None
    source, places = _source(graph, push.inputs[1], made_by, read_by)
    channels = -(-x.shape[1] // 4) * 4
    if channels != x.shape[1] and source is None:
        return None
    turns, rows = x.shape[dim] // new, new * x.shape[5 - dim]
    return _Memory(state, push, conv, turns, rows, channels, source, places)


def _write(build: GraphBuilder, memory: _Memory, states: list[State]) -> tuple[int, int]:
    """Adds what writes the new rows; the ring with them, and their position."""
    push, state = memory.push, memory.state
    assert isinstance(push.attrs, ops.Push)
    old = build.tensors[state.before]
    chunks, turns, rows = memory.channels // 4, memory.turns, memory.rows
    initial = state.initial.transpose(0, 1, 3, 2) if push.attrs.dim == 3 else state.initial
    initial = _filled(initial[0], memory.channels).reshape(chunks, 4, turns, rows)
    tensor = replace(old, shape=(chunks, turns, rows, 4), dim_order=contiguous(4))
    before, after = (build.add_tensor(tensor) for _ in range(2))
    place = Tensor(f"{old.name}_position", DType.S32, (1,), contiguous(1))
    position = build.add_tensor(place)
    values = _values(build, memory)
    put = ops.IndexPut((1,), False)
    build.add(Op(put, (before, values, position), (after,), push.layer))
    states.append(replace(state, before=before, after=after, initial=initial.transpose(0, 2, 3, 1)))
    return after, position


def _filled(values: Array, count: int, fill: int = 0) -> Array:
    """`values` with as many more along the first dimension as make `count` of them."""
    more = np.full((count - len(values), *values.shape[1:]), fill, values.dtype)
    return np.concatenate([values, more])


def _values(build: GraphBuilder, memory: _Memory) -> int:
    """The new rows, [chunks, 1, rows, 4]."""
    push, rows, chunks = memory.push, memory.rows, memory.channels // 4
    assert isinstance(push.attrs, ops.Push)
    new = push.inputs[1]
    first = build.tensors[new]
    perm = (0, 2, 3, 1) if push.attrs.dim == 2 else (0, 3, 2, 1)
    shape = chunks, 1, rows, 4
    if memory.source is not None:
        places = memory.places.transpose(perm).reshape(rows, -1)
        places = _filled(places.T, memory.channels, -1).T
        order = places.reshape(rows, chunks, 4).transpose(1, 0, 2).reshape(-1)
        if not np.array_equal(order, np.arange(memory.places.size)):
            return _reordered(build, memory.source, order, shape)
    steps: list[ops.Transpose | tuple[int, ...]] = [ops.Transpose(perm)]
    if rows > 1:
        steps += [(rows, chunks, 4), ops.Transpose((1, 0, 2))]
    steps.append(shape)
    last, extents = new, first.shape
    for step in steps:
        if isinstance(step, tuple):
            attrs: ops.View | ops.Transpose = ops.View()
            extents = step
        else:
            attrs = step
            extents = tuple(extents[d] for d in step.perm)
        order_of = contiguous(len(extents))
        made = build.add_tensor(replace(first, shape=extents, dim_order=order_of))
        build.add(Op(attrs, (last,), (made,), push.layer))
        last = made
    return last


def _source(
    graph: Graph, index: int, made_by: dict[int, Op], read_by: dict[int, list[Op]]
) -> tuple[Op | None, Array]:
    """The linear layer of one row of which a tensor is the results, if nothing else reads them; and which
    of them each element is, or else of the tensor."""
    ways: list[Op] = []
    op = made_by.get(index)
    alone = len(read_by[index]) == 1
    while op is not None and alone and isinstance(op.attrs, ops.View | ops.Transpose):
        ways.append(op)
        alone = len(read_by[op.inputs[0]]) == 1
        op = made_by.get(op.inputs[0])
    shape = graph.tensors[index].shape
    if op is None or not alone or not isinstance(op.attrs, ops.Linear):
        return None, np.arange(graph.tensors[index].numel).reshape(shape)
    out = graph.tensors[op.outputs[0]]
    constant = all(graph.tensors[i].is_constant for i in op.inputs[1:])
    if not constant or out.shape[-1] != out.numel or op.outputs[0] in graph.kept:
        return None, np.arange(out.numel).reshape(shape)
    places = np.arange(out.numel).reshape(out.shape)
    for way in reversed(ways):
        if isinstance(way.attrs, ops.Transpose):
            places = places.transpose(way.attrs.perm)
        else:
            places = places.reshape(graph.tensors[way.outputs[0]].shape)
    return op, places


def _reordered(build: GraphBuilder, linear: Op, order: Array, shape: tuple[int, ...]) -> int:
    """The linear layer again, with its outputs in this order, of which -1 has weights of zero, as a tensor of
    this shape."""
    attrs = linear.attrs
    assert isinstance(attrs, ops.Linear)
    constants = []
    for index in linear.inputs[1:]:
        tensor = build.tensors[index]
        assert tensor.data is not None
        chosen = np.where(
            np.less(order, 0).reshape(-1, *[1] * (tensor.data.ndim - 1)), 0, tensor.data[order]
        )
        data = chosen.astype(tensor.data.dtype)
        constants.append(build.add_tensor(replace(tensor, shape=data.shape, data=data)))
    rescales = attrs.rescales
    if len(rescales) > 1:
        rescales = tuple(rescales[k] for k in order)
    out = build.tensors[linear.outputs[0]]
    row = build.add_tensor(replace(out, shape=(*out.shape[:-1], order.size)))
    made = build.add_tensor(replace(out, shape=shape, dim_order=contiguous(len(shape))))
    operands = linear.inputs[0], *constants
    build.add(
        replace(linear, attrs=replace(attrs, rescales=rescales), inputs=operands, outputs=(row,))
    )
    build.add(Op(ops.View(), (row,), (made,), linear.layer))
    return made


def _sum(
    build: GraphBuilder, memory: _Memory, ring: int, position: int, states: list[State]
) -> None:
    """Adds the operator in place of the convolution."""
    conv, push = memory.conv, memory.push
    attrs = conv.attrs
    assert isinstance(attrs, ops.DepthwiseConv2d) and isinstance(push.attrs, ops.Push)
    weight, out = build.tensors[conv.inputs[1]], build.tensors[conv.outputs[0]]
    channels, more = memory.channels, memory.channels - out.shape[1]
    assert weight.data is not None
    data = weight.data[0].transpose(1, 0, 2) if push.attrs.dim == 3 else weight.data[0]
    data = np.pad(data.reshape(-1, data.shape[2]), ((0, 0), (0, more)))
    constants = [data]
    for index in conv.inputs[2:]:
        bias = build.tensors[index].data
        assert bias is not None
        constants.append(_filled(bias.reshape(-1), channels))
    added = [
        build.add_tensor(
            replace(build.tensors[i], shape=d.shape, dim_order=contiguous(d.ndim), data=d)
        )
        for i, d in zip(conv.inputs[1:], constants, strict=True)
    ]
    after = build.add_tensor(build.tensors[position])
    row = build.add_tensor(replace(out, shape=(1, channels), dim_order=contiguous(2)))
    summed = ops.DepthwiseRing(
        attrs.in_zero_point,
        attrs.out_zero_point,
        (*attrs.rescales, *attrs.rescales[-1:] * more),
        attrs.act_min,
        attrs.act_max,
    )
    build.add(Op(summed, (position, ring, *added), (after, row), conv.layer))
    if more:
        cut = build.add_tensor(replace(out, shape=out.shape[:2], dim_order=contiguous(2)))
        build.add(Op(ops.Slice((0, 0), (1, 1)), (row,), (cut,), conv.layer))
        row = cut
    build.add(Op(ops.View(), (row,), conv.outputs, conv.layer))
    name = f"{memory.state.name}_position"
    states.append(State(name, position, after, np.zeros(1, np.int32)))
