# SPDX-License-Identifier: Apache-2.0
"""Buffers that live at one time side by side: greedy orders, and an exact search.

Two buffers that live at one time must lie apart, unless one is the operand and the other the result
of a step that allows them to overlap: then the result may begin `distance` bytes below the operand
(overlap.py). So of every such pair (i, j) one of two holds:

    offset[j] - offset[i] >= apart[i, j]      i lies lower
    offset[i] - offset[j] >= apart[j, i]      j lies lower

where apart[i, j] is the size of i, or the distance. This is a disjunctive scheduling problem, with
offsets for times. A greedy order puts each buffer at the lowest offset that is free. `search` branches
on which of two buffers lies lower. It cuts off where the longest chain of buffers on top of each other
reaches the best size so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from ..types import Buffer

Distances = Mapping[tuple[int, int], int]
Pair = tuple[int, int, int, int]
"""Buffers i < j, apart[i, j] and apart[j, i]."""


def align_up(value: int, align: int) -> int:
    return -(-value // align) * align


_ORDERS: tuple[Callable[[Buffer], tuple[int, ...]], ...] = (
    lambda b: (-b.nbytes, b.first),
    lambda b: (-b.nbytes, -b.first),
    lambda b: (-b.nbytes * (b.last - b.first + 1), b.first),
    lambda b: (-(b.last - b.first), -b.nbytes),
    lambda b: (b.first, -b.nbytes),
    lambda b: (-b.last, -b.nbytes),
)


class Problem:
    """The pairs that live at one time, and how far apart they must lie."""

    def __init__(self, buffers: tuple[Buffer, ...], apart: list[dict[int, int]]) -> None:
        self.buffers = buffers
        self.apart = apart
        self.aligns = [buffer.align for buffer in buffers]

    @cached_property
    def pairs(self) -> list[Pair]:
        """In order."""
        return sorted(
            (i, j, up, self.apart[j][i])
            for i, others in enumerate(self.apart)
            for j, up in others.items()
            if i < j
        )

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return sum(map(len, self.apart)) // 2

    @classmethod
    def of(cls, buffers: tuple[Buffer, ...], distances: Distances) -> Problem:
        apart: list[dict[int, int]] = [{} for _ in buffers]
        for i, a in enumerate(buffers):
            for j in range(i):
                b = buffers[j]
                if a.first <= b.last and b.first <= a.last:
                    apart[i][j] = distances.get((j, i), a.nbytes)
                    apart[j][i] = distances.get((i, j), b.nbytes)
        return cls(buffers, apart)

    def part(self, chosen: list[int]) -> Problem:
        """The same for some of the buffers."""
        local = {index: position for position, index in enumerate(chosen)}
        apart = [
            {local[j]: apart for j, apart in self.apart[i].items() if j in local} for i in chosen
        ]
        return Problem(tuple(self.buffers[i] for i in chosen), apart)

    def core(self, size: int) -> tuple[list[int], list[int]]:
        """The buffers on which it depends whether `size` bytes are enough, and the others in an order in
        which each finds a place then, wherever those before it lie.

        A buffer that meets few others has more places to lie than those can take from it. So it can
        be placed after them, and each of them has one less to meet.
        """
        left = set(range(len(self.buffers)))
        others: list[int] = []
        while easy := [i for i in sorted(left) if self._has_room(i, left, size)]:
            left.difference_update(easy)
            others += easy
        return sorted(left), others[::-1]

    def _has_room(self, index: int, among: Set[int], size: int) -> bool:
        """Whether a buffer has a place in `size` bytes wherever the others lie."""
        buffer = self.buffers[index]
        places = (size - buffer.nbytes) // buffer.align + 1
        for other, apart in self.apart[index].items():
            if other in among:
                places -= -(-max(0, apart + self.apart[other][index]) // buffer.align)
        return places > 0

    def greedy(self, fixed: dict[int, int], bound: int = 0) -> tuple[list[int], int]:
        """The best of several orders, with some offsets given; the first that reaches `bound`."""
        tried: set[tuple[int, ...]] = set()
        best: tuple[list[int], int] | None = None
        for order in self._rankings():
            if tuple(order) in tried:
                continue
            tried.add(tuple(order))
            offsets = self.lowest(order, fixed)
            size = self.size(offsets)
            if best is None or size < best[1]:
                best = offsets, size
            if size <= bound:
                break
        assert best is not None
        return best

    def size(self, offsets: list[int]) -> int:
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

    def lowest(self, order: list[int], fixed: dict[int, int]) -> list[int]:
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
        """Offsets, their size, and whether it is proved to be the smallest.

        An arena as small as the bound is searched for first: the less is allowed, the more is cut off.
        """
        if size <= bound:
            return best, size, False
        found, least, _ = self._branch(best, bound + 1, bound, nodes // 2)
        if least <= bound:
            return found, least, True
        return self._branch(best, size, bound, nodes // 2)

    def _branch(
        self, best: list[int], size: int, bound: int, nodes: int
    ) -> tuple[list[int], int, bool]:
        """Branch and bound: the best offsets below `size`, or else those given."""
        stack = [_Node.root(self)]
        for _ in range(nodes):
            if not stack:
                return best, size, True
            node = stack.pop()
            if not node.tighten(size):
                continue
            pair = node.worst_pair()
            if pair is None:
                best, size = node.heads, self.size(node.heads)
                if size <= bound:
                    return best, size, True
                continue
            i, j, up, down = pair
            one, other = (i, j, up), (j, i, down)
            if node.cost(*one) <= node.cost(*other):
                one, other = other, one
            stack += (node.child(*one), node.child(*other))
        return best, size, not stack


@dataclass(slots=True)
class _Node:
    """Decisions so far: `heads` are the lowest offsets that they allow, `tails` the least distances
    from there to the end of the arena.

    Attributes:
        above, below: by buffer, those decided to lie so, and how far apart.
        fresh: decisions (low, high, apart) whose conclusions are to be drawn.
        open: pairs that are not decided, in order.
        checked: the size below which both ways are known to be left for all of these; 0: none.
    """

    aligns: list[int]
    heads: list[int]
    tails: list[int]
    above: list[tuple[tuple[int, int], ...]]
    below: list[tuple[tuple[int, int], ...]]
    fresh: list[tuple[int, int, int]]
    open: list[Pair]
    checked: int = 0

    @classmethod
    def root(cls, problem: Problem) -> _Node:
        count = len(problem.buffers)
        tails = [b.nbytes for b in problem.buffers]
        return cls(
            problem.aligns, [0] * count, tails, [()] * count, [()] * count, [], problem.pairs
        )

    def child(self, low: int, high: int, apart: int) -> _Node:
        i, j = (low, high) if low < high else (high, low)
        return _Node(
            self.aligns,
            self.heads.copy(),
            self.tails.copy(),
            self.above.copy(),
            self.below.copy(),
            [(low, high, apart)],
            [pair for pair in self.open if pair[0] != i or pair[1] != j],
            self.checked,
        )

    def cost(self, low: int, high: int, apart: int) -> int:
        """A bound of the arena if `low` lies below `high`."""
        return self.heads[low] + apart + self.tails[high]

    def tighten(self, size: int) -> bool:
        """Draws all conclusions; False if no arena below `size` is left."""
        heads, tails = self.heads, self.tails
        while True:
            for low, high, apart in self.fresh:
                self.above[low] += ((high, apart),)
                self.below[high] += ((low, apart),)
            changed = self._propagate(size)
            if changed is None:
                return False
            again = size == self.checked
            fresh: list[tuple[int, int, int]] = []
            for i, j, up, down in self.open:
                if again and i not in changed and j not in changed:
                    continue
                if heads[i] + up + tails[j] < size:
                    if heads[j] + down + tails[i] >= size:
                        fresh.append((i, j, up))
                elif heads[j] + down + tails[i] < size:
                    fresh.append((j, i, down))
                else:
                    return False
            self.fresh, self.checked = fresh, size
            if not fresh:
                return True
            decided = {(i, j) if i < j else (j, i) for i, j, _ in fresh}
            self.open = [pair for pair in self.open if pair[:2] not in decided]

    def _propagate(self, size: int) -> set[int] | None:
        """Offsets follow from the fresh decisions, and others from these; a circle of decisions would
        grow until it reaches `size`. Returns the buffers with another head or tail than before; None
        if no arena below `size` is left."""
        heads, tails, aligns, above, below = (
            self.heads, self.tails, self.aligns, self.above, self.below
        )  # fmt: skip
        changed: set[int] = set()
        pending = list(self.fresh)
        while pending:
            i, j, apart = pending.pop()
            head = heads[i] + apart
            if head > heads[j]:
                heads[j] = head = align_up(head, aligns[j])
                changed.add(j)
                if head + tails[j] >= size:
                    return None
                for k, gap in above[j]:
                    pending.append((j, k, gap))
            tail = apart + tails[j]
            if tail > tails[i]:
                tails[i] = tail
                changed.add(i)
                if heads[i] + tail >= size:
                    return None
                for k, gap in below[i]:
                    pending.append((k, i, gap))
        if size != self.checked and any(h + t >= size for h, t in zip(heads, tails, strict=True)):
            return None
        return changed

    def worst_pair(self) -> Pair | None:
        """The open pair whose buffers would collide at their lowest offsets and that costs most."""
        heads, tails = self.heads, self.tails
        most, least, worst = -1, -1, None
        for pair in self.open:
            i, j, up, down = pair
            low, high = heads[i], heads[j]
            if low + up <= high or high + down <= low:
                continue
            one, other = low + up + tails[j], high + down + tails[i]
            if one > other:
                one, other = other, one
            if one > most or (one == most and other > least):
                most, least, worst = one, other, pair
        return worst
