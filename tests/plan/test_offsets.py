# SPDX-License-Identifier: Apache-2.0
"""Offsets in an arena: buffers that live together lie apart, and no arena is smaller."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.plan.memory.offset_search import Problem
from cortexm_tools.plan.memory.offsets import fits, lower_bound, place
from cortexm_tools.plan.types import Buffer

buffers = st.lists(
    st.builds(
        lambda size, align, first, length: Buffer("b", size, align, first, first + length),
        st.integers(1, 5000),
        st.sampled_from([4, 8, 16]),
        st.integers(0, 12),
        st.integers(0, 6),
    ),
    min_size=1,
    max_size=14,
).map(tuple)


@given(buffers)
@settings(max_examples=200, deadline=None)
def test_buffers_that_live_together_lie_apart(pieces: tuple[Buffer, ...]) -> None:
    placement = place(pieces)
    assert placement.size >= placement.bound >= lower_bound(pieces)
    for step in range(20):
        used: set[int] = set()
        for buffer in placement.buffers:
            assert buffer.offset % buffer.align == 0
            if buffer.first <= step <= buffer.last:
                span = set(range(buffer.offset, buffer.offset + buffer.nbytes))
                assert not span & used
                assert buffer.offset + buffer.nbytes <= placement.size
                used |= span


@given(buffers)
@settings(max_examples=100, deadline=None)
def test_fits_is_what_place_says(pieces: tuple[Buffer, ...]) -> None:
    size = place(pieces).size
    bound = max(  # by its definition
        sum(b.nbytes for b in pieces if b.first <= step <= b.last) for step in range(20)
    )
    assert lower_bound(pieces) == bound
    for limit in (bound - 1, bound, size - 1, size, size + 1, 2 * size):
        assert fits(pieces, {}, limit) == (size <= limit)


@given(buffers, st.floats(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_what_is_placed_last_finds_a_place(
    pieces: tuple[Buffer, ...], room: float, random: Random
) -> None:
    """Wherever the others lie, even if they collide."""
    size = int(room * max(buffer.nbytes for buffer in pieces))
    distances = {
        (i, j): random.randrange(a.nbytes + 1)
        for i, a in enumerate(pieces)
        for j, b in enumerate(pieces)
        if i != j and a.last == b.first and a.first < b.first
    }
    problem = Problem.of(pieces, distances)
    core, others = problem.core(size)
    assert sorted((*core, *others)) == list(range(len(pieces)))
    fixed = {i: random.randrange(size - pieces[i].nbytes + 1) for i in core}
    offsets = problem.lowest(others, fixed)
    assert all(offsets[i] + pieces[i].nbytes <= size for i in others)


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 3), st.integers(0, 2)), max_size=5),
    st.integers(1, 40),
)
@settings(max_examples=150, deadline=None)
def test_the_smallest_arena_is_found(sizes: list[tuple[int, int, int]], least: int) -> None:
    """Against all ways to order the pairs that live together, some of which may overlap."""
    pieces = tuple(Buffer("b", 4 * n, 4, first, first + more) for n, first, more in sizes)
    distances = {
        (i, j): 4 * min(least, b.nbytes // 4)
        for i, a in enumerate(pieces)
        for j, b in enumerate(pieces)
        if i != j and a.last == b.first and a.first < b.first
    }
    placement = place(pieces, distances)
    pairs = [
        (i, j)
        for i, a in enumerate(pieces)
        for j, b in enumerate(pieces[:i])
        if a.first <= b.last and b.first <= a.last
    ]

    def apart(low: int, high: int) -> int:
        return distances.get((high, low), pieces[low].nbytes)

    def is_placed(offsets: list[int]) -> bool:
        return all(
            offsets[i] - offsets[j] >= apart(j, i) or offsets[j] - offsets[i] >= apart(i, j)
            for i, j in pairs
        )

    assert is_placed([buffer.offset for buffer in placement.buffers])
    best = min(
        _stack(
            pieces,
            [(j, i) if up else (i, j) for (i, j), up in zip(pairs, order, strict=True)],
            apart,
        )
        for order in product((False, True), repeat=len(pairs))
    )
    assert placement.size == placement.bound == best


def _stack(
    pieces: tuple[Buffer, ...], arcs: list[tuple[int, int]], apart: Callable[[int, int], int]
) -> float:
    """The arena if for each arc the first buffer lies below the second; infinite in a circle."""
    offsets = [0] * len(pieces)
    for _ in range(len(pieces) + 1):
        before = list(offsets)
        for low, high in arcs:
            offsets[high] = max(offsets[high], offsets[low] + apart(low, high))
        if offsets == before:
            return max((o + b.nbytes for o, b in zip(offsets, pieces, strict=True)), default=0)
    return math.inf
