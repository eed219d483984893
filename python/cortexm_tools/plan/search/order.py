# SPDX-License-Identifier: Apache-2.0
"""The order of operators that needs the least memory at one time.

A search over the sets of operators that can be done first: of all ways to go on, the one whose peak so
far is the lowest, until all operators are done (Dijkstra's algorithm with the maximum in place of the
sum). So the first way found is the best. Networks are chains with few branches and have few such sets;
beyond STATES of them, or WAYS operators in the ways to them, the program's own order stays. So it does
where no order can be better: the inputs live in the beginning of all, the outputs in the end, and operands
and results while an operator runs.

Memory is counted by tensor here; a result shares the bytes of the largest operand that dies with it,
as results usually may (memory/overlap.py). The planner compares real arenas before it takes an order.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from ...ir import Graph, Op
from ..memory.states import waits

STATES = 4000
WAYS = 1 << 23


@dataclass(frozen=True)
class _Model:
    """Operators and tensors as bits: bit n of a mask is operator n.

    Attributes:
        sizes: bytes of arena of each tensor; states have none.
        needs: operators that must be done before each.
        readers: by tensor, those that read it; outputs have one more reader that never comes.
    """

    graph: Graph
    sizes: list[int]
    needs: list[int]
    readers: dict[int, int]

    def step(self, done: int, live: int, number: int) -> tuple[int, int]:
        """The bytes at one time while an operator runs, and those that live after it."""
        op, sizes = self.graph.ops[number], self.sizes
        made = sum(sizes[i] for i in op.outputs)
        after = done | 1 << number
        dying = [
            sizes[i]
            for i in dict.fromkeys(op.inputs)
            if i in self.readers and not self.readers[i] & ~after
        ]
        shared = min(made, max(dying, default=0))
        unread = sum(sizes[i] for i in op.outputs if not self.readers[i] & ~after)
        return live + made - shared, live + made - sum(dying) - unread


def _model(graph: Graph) -> _Model:
    never = 1 << len(graph.ops)
    maker = {index: number for number, op in enumerate(graph.ops) for index in op.outputs}
    readers = {index: 0 for index in (*graph.given, *maker)}
    needs = []
    late = waits(graph)
    for number, op in enumerate(graph.ops):
        before = {maker[i] for i in op.inputs if i in maker} | late.get(number, set())
        needs.append(sum(1 << n for n in before))
        for index in op.inputs:
            if index in readers:
                readers[index] |= 1 << number
    for index in graph.kept:
        if index in readers:
            readers[index] |= never
    states = {index for state in graph.states for index in (state.before, state.after)}
    sizes = [0 if i in states else tensor.nbytes for i, tensor in enumerate(graph.tensors)]
    return _Model(graph, sizes, needs, readers)


def least_peak(graph: Graph) -> int:
    """Bytes that live at one time in every order."""
    model = _model(graph)
    sizes = model.sizes
    kept = {i for i in graph.kept if i in model.readers}
    least = max(sum(sizes[i] for i in kept), sum(graph.tensors[i].nbytes for i in graph.inputs))
    everything = (1 << len(graph.ops)) - 1
    for number, op in enumerate(graph.ops):
        operands = sum(sizes[i] for i in {*op.inputs} & model.readers.keys())
        now, _ = model.step(everything & ~(1 << number), operands, number)
        least = max(least, now)
    return least


def peak(graph: Graph, order: Sequence[int]) -> int:
    """The most bytes at one time if the operators run in this order."""
    model = _model(graph)
    done, live, most = 0, sum(graph.tensors[i].nbytes for i in graph.inputs), 0
    for number in order:
        now, live = model.step(done, live, number)
        most, done = max(most, now), done | 1 << number
    return most


def live_before(graph: Graph, position: int) -> int:
    """The bytes that live when the operator of this number begins."""
    model = _model(graph)
    done, live = 0, sum(graph.tensors[i].nbytes for i in graph.inputs)
    for number in range(position):
        _, live = model.step(done, live, number)
        done |= 1 << number
    return live


def smallest_order(graph: Graph) -> tuple[Op, ...] | None:
    """The operators in an order with a lower peak than their own; None if there is none, or too many
    orders to search."""
    model = _model(graph)
    count = len(graph.ops)
    own = peak(graph, range(count))
    if own <= least_peak(graph):
        return None
    live = sum(graph.tensors[i].nbytes for i in graph.inputs)
    heap: list[tuple[int, int, tuple[int, ...], int, int]] = [(0, 0, (), 0, live)]
    seen: set[int] = set()
    ways = 0
    for _ in range(STATES):
        if not heap or ways > WAYS:
            return None
        most, _, order, done, live = heapq.heappop(heap)
        if len(order) == count:
            return tuple(graph.ops[number] for number in order)
        if done in seen:
            continue
        seen.add(done)
        ways += count
        for number in range(count):
            if done >> number & 1 or model.needs[number] & ~done:
                continue
            now, after = model.step(done, live, number)
            after_done = done | 1 << number
            if max(most, now) < own and after_done not in seen:
                way = (*order, number)
                ways += len(way)
                heapq.heappush(heap, (max(most, now), -len(way), way, after_done, after))
    return None
