# SPDX-License-Identifier: Apache-2.0
"""Offsets in the arena: the smallest one, with a proof where the search comes to its end.

Two buffers that live at one time must lie apart, unless one is the operand and the other the result
of a step that allows them to overlap: then the result may begin `distance` bytes below the operand
(access.py). So of every such pair (i, j) one of two holds:

    offset[j] - offset[i] >= apart[i, j]      i lies lower
    offset[i] - offset[j] >= apart[j, i]      j lies lower

where apart[i, j] is the size of i, or the distance. This is a disjunctive scheduling problem, with
offsets for times. `place` tries several greedy orders, each of which puts a buffer at the lowest offset
that is free. Then `search` branches on which of two buffers lies lower. It cuts off where the longest
chain of buffers on top of each other reaches the best size so far, and ends with the optimum unless it
has done WORK, a number and no time, so that equal inputs give equal plans. It is done for the large
buffers first, then for those that live around the highest one: what is the smallest for some of the
buffers is a bound for all, and what is found is kept where the others fit around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from .types import Buffer

WORK = 400_000  # pairs of buffers to look at
FEW_NODES = 60
SMALL = 1 / 32  # of the arena
MOST_REACH = 5  # steps around the highest buffer
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


def savings(buffers: tuple[Buffer, ...], distances: Distances) -> Iterator[tuple[int, int]]:
    """By operand and result that may overlap: the step, and the bytes that they can share there."""
    for (i, j), distance in distances.items():
        upper, lower = buffers[i], buffers[j]
        both = max(distance + upper.nbytes, lower.nbytes)
        yield max(upper.first, lower.first), upper.nbytes + lower.nbytes - both


def live_bytes(buffers: tuple[Buffer, ...], saved: Mapping[int, int], steps: int) -> list[int]:
    """By step, the bytes of the buffers that live there, less those saved."""
    grows = [0] * (steps + 1)
    for buffer in buffers:
        grows[min(buffer.first, steps)] += buffer.nbytes
        grows[min(buffer.last + 1, steps)] -= buffer.nbytes
    return [total - saved.get(step, 0) for step, total in enumerate(accumulate(grows[:steps]))]


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
    problem = _Problem(*some_buffers(buffers, distances, _large(buffers, bound)))
    found, size = problem.greedy({}, bound)
    return max(bound, problem.search(found, size, bound, FEW_NODES)[1])


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
    if _Problem(buffers, distances).greedy({}, size)[1] <= size:
        return True
    return place(buffers, distances).size <= size


@lru_cache(maxsize=32)
def _place(
    buffers: tuple[Buffer, ...], pairs: tuple[tuple[tuple[int, int], int], ...]
) -> Placement:
    """The same; remembered, because a placement that was compared with others is then taken."""
    distances = dict(pairs)
    problem = _Problem(buffers, distances)
    bound = lower_bound(buffers, distances)
    best, size = problem.greedy({}, bound)
    # Small buffers seldom matter: if they fit around the best placement of the large ones, it is the
    # best of all. Nor do most steps: what is solved where the arena is highest often fits the others.
    chosen, reach = _large(buffers, bound), -1
    while size > bound and reach < MOST_REACH:
        part = _Problem(*some_buffers(buffers, distances, chosen))
        if len(part.pairs) > MOST_PAIRS:
            break
        guess, at_most = part.greedy({})
        if size < at_most:
            guess, at_most = [best[i] for i in chosen], size
        found, least, proved = part.search(guess, at_most, bound, WORK // max(1, len(part.pairs)))
        bound = max(bound, least) if proved else bound
        whole = problem.greedy(dict(zip(chosen, found, strict=True)), bound)
        reach = reach + 1 if whole[1] >= size else 0
        best, size = min((best, size), whole, key=lambda result: result[1])
        chosen = _around_the_top(buffers, best, reach)
    placed = tuple(replace(b, offset=offset) for b, offset in zip(buffers, best, strict=True))
    return Placement(placed, size, bound)


def _around_the_top(buffers: tuple[Buffer, ...], offsets: list[int], reach: int) -> list[int]:
    """What lives while the buffer with the highest end does, or up to `reach` steps before or after;
    everything at the end."""
    ends = [offset + b.nbytes for offset, b in zip(offsets, buffers, strict=True)]
    top = buffers[ends.index(max(ends))]
    first, last = top.first - reach, top.last + reach
    everything = reach == MOST_REACH - 1
    return [i for i, b in enumerate(buffers) if everything or (b.first <= last and first <= b.last)]


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
        self.apart: list[dict[int, int]] = [{} for _ in buffers]
        for i, a in enumerate(buffers):
            for j in range(i):
                b = buffers[j]
                if a.first <= b.last and b.first <= a.last:
                    self.apart[i][j] = distances.get((j, i), a.nbytes)
                    self.apart[j][i] = distances.get((i, j), b.nbytes)
        self.pairs = sorted((i, j) for i, others in enumerate(self.apart) for j in others if i < j)

    def greedy(self, fixed: dict[int, int], bound: int = 0) -> tuple[list[int], int]:
        """The best of several orders, with some offsets given; the first that reaches `bound`."""
        tried: set[tuple[int, ...]] = set()
        best: tuple[list[int], int] | None = None
        for order in self._rankings():
            if tuple(order) in tried:
                continue
            tried.add(tuple(order))
            offsets = self._lowest(order, fixed)
            size = self._size(offsets)
            if best is None or size < best[1]:
                best = offsets, size
            if size <= bound:
                break
        assert best is not None
        return best

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
        if size <= bound:
            return best, size, False
        stack = [_Node.root(self)]
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
    from there to the end of the arena.

    Attributes:
        above, below: by buffer, those decided to lie so.
        fresh: decisions (low, high) whose conclusions are to be drawn.
        open: pairs that are not decided, in order.
        checked: the size below which both ways are known to be left for all of these; 0: none.
    """

    problem: _Problem
    heads: list[int]
    tails: list[int]
    above: list[tuple[int, ...]]
    below: list[tuple[int, ...]]
    fresh: list[tuple[int, int]]
    open: list[tuple[int, int]]
    checked: int = 0

    @classmethod
    def root(cls, problem: _Problem) -> _Node:
        count = len(problem.buffers)
        tails = [b.nbytes for b in problem.buffers]
        return cls(problem, [0] * count, tails, [()] * count, [()] * count, [], problem.pairs)

    def child(self, low: int, high: int) -> _Node:
        decided = (min(low, high), max(low, high))
        return _Node(
            self.problem,
            list(self.heads),
            list(self.tails),
            list(self.above),
            list(self.below),
            [(low, high)],
            [pair for pair in self.open if pair != decided],
            self.checked,
        )

    def cost(self, low: int, high: int) -> int:
        """A bound of the arena if `low` lies below `high`."""
        return self.heads[low] + self.problem.apart[low][high] + self.tails[high]

    def tighten(self, size: int) -> bool:
        """Draws all conclusions; False if no arena below `size` is left."""
        while True:
            for low, high in self.fresh:
                self.above[low] += (high,)
                self.below[high] += (low,)
            changed = self._propagate(size)
            if changed is None:
                return False
            self.fresh = []
            for i, j in self.open:
                if size == self.checked and i not in changed and j not in changed:
                    continue
                up, down = self.cost(i, j) < size, self.cost(j, i) < size
                if not (up or down):
                    return False
                if up != down:
                    self.fresh.append((i, j) if up else (j, i))
            self.checked = size
            if not self.fresh:
                return True
            decided = {(min(pair), max(pair)) for pair in self.fresh}
            self.open = [pair for pair in self.open if pair not in decided]

    def _propagate(self, size: int) -> set[int] | None:
        """Offsets follow from the fresh decisions, and others from these; a circle of decisions would
        grow until it reaches `size`. Returns the buffers with another head or tail than before; None
        if no arena below `size` is left."""
        heads, tails, problem = self.heads, self.tails, self.problem
        changed: set[int] = set()
        pending = list(self.fresh)
        while pending:
            i, j = pending.pop()
            apart = problem.apart[i][j]
            head = align_up(heads[i] + apart, problem.buffers[j].align)
            if head > heads[j]:
                heads[j] = head
                changed.add(j)
                if head + tails[j] >= size:
                    return None
                pending += [(j, k) for k in self.above[j]]
            if apart + tails[j] > tails[i]:
                tails[i] = apart + tails[j]
                changed.add(i)
                if heads[i] + tails[i] >= size:
                    return None
                pending += [(k, i) for k in self.below[i]]
        if size != self.checked and any(h + t >= size for h, t in zip(heads, tails, strict=True)):
            return None
        return changed

    def worst_pair(self) -> tuple[int, int] | None:
        """The open pair whose buffers would collide at their lowest offsets and that costs most."""
        apart, heads = self.problem.apart, self.heads
        worst: tuple[int, int, tuple[int, int]] | None = None
        for i, j in self.open:
            if heads[j] - heads[i] >= apart[i][j] or heads[i] - heads[j] >= apart[j][i]:
                continue
            up, down = self.cost(i, j), self.cost(j, i)
            costs = (up, down) if up < down else (down, up)
            if worst is None or costs > worst[:2]:
                worst = (*costs, (i, j))
        return worst[2] if worst else None
