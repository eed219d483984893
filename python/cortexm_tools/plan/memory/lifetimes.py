# SPDX-License-Identifier: Apache-2.0
"""When each buffer is in use, and which may overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...ir import Graph
from ..types import Buffer, Part, Step
from .overlap import Distance, distance, write_range


@dataclass(frozen=True)
class Unplaced:
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


class KnownStep:
    """A step, and what was found out about it, so that many choices of steps can be compared.

    It is itself alone that it equals, whatever calls another one has.
    """

    def __init__(self, graph: Graph, step: Step) -> None:
        self.step = step
        self._graph = graph
        self._distances: dict[int, Distance | None] = {}

    def distance(self, operand: int) -> Distance | None:
        """How far below `operand` its result may begin; None if they must lie apart."""
        if operand not in self._distances:
            made = self.step.op.outputs[0]
            self._distances[operand] = distance(self._graph, self.step, operand, made)
        return self._distances[operand]

    @cached_property
    def band_sizes(self) -> dict[int, int]:
        """Bytes of each tensor of which only bands exist."""
        sizes: dict[int, int] = {}
        inside = set(self.step.inside)
        for call in self.step.calls if inside else ():
            target = call.result
            if target is not None and target.index in inside:
                end = write_range(self._graph, call, target)[1]
                end += max(0, (call.turns - 1) * target.step)
                sizes[target.index] = max(sizes.get(target.index, 0), end)
        return sizes


@dataclass(frozen=True)
class Lives:
    """When each buffer is in use; the same for all heights of bands.

    Attributes:
        buffers: in the size of whole tensors, without scratch.
        buffer_of: for every tensor in the arena, the index of its buffer.
        parts: those that lie in the result of a concatenation instead.
        own: what steps were found to bring into the arena, by their place and the step.
    """

    buffers: tuple[Buffer, ...]
    buffer_of: dict[int, int]
    parts: dict[int, Part]
    own: dict[tuple[int, KnownStep], _Own] = field(default_factory=dict, compare=False)


def lives_of(
    graph: Graph, steps: Sequence[Step], group: dict[int, int], parts: dict[int, Part]
) -> Lives:
    """When the buffers of the arena live, and which one holds each tensor.

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
        distances: operands that its result may overlap, as in Unplaced.
        aligns: what that needs, by buffer.
    """

    bands: dict[int, Buffer]
    scratch: Buffer | None
    distances: dict[tuple[int, int], int]
    aligns: dict[int, int]


def unplaced_of(steps: Sequence[KnownStep], lives: Lives, apart: Set[int]) -> Unplaced:
    """The buffers of the arena, and which one holds each tensor and each step's scratch.

    Args:
        apart: results that never overlap an operand, because the proof would take too long.
    """
    result = list(lives.buffers)
    scratch_of: dict[int, int] = {}
    distances: dict[tuple[int, int], int] = {}
    for number, step in enumerate(steps):
        if (number, step) not in lives.own:
            lives.own[number, step] = _own_of(number, step, lives, apart)
        own = lives.own[number, step]
        for place, buffer in own.bands.items():
            result[place] = buffer
        for place, align in own.aligns.items():
            buffer = result[place]
            if buffer.align % align:
                align = math.lcm(buffer.align, align)
                result[place] = Buffer(buffer.name, buffer.nbytes, align, buffer.first, buffer.last)
        distances.update(own.distances)
        if own.scratch is not None:
            scratch_of[number] = len(result)
            result.append(own.scratch)
    return Unplaced(tuple(result), lives.buffer_of, scratch_of, lives.parts, distances)


def _own_of(number: int, known: KnownStep, lives: Lives, apart: Set[int]) -> _Own:
    sizes: dict[int, int] = {}
    for index, nbytes in known.band_sizes.items():
        place = lives.buffer_of[index]
        sizes[place] = max(sizes.get(place, 0), nbytes)
    bands = {place: replace(lives.buffers[place], nbytes=size) for place, size in sizes.items()}
    scratch = None
    if known.step.scratch:
        scratch = Buffer(f"scratch of step {number}", known.step.scratch, 8, number, number)
    distances: dict[tuple[int, int], int] = {}
    aligns: dict[int, int] = {}
    for pair, found in _overlaps(number, known, lives, apart):
        distances[pair] = found.nbytes
        for place in pair if found.modulus > 1 else ():
            aligns[place] = math.lcm(aligns.get(place, 1), found.modulus)
    return _Own(bands, scratch, distances, aligns)


def _overlaps(
    number: int, known: KnownStep, lives: Lives, apart: Set[int]
) -> Iterator[tuple[tuple[int, int], Distance]]:
    """Which operands that die in a step its result may overlap, as pairs (operand, result)."""
    buffers, buffer_of, step = lives.buffers, lives.buffer_of, known.step
    if len(step.op.outputs) != 1 or not step.calls or step.op.outputs[0] not in buffer_of:
        return
    if apart and any(index in apart for op in step.ops for index in op.outputs):
        return
    result = buffer_of[step.op.outputs[0]]
    if buffers[result].first != number:
        return
    read = {i: buffer_of[i] for i in step.inputs if i in buffer_of}
    if result in read.values():
        return  # it is written over an input, which lies apart from all others
    dying = {place for place in read.values() if buffers[place].last == number}
    for operand in sorted(dying):
        each = [known.distance(i) for i, place in read.items() if place == operand]
        found = [d for d in each if d is not None]
        if len(found) == len(each):
            modulus = math.lcm(*(d.modulus for d in found))
            yield (operand, result), Distance(max(d.nbytes for d in found), modulus)
