# SPDX-License-Identifier: Apache-2.0
"""Which tensors share memory, and when each piece of memory is in use."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..ir import Graph, Op, Tensor, ops, same_layout
from .access import Distance, distance, write_range
from .types import Buffer, Part, Step

_IN_PLACE = (
    *(ops.Add, ops.Mul, ops.Div, ops.Minimum, ops.Maximum, ops.Activation),
    *(ops.Unary, ops.Binary, ops.Clamp),
)


def is_alias(op: Op, graph: Graph) -> bool:
    """Whether the result has the operand's bytes in the operand's order, so that no copy is needed."""
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if x.is_constant:
        return False
    if isinstance(op.attrs, ops.View):
        return True
    if isinstance(op.attrs, ops.Clone):
        return same_layout(x.shape, x.dim_order, out.dim_order)
    if isinstance(op.attrs, ops.Transpose):
        order = tuple(op.attrs.perm[dim] for dim in out.dim_order)
        return same_layout(x.shape, x.dim_order, order)
    return False


def share_memory(graph: Graph, banded: frozenset[int] = frozenset()) -> dict[int, int]:
    """Maps every tensor in the arena to the tensor whose memory it uses.

    Results of the operators in `banded`, which are computed in bands of rows, have their own memory.

    Views share with their operand, unless both are visible from outside (an input returned as an
    output needs a copy, and so do two outputs with one content). An element-wise result takes the
    memory of an operand of its size that dies there: its kernel reads an element before it writes
    the one in its place.

    A new state takes the memory of the old one. Views of the old one that are read after it is overwritten
    have their own memory.

    What is written by index takes the memory of the operand that dies, of which all else stays.
    """
    group: dict[int, int] = {i: i for i in graph.given}
    states = {state.after: state.before for state in graph.states}
    written = {
        states[out]: step
        for step, op in enumerate(graph.ops)
        for out in op.outputs
        if out in states
    }
    last = last_uses(graph)
    last.update(dict.fromkeys(written, len(graph.ops)))
    for step, op in enumerate(graph.ops):
        for out in op.outputs:
            group[out] = states.get(out, out)
        if op.outputs[0] in states or step in banded:
            pass
        elif is_alias(op, graph) and _is_read_late(op, step, group, last, written):
            pass
        elif is_alias(op, graph) and _may_alias(op, graph, group):
            group[op.outputs[0]] = group[op.inputs[0]]
        elif isinstance(op.attrs, (*_IN_PLACE, ops.IndexPut)):
            target = _dying_operand(op, graph, group, last, step)
            if target is not None:
                group[op.outputs[0]] = target
        root = group[op.outputs[0]]
        last[root] = max(last[root], last[op.outputs[0]])
    return group


def _may_alias(op: Op, graph: Graph, group: dict[int, int]) -> bool:
    outside = {group[i] for i in graph.given}
    outside.update(group[i] for i in graph.kept if i in group and i != op.outputs[0])
    return not (op.outputs[0] in graph.outputs and group[op.inputs[0]] in outside)


def _is_read_late(
    op: Op, step: int, group: dict[int, int], last: dict[int, int], written: dict[int, int]
) -> bool:
    """Whether a view of a state is read when, or after, the new state is written."""
    overwritten = written.get(group[op.inputs[0]], -1)
    return step < overwritten <= last[op.outputs[0]]


def overwrites_in_place(op: Op, graph: Graph, operand: int) -> bool:
    """Whether the result may be written over an operand that it reads."""
    x, out = graph.tensors[operand], graph.tensors[op.outputs[0]]
    if is_alias(op, graph):
        return True
    if isinstance(op.attrs, ops.IndexPut) and operand in op.inputs[1:]:
        return False
    return (
        isinstance(op.attrs, (*_IN_PLACE, ops.IndexPut))
        and x.nbytes == out.nbytes
        and x.dtype is out.dtype
        and _same_place(x, out)
    )


def _dying_operand(
    op: Op, graph: Graph, group: dict[int, int], last: dict[int, int], step: int
) -> int | None:
    out = graph.tensors[op.outputs[0]]
    for index in _replaceable(op):
        tensor = graph.tensors[index]
        if tensor.is_constant or tensor.nbytes != out.nbytes or tensor.dtype is not out.dtype:
            continue
        root = group[index]
        same = [i for i in op.inputs if group.get(i) == root]
        if not all(_same_place(graph.tensors[i], out) for i in same):
            continue
        if isinstance(op.attrs, ops.IndexPut) and len(same) > 1:
            continue
        if last[root] == step and _root_size(graph, group, root) == out.nbytes:
            return root
    return None


def _replaceable(op: Op) -> tuple[int, ...]:
    """The operands over which the result may be written: of a write by index the one that is kept."""
    return op.inputs[:1] if isinstance(op.attrs, ops.IndexPut) else op.inputs


def _same_place(tensor: Tensor, out: Tensor) -> bool:
    """Whether every element of `tensor` lies where that element of the result does."""
    missing = len(out.shape) - len(tensor.shape)
    order = (*range(missing), *(dim + missing for dim in tensor.dim_order))
    return (1,) * missing + tensor.shape == out.shape and same_layout(
        out.shape, order, out.dim_order
    )


def _root_size(graph: Graph, group: dict[int, int], root: int) -> int:
    return max(graph.tensors[i].nbytes for i, r in group.items() if r == root)


def last_uses(graph: Graph) -> dict[int, int]:
    """The last step that reads each tensor; outputs and new states are read after the last step."""
    last = {i: 0 for i in graph.given}
    for step, op in enumerate(graph.ops):
        for index in (*op.inputs, *op.outputs):
            last[index] = step
    for index in graph.kept:
        last[index] = len(graph.ops)
    return last


@dataclass(frozen=True)
class Pieces:
    """The buffers of an arena, without offsets.

    Attributes:
        buffer_of: for every tensor in the arena, the index of its buffer.
        scratch_of: for every step with scratch, the index of its buffer.
        parts: the tensors that lie in another one's buffer, in the result of a concatenation.
        distances: for pairs (operand, result) of buffers that may overlap, how many bytes the result
            may begin below the operand.
    """

    buffers: tuple[Buffer, ...]
    buffer_of: dict[int, int]
    scratch_of: dict[int, int]
    parts: dict[int, Part]
    distances: dict[tuple[int, int], int]


@dataclass
class Facts:
    """What was found out about steps, by their id, so that many choices of steps can be compared.

    `apart` are results that never overlap an operand, because the proof would take too long.
    """

    apart: frozenset[int] = frozenset()
    steps: dict[int, Step] = field(default_factory=dict)
    distances: dict[tuple[int, int], Distance | None] = field(default_factory=dict)
    bands: dict[int, dict[int, int]] = field(default_factory=dict)
    own: dict[tuple[int, int, int], tuple[_Own, Lives, Step]] = field(default_factory=dict)

    def distance(self, graph: Graph, step: Step, operand: int) -> Distance | None:
        key = id(step), operand
        if key not in self.distances:
            self.steps[id(step)] = step  # lives as long as its id is used
            self.distances[key] = distance(graph, step, operand, step.op.outputs[0])
        return self.distances[key]

    def band_sizes(self, graph: Graph, step: Step) -> dict[int, int]:
        if not step.fused:
            return {}
        if id(step) not in self.bands:
            self.steps[id(step)] = step
            self.bands[id(step)] = _band_sizes(graph, step)
        return self.bands[id(step)]

    def own_of(self, graph: Graph, lives: Lives, number: int, step: Step) -> _Own:
        key = id(lives), number, id(step)
        if key not in self.own:
            own = _own_of(graph, lives, number, step, self)
            self.own[key] = own, lives, step  # live as long as their ids are used
        return self.own[key][0]


@dataclass(frozen=True)
class Lives:
    """When each piece of memory is in use; the same for all heights of bands.

    Attributes:
        buffers: in the size of whole tensors, without scratch.
        buffer_of: for every tensor in the arena, the index of its buffer.
        parts: those that lie in the result of a concatenation instead.
    """

    buffers: tuple[Buffer, ...]
    buffer_of: dict[int, int]
    parts: dict[int, Part]


def lives_of(
    graph: Graph, steps: tuple[Step, ...], group: dict[int, int], parts: dict[int, Part]
) -> Lives:
    """When the pieces of the arena live, and which one holds each tensor.

    Args:
        group: for every tensor with a buffer the one whose memory it uses.
        parts: those that lie in the result of a concatenation instead.
    """
    first = {i: 0 for i in graph.inputs}
    last = {i: 0 for i in graph.inputs}
    for number, step in enumerate(steps):
        for index in (*step.inputs, *step.inside, *step.op.outputs):
            while index in parts:
                index = parts[index].result
            if index not in group:
                continue
            root = group[index]
            first.setdefault(root, number)
            last[root] = max(last.get(root, 0), number)
    for index in graph.outputs:
        if index in group:
            last[group[index]] = len(steps)
    sizes: dict[int, int] = {}
    aligns: dict[int, int] = {}
    for index, root in group.items():
        tensor = graph.tensors[index]
        sizes[root] = max(sizes.get(root, 0), tensor.nbytes)
        aligns[root] = max(aligns.get(root, 4), tensor.dtype.size)
    roots = sorted(first, key=lambda i: (first[i], i))
    buffers = tuple(
        Buffer(graph.tensors[root].name, sizes[root], aligns[root], first[root], last[root])
        for root in roots
    )
    place_of = {root: number for number, root in enumerate(roots)}
    buffer_of = {index: place_of[root] for index, root in group.items() if root in place_of}
    return Lives(buffers, buffer_of, parts)


@dataclass(frozen=True)
class _Own:
    """What one step, at its place among others, brings into the arena.

    Attributes:
        bands: by index, the buffers of which only bands exist.
        scratch: its scratch, if it has any.
        distances: operands that its result may overlap, as in Pieces.
        aligns: what that needs, by buffer.
    """

    bands: dict[int, Buffer]
    scratch: Buffer | None
    distances: dict[tuple[int, int], int]
    aligns: dict[int, int]


def pieces_of(graph: Graph, steps: tuple[Step, ...], lives: Lives, facts: Facts) -> Pieces:
    """The pieces of the arena, and which one holds each tensor and each step's scratch."""
    result = list(lives.buffers)
    scratch_of: dict[int, int] = {}
    distances: dict[tuple[int, int], int] = {}
    for number, step in enumerate(steps):
        own = facts.own_of(graph, lives, number, step)
        for place, buffer in own.bands.items():
            result[place] = buffer
        for place, align in own.aligns.items():
            result[place] = replace(result[place], align=math.lcm(result[place].align, align))
        distances.update(own.distances)
        if own.scratch is not None:
            scratch_of[number] = len(result)
            result.append(own.scratch)
    return Pieces(tuple(result), lives.buffer_of, scratch_of, lives.parts, distances)


