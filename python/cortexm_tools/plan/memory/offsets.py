# SPDX-License-Identifier: Apache-2.0
"""Offsets in the arena: the smallest one, with a proof where the search comes to its end.

`place` tries several greedy orders and then the exact search of offset_search.py, as far as WORK allows, a
number and no time, so that equal inputs give equal plans. It is done for the large buffers first, then
for those that live around the highest one: what is the smallest for some of the buffers is a bound for
all, and what is found is kept where the others fit around it. Buffers that always find a place, whatever
the others do, take no part in it (`Problem.core`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from ..types import Buffer
from .offset_search import Distances, Problem

WORK = 400_000  # pairs of buffers to look at
FEW_NODES = 60
SMALL = 1 / 32  # of the arena
MOST_REACH = 5  # steps around the highest buffer
MOST_PAIRS = 2500  # beyond, the search is left out: it would not end


@dataclass(frozen=True)
class Placement:
    """Buffers with offsets, the bytes they take, and how few any placement of them must take."""

    buffers: tuple[Buffer, ...]
    size: int
    bound: int


def savings(buffers: tuple[Buffer, ...], distances: Distances) -> Iterator[tuple[int, int]]:
    """By operand and result that may overlap: the step, and the bytes that they can share there."""
    for (i, j), distance in distances.items():
        upper, lower = buffers[i], buffers[j]
        both = max(distance + upper.nbytes, lower.nbytes)
        yield max(upper.first, lower.first), upper.nbytes + lower.nbytes - both


def live_bytes(buffers: tuple[Buffer, ...], saved: Mapping[int, int], steps: int) -> list[int]:
    """By step, the bytes of the buffers that live there, less those saved."""
    grows = [0] * steps
    for buffer in buffers:
        if buffer.first < steps:
            grows[buffer.first] += buffer.nbytes
        if buffer.last + 1 < steps:
            grows[buffer.last + 1] -= buffer.nbytes
    return [total - saved.get(step, 0) for step, total in enumerate(accumulate(grows))]


def lower_bound(buffers: tuple[Buffer, ...], distances: Distances | None = None) -> int:
    """The largest sum of bytes that live at one step, less what operand and result may share."""
    saved: dict[int, int] = {}
    for step, nbytes in savings(buffers, distances or {}):
        saved[step] = saved.get(step, 0) + nbytes
    steps = {buffer.first for buffer in buffers}
    needed = live_bytes(buffers, saved, max(steps, default=-1) + 1)
    return max((needed[step] for step in steps), default=0)


def some_buffers(
    buffers: tuple[Buffer, ...], distances: Distances, chosen: list[int]
) -> tuple[tuple[Buffer, ...], dict[tuple[int, int], int]]:
    """The chosen buffers, and the distances between them."""
    local = {index: position for position, index in enumerate(chosen)}
    return tuple(buffers[i] for i in chosen), {
        (local[i], local[j]): distance
        for (i, j), distance in distances.items()
        if i in local and j in local
    }


def estimate(buffers: tuple[Buffer, ...], distances: Distances) -> int:
    """About the size of the smallest placement: that of the large buffers, by a short search."""
    bound = lower_bound(buffers, distances)
    problem = Problem.of(*some_buffers(buffers, distances, _large(buffers, bound)))
    core = problem.part(problem.core(bound)[0])
    found, size = core.greedy({}, bound)
    return max(bound, core.search(found, size, bound, FEW_NODES)[1])


def _large(buffers: tuple[Buffer, ...], bound: int) -> list[int]:
    return [i for i, buffer in enumerate(buffers) if buffer.nbytes > bound * SMALL]


def place(buffers: tuple[Buffer, ...], distances: Distances | None = None) -> Placement:
    """Gives every buffer an offset.

    Args:
        distances: for pairs (operand, result), how far below the operand the result may begin.
    """
    return _place(buffers, tuple(sorted((distances or {}).items())))


def fits(buffers: tuple[Buffer, ...], distances: Distances, size: int) -> bool:
    """Whether `place` needs at most `size` bytes; most often a bound or a greedy order shows it."""
    if lower_bound(buffers, distances) > size:
        return False
    if Problem.of(buffers, distances).greedy({}, size)[1] <= size:
        return True
    return place(buffers, distances).size <= size


@lru_cache(maxsize=32)
def _place(
    buffers: tuple[Buffer, ...], pairs: tuple[tuple[tuple[int, int], int], ...]
) -> Placement:
    """The same; remembered, because a placement that was compared with others is then taken."""
    distances = dict(pairs)
    problem = Problem.of(buffers, distances)
    bound = lower_bound(buffers, distances)
    best, size = problem.greedy({}, bound)
    # Small buffers seldom matter: if they fit around the best placement of the large ones, it is the
    # best of all. Nor do most steps: what is solved where the arena is highest often fits the others.
    # If nothing does, all that can matter is solved.
    core, others = problem.core(bound) if size > bound else ([], [])
    chosen, reach = _large(buffers, bound), -1
    while size > bound and reach < MOST_REACH:
        chosen = sorted({*chosen} & {*core})
        part = problem.part(chosen)
        if part.count > MOST_PAIRS:
            break
        guess, at_most = part.greedy({})
        if size < at_most:
            guess, at_most = [best[i] for i in chosen], size
        found, least, proved = part.search(guess, at_most, bound, WORK // max(1, len(part.pairs)))
        bound = max(bound, least) if proved else bound
        fixed = dict(zip(chosen, found, strict=True))
        whole = problem.greedy(fixed, bound)
        if chosen == core and whole[1] > max(bound, least):
            offsets = problem.lowest(others, fixed)
            whole = offsets, problem.size(offsets)
        reach = reach + 1 if whole[1] >= size else 0
        best, size = min((best, size), whole, key=lambda result: result[1])
        chosen = core if reach == MOST_REACH - 1 else _around_the_top(buffers, best, reach)
    placed = tuple(replace(b, offset=offset) for b, offset in zip(buffers, best, strict=True))
    return Placement(placed, size, bound)


def _around_the_top(buffers: tuple[Buffer, ...], offsets: list[int], reach: int) -> list[int]:
    """What lives while the buffer with the highest end does, or up to `reach` steps before or after."""
    ends = [offset + b.nbytes for offset, b in zip(offsets, buffers, strict=True)]
    top = buffers[ends.index(max(ends))]
    first, last = top.first - reach, top.last + reach
    return [i for i, b in enumerate(buffers) if b.first <= last and first <= b.last]
