# SPDX-License-Identifier: Apache-2.0
"""Offsets in the arena: the smallest one, with a proof where the search comes to its end.

Two buffers that live at one time must lie apart, unless one is the operand and the other the result
of a step that allows them to overlap: then the result may begin `distance` bytes below the operand
(access.py). So of every such pair (i, j) one of two holds:

    offset[j] - offset[i] >= apart[i, j]      i lies lower
    offset[i] - offset[j] >= apart[j, i]      j lies lower

where apart[i, j] is the size of i, or the distance. This is a disjunctive scheduling problem, with
offsets for times. `place` tries several greedy orders, each of which puts a buffer at the lowest offset
that is free. Then `_search` branches on which of two buffers lies lower. It cuts off where the longest
chain of buffers on top of each other reaches the best size so far, and ends with the optimum unless it
has done WORK, a number and no time, so that equal inputs give equal plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from .types import Buffer

WORK = 400_000  # pairs of buffers to look at
FEW_NODES = 60
SMALL = 1 / 32  # of the arena
MOST_PAIRS = 2500  # beyond, the search is left out: it would not end

Distances = Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Placement:
    """Buffers with offsets, the bytes they take, and how few any placement of them must take."""

    buffers: tuple[Buffer, ...]
    size: int
    bound: int


def align_up(value: int, align: int) -> int:
    return -(-value // align) * align


def lower_bound(buffers: tuple[Buffer, ...], distances: Distances | None = None) -> int:
    """The largest sum of bytes that live at one step, less what operand and result may share."""
    distances = distances or {}
    saved: dict[int, int] = {}
    for (i, j), distance in distances.items():
        upper, lower = buffers[i], buffers[j]
        both = max(distance + upper.nbytes, lower.nbytes)
        step = max(upper.first, lower.first)
        saved[step] = saved.get(step, 0) + upper.nbytes + lower.nbytes - both
    return max(
        (
            sum(b.nbytes for b in buffers if b.first <= step <= b.last) - saved.get(step, 0)
            for step in {buffer.first for buffer in buffers}
        ),
        default=0,
    )


def estimate(buffers: tuple[Buffer, ...], distances: Distances) -> int:
    """About the size of the smallest placement: that of the large buffers, by a short search."""
    bound = lower_bound(buffers, distances)
    large = [i for i, buffer in enumerate(buffers) if buffer.nbytes > bound * SMALL]
    problem = _Problem(buffers, distances).only(large)
    found, size = problem.greedy({})
    return max(bound, problem.search(found, size, bound, FEW_NODES)[1])


def place(buffers: tuple[Buffer, ...], distances: Distances | None = None) -> Placement:
    """Gives every buffer an offset.

    Args:
        distances: for pairs (operand, result), how far below the operand the result may begin.
    """
    problem = _Problem(buffers, distances or {})
    bound = lower_bound(buffers, distances)
    best, size = problem.greedy({})
    # Small buffers seldom matter: if they fit around the best placement of the large ones, it is the
    # best of all.
    large = [i for i, buffer in enumerate(buffers) if buffer.nbytes > bound * SMALL]
    for chosen in (large, list(range(len(buffers)))):
        part = problem.only(chosen)
        if size <= bound or len(part.pairs) > MOST_PAIRS:
            break
        guess, at_most = part.greedy({})
        found, least, proved = part.search(guess, at_most, bound, WORK // max(1, len(part.pairs)))
        bound = max(bound, least) if proved else bound
        whole = problem.greedy(dict(zip(chosen, found, strict=True)))
        best, size = min((best, size), whole, key=lambda result: result[1])
    placed = tuple(replace(b, offset=offset) for b, offset in zip(buffers, best, strict=True))
    return Placement(placed, size, bound)


_ORDERS: tuple[Callable[[Buffer], tuple[int, ...]], ...] = (
    lambda b: (-b.nbytes, b.first),
    lambda b: (-b.nbytes, -b.first),
    lambda b: (-b.nbytes * (b.last - b.first + 1), b.first),
    lambda b: (-(b.last - b.first), -b.nbytes),
    lambda b: (b.first, -b.nbytes),
    lambda b: (-b.last, -b.nbytes),
)


class _Problem:
    """The pairs that live at one time, and how far apart they must lie."""

    def __init__(self, buffers: tuple[Buffer, ...], distances: Distances) -> None:
        self.buffers = buffers
        self.distances = distances
        self.apart: list[dict[int, int]] = [{} for _ in buffers]
        self.pairs: list[tuple[int, int]] = []
        for i, a in enumerate(buffers):
            for j in range(i):
                b = buffers[j]
                if a.first <= b.last and b.first <= a.last:
                    self.pairs.append((j, i))
                    self.apart[i][j] = distances.get((j, i), a.nbytes)
                    self.apart[j][i] = distances.get((i, j), b.nbytes)

    def only(self, chosen: list[int]) -> _Problem:
        """The same with some of the buffers."""
        place = {index: position for position, index in enumerate(chosen)}
        return _Problem(
            tuple(self.buffers[i] for i in chosen),
            {
                (place[i], place[j]): distance
                for (i, j), distance in self.distances.items()
                if i in place and j in place
            },
        )

    def greedy(self, fixed: dict[int, int]) -> tuple[list[int], int]:
        """The best of several orders, with some offsets given."""
        results = []
        for number, order in enumerate(self._rankings()):
            offsets = self._lowest(order, fixed)
            results.append((self._size(offsets), number, offsets))
        size, _, offsets = min(results)
        return offsets, size

    def _size(self, offsets: list[int]) -> int:
        ends = (offset + b.nbytes for offset, b in zip(offsets, self.buffers, strict=True))
        return max(ends, default=0)

    def _rankings(self) -> Iterator[list[int]]:
        buffers = self.buffers
        load = [
            b.nbytes + sum(buffers[j].nbytes for j in self.apart[i]) for i, b in enumerate(buffers)
        ]
        for order in _ORDERS:
            keys = [(order(buffer), i) for i, buffer in enumerate(buffers)]
            indices = sorted(range(len(buffers)), key=keys.__getitem__)
            yield indices
            yield sorted(indices, key=lambda i: -load[i])

    def _lowest(self, order: list[int], fixed: dict[int, int]) -> list[int]:
        """Every buffer at the lowest offset that those before it in `order` leave free."""
        placed = dict(fixed)
        for i in order:
            if i in fixed:
                continue
            align, offset = self.buffers[i].align, 0
            taken = sorted(
                (placed[j] - self.apart[i][j], placed[j] + self.apart[j][i])
                for j in self.apart[i]
                if j in placed
            )
            for after, before in taken:  # free: up to `after`, and from `before`
                if after < offset < before:
                    offset = align_up(before, align)
            placed[i] = offset
        return [placed[i] for i in range(len(self.buffers))]

    def search(
        self, best: list[int], size: int, bound: int, nodes: int
    ) -> tuple[list[int], int, bool]:
        """Branch and bound: offsets, their size, and whether it is proved to be the smallest."""
        tails = [b.nbytes for b in self.buffers]
        start = _Node(self, [0] * len(tails), tails, [], [], set(self.pairs))
        stack = [start]
        if size <= bound:
            return best, size, False
        for _ in range(nodes):
            if not stack:
                return best, size, True
            node = stack.pop()
            if not node.tighten(size):
                continue
            pair = node.worst_pair()
            if pair is None:
                best, size = node.heads, self._size(node.heads)
                if size <= bound:
                    return best, size, True
                continue
            i, j = pair
            lower_first = node.cost(i, j) <= node.cost(j, i)
            for low, high in ((j, i), (i, j)) if lower_first else ((i, j), (j, i)):
                stack.append(node.child(low, high))
        return best, size, not stack


@dataclass
class _Node:
    """Decisions so far: `heads` are the lowest offsets that they allow, `tails` the least distances
    from there to the end of the arena."""

    problem: _Problem
    heads: list[int]
    tails: list[int]
    arcs: list[tuple[int, int]]
    fresh: list[tuple[int, int]]
    open: set[tuple[int, int]]

    def child(self, low: int, high: int) -> _Node:
        return _Node(
            self.problem,
            list(self.heads),
            list(self.tails),
            list(self.arcs),
            [(low, high)],
            set(self.open),
        )

    def cost(self, low: int, high: int) -> int:
        """A bound of the arena if `low` lies below `high`."""
        return self.heads[low] + self.problem.apart[low][high] + self.tails[high]

    def tighten(self, size: int) -> bool:
        """Draws all conclusions; False if no arena below `size` is left."""
        while True:
            self.arcs += self.fresh
            self.open.difference_update(self.fresh, [(j, i) for i, j in self.fresh])
            if not self._propagate(size):
                return False
            self.fresh = []
            for i, j in sorted(self.open):
                up, down = self.cost(i, j) < size, self.cost(j, i) < size
                if not (up or down):
                    return False
                if up != down:
                    self.fresh.append((i, j) if up else (j, i))
            if not self.fresh:
                return True

    def _propagate(self, size: int) -> bool:
        """Offsets follow from the arcs; a circle of them would grow until it reaches `size`."""
        heads, tails, problem = self.heads, self.tails, self.problem
        changed = True
        while changed:
            changed = False
            for i, j in self.arcs:
                apart = problem.apart[i][j]
                head = align_up(heads[i] + apart, problem.buffers[j].align)
                if head > heads[j]:
                    heads[j] = head
                    changed = True
                    if head + tails[j] >= size:
                        return False
                if apart + tails[j] > tails[i]:
                    tails[i] = apart + tails[j]
                    changed = True
                    if heads[i] + tails[i] >= size:
                        return False
        return all(h + t < size for h, t in zip(heads, tails, strict=True))

    def worst_pair(self) -> tuple[int, int] | None:
        """The open pair whose buffers would collide at their lowest offsets and that costs most."""
        apart, heads = self.problem.apart, self.heads
        worst: tuple[int, int, tuple[int, int]] | None = None
        for i, j in sorted(self.open):
            if heads[j] - heads[i] >= apart[i][j] or heads[i] - heads[j] >= apart[j][i]:
                continue
            costs = sorted((self.cost(i, j), self.cost(j, i)))
            if worst is None or (costs[0], costs[1]) > worst[:2]:
                worst = (costs[0], costs[1], (i, j))
        return worst[2] if worst else None