def _own_of(graph: Graph, lives: Lives, number: int, step: Step, facts: Facts) -> _Own:
    bands = {
        place: replace(lives.buffers[place], nbytes=nbytes)
        for index, nbytes in facts.band_sizes(graph, step).items()
        for place in [lives.buffer_of[index]]
    }
    scratch = None
    if step.scratch:
        scratch = Buffer(f"scratch of step {number}", step.scratch, 8, number, number)
    distances: dict[tuple[int, int], int] = {}
    aligns: dict[int, int] = {}
    for pair, found in _overlaps(graph, number, step, lives, facts):
        distances[pair] = found.nbytes
        for place in pair if found.modulus > 1 else ():
            aligns[place] = math.lcm(aligns.get(place, 1), found.modulus)
    return _Own(bands, scratch, distances, aligns)


def _band_sizes(graph: Graph, step: Step) -> dict[int, int]:
    """Bytes of each tensor of which only bands exist."""
    sizes: dict[int, int] = {}
    inside = set(step.inside)
    for call in step.calls:
        target = call.result
        if target is not None and target.index in inside:
            end = write_range(graph, call, target)[1] + max(0, (call.turns - 1) * target.step)
            sizes[target.index] = max(sizes.get(target.index, 0), end)
    return sizes


def _overlaps(
    graph: Graph, number: int, step: Step, lives: Lives, facts: Facts
) -> Iterator[tuple[tuple[int, int], Distance]]:
    """Which operands that die in a step its result may overlap, as pairs (operand, result)."""
    buffers, buffer_of = lives.buffers, lives.buffer_of
    if len(step.op.outputs) != 1 or not step.calls or step.op.outputs[0] not in buffer_of:
        return
    if facts.apart and any(index in facts.apart for op in step.ops for index in op.outputs):
        return
    result = buffer_of[step.op.outputs[0]]
    if buffers[result].first != number:
        return
    read = {buffer_of[i] for i in step.inputs if i in buffer_of}
    if result in read:
        return  # it is written over an input, which lies apart from all others
    for operand in sorted(place for place in read if buffers[place].last == number):
        each = [facts.distance(graph, step, i) for i in step.inputs if buffer_of.get(i) == operand]
        known = [d for d in each if d is not None]
        if len(known) == len(each):
            modulus = math.lcm(*(d.modulus for d in known))
            yield (operand, result), Distance(max(d.nbytes for d in known), modulus)
