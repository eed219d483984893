# SPDX-License-Identifier: Apache-2.0
"""When each piece of memory is in use, and which may overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...ir import Graph
from ..types import Buffer, Part, Step
from .overlap import Distance, distance, write_range


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
