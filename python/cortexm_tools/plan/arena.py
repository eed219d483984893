# SPDX-License-Identifier: Apache-2.0
"""Offsets in the arena: buffers whose lives overlap in time must not overlap in memory.

Finding the smallest arena is NP-hard in general, but the graphs here are small. Several greedy
orders are tried; each places a buffer at the lowest gap that holds it. The lower bound, the largest
sum of live bytes, proves the result optimal where they meet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .types import Buffer


def align_up(value: int, align: int) -> int:
    return -(-value // align) * align


def lower_bound(buffers: tuple[Buffer, ...]) -> int:
    """The largest sum of sizes of buffers that live at one step."""
    steps = {buffer.first for buffer in buffers}
    return max(
        (sum(b.nbytes for b in buffers if b.first <= step <= b.last) for step in steps), default=0
    )


def place(buffers: tuple[Buffer, ...]) -> tuple[tuple[Buffer, ...], int]:
    """Gives every buffer an offset; returns the buffers and the arena size in bytes."""
    orders: tuple[Callable[[Buffer], tuple[int, ...]], ...] = (
        lambda b: (-b.nbytes, b.first),
        lambda b: (-b.nbytes * (b.last - b.first + 1), b.first),
        lambda b: (-(b.last - b.first), -b.nbytes),
        lambda b: (b.first, -b.nbytes),
        lambda b: (-b.last, -b.nbytes),
    )
    best: tuple[tuple[Buffer, ...], int] | None = None
    for order in orders:
        for crowded_first in (False, True):
            placed = _greedy(buffers, _ranking(buffers, order, crowded_first))
            size = max((b.offset + b.nbytes for b in placed), default=0)
            if best is None or size < best[1]:
                best = (placed, size)
    assert best is not None
    return best


def _ranking(
    buffers: tuple[Buffer, ...], order: Callable[[Buffer], tuple[int, ...]], crowded_first: bool
) -> list[int]:
    indices = sorted(range(len(buffers)), key=lambda i: (order(buffers[i]), i))
    if not crowded_first:
        return indices
    load = {
        i: max(
            sum(b.nbytes for b in buffers if b.first <= step <= b.last)
            for step in {c.first for c in buffers if _overlaps(c, buffers[i])}
            if buffers[i].first <= step <= buffers[i].last or step == buffers[i].first
        )
        for i in indices
    }
    return sorted(indices, key=lambda i: -load[i])


def _overlaps(a: Buffer, b: Buffer) -> bool:
    return a.first <= b.last and b.first <= a.last


def _greedy(buffers: tuple[Buffer, ...], order: list[int]) -> tuple[Buffer, ...]:
    placed: dict[int, Buffer] = {}
    for index in order:
        buffer = buffers[index]
        offset = 0
        neighbours = [other for other in placed.values() if _overlaps(other, buffer)]
        for other in sorted(neighbours, key=lambda b: b.offset):
            if offset + buffer.nbytes <= other.offset:
                break
            offset = max(offset, align_up(other.offset + other.nbytes, buffer.align))
        placed[index] = replace(buffer, offset=offset)
    return tuple(placed[i] for i in range(len(buffers)))
