# SPDX-License-Identifier: Apache-2.0
"""Which operators to compute in bands of rows.

Bands cost calls and moves of rows. ``balanced``, the default, takes them only as far as all of them
together cost less than TOLERANCE of the instructions and each makes the arena smaller by LEAST_GAIN at
least; ``size`` as far as the arena becomes smaller; ``speed`` not at all. A RAM limit is served first by
what that gives, then by more bands until it is met, then by kernels with less scratch (spare.py).

Chains are chosen greedily: of those with the operators that need most memory at one time the one with
which the arena is the smallest, then its bands as high as the arena allows. All figures of cost are
rough; they choose between plans of equal results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..ir import Graph, Op
from ..target import Isa, Optimize, Target
from .access import order_of
from .arena import align_up, estimate, fits, live_bytes, lower_bound, place, savings
from .bands import Chain, band_step, is_chain
from .joins import Joined, find_parts, into_result, joinable
from .kernel_table import KernelChoice, find_kernel
from .lifetimes import Facts, Lives, Pieces, is_alias, lives_of, pieces_of, share_memory
from .select import Selector, Spare
from .smallest import larger_kernels
from .types import Call, Part, Step

TOLERANCE = 0.004
LEAST_GAIN = 0.03
LONGEST = 4  # operators of a chain
MOST_CHAINS = 12
MOST_OPERANDS = 32  # of concatenations to look at one by one
PATIENCE = 6
TRIES = 3  # of the chains that promise the smallest arena

_PER_MAC = {Isa.MVE: 0.35, Isa.DSP: 1.4, Isa.SCALAR: 3.0}  # instructions
_PER_BYTE_MOVED = {Isa.MVE: 0.2, Isa.DSP: 0.6, Isa.SCALAR: 0.6}
_PER_CALL = 300


class Planner:
    """The steps and buffers of a graph for any choice of chains."""

    def __init__(
        self,
        graph: Graph,
        target: Target,
        kernels: KernelChoice = KernelChoice.BUILTIN,
        optimize: Optimize = Optimize.BALANCED,
        spare: Spare = frozenset(),
    ) -> None:
        self.graph = graph
        self.target = target
        self.optimize = optimize
        self.spare = spare
        self.select = Selector(graph, target, kernels, spare=spare)
        self._calls: dict[tuple[int, bool], tuple[Call, ...]] = {}
        self._steps: dict[tuple[int, bool] | Chain, Step] = {}
        self._facts = Facts()
        self._groups: dict[frozenset[int], dict[int, int]] = {}
        self._pieces: dict[tuple[Joined, tuple[Chain, ...]], tuple[tuple[Step, ...], Pieces]] = {}
        self._lives: dict[tuple[Joined, tuple[tuple[int, int], ...]], Lives] = {}
        self._sizes: dict[tuple[Chain, ...], int] = {}
        self._costs: dict[Chain, float] = {}
        self._aliases = {number for number, op in enumerate(graph.ops) if is_alias(op, graph)}
        self._moved: dict[tuple[int, tuple[tuple[int, Part], ...]], Step] = {}
        group = share_memory(graph)
        self.calls = [self._lower(number, group) for number in range(len(graph.ops))]
        if optimize is Optimize.SIZE:
            steps = tuple(map(Step, graph.ops, self.calls))
            avoid = larger_kernels(self.select, steps)
            self.select = Selector(graph, target, kernels, avoid, spare)
            self._calls.clear()
            self.calls = [self._lower(number, group) for number in range(len(graph.ops))]
        self.joined: Joined = frozenset()
        self._choose_joined()

    def _choose_joined(self) -> None:
        """The operands of concatenations to compute in place: all, but for those without which the
        arena is smaller, by whole concatenations and then one by one."""
        every = joinable(self.graph)
        if not every:
            return
        by_operator = [
            frozenset(p for p in every if p[0] == n) for n in sorted({n for n, _ in every})
        ]
        loads = {
            joined: self._load_with(joined) for joined in (frozenset[tuple[int, int]](), every)
        }

        def best() -> Joined:
            return min(loads, key=lambda joined: (loads[joined], -len(joined)))

        for some in [*by_operator, *(frozenset({pair}) for pair in sorted(every)[:MOST_OPERANDS])]:
            for other in (best() - some, best() | some):
                if other not in loads:
                    loads[other] = self._load_with(other)
        chosen = best()
        sizes = {
            joined: self._size_with(joined) for joined in (frozenset[tuple[int, int]](), chosen)
        }
        self.joined = min(sizes, key=lambda joined: (sizes[joined], -len(joined)))
        self._sizes.clear()

    def _load_with(self, joined: Joined) -> int:
        self.joined = joined
        return self.load(())[0]

    def _size_with(self, joined: Joined) -> int:
        self.joined = joined
        return self._size(())

    def pieces(self, chains: tuple[Chain, ...]) -> tuple[tuple[Step, ...], Pieces]:
        """Steps and buffers with these chains, none of which may share an operator with another."""
        key = self.joined, chains
        if key not in self._pieces:
            self._pieces[key] = self._find_pieces(chains)
        return self._pieces[key]

    def _find_pieces(self, chains: tuple[Chain, ...]) -> tuple[tuple[Step, ...], Pieces]:
        inside = frozenset(n for chain in chains for n in range(chain.first, chain.last + 1))
        if inside not in self._groups:
            self._groups[inside] = share_memory(self.graph, inside)
        group = self._groups[inside]
        starts = {chain.first: chain for chain in chains}
        steps = []
        for number in range(len(self.graph.ops)):
            if number in starts:
                steps.append(self._banded(starts[number]))
            elif number not in inside:
                steps.append(self._single(number, group))
        key = self.joined, tuple((chain.first, chain.last) for chain in chains)
        if key not in self._lives:
            parts = self._parts(group, chains)
            with_buffer = {index: root for index, root in group.items() if index not in parts}
            self._lives[key] = lives_of(self.graph, tuple(steps), with_buffer, parts)
        lives = self._lives[key]
        if lives.parts:
            steps = [self._into_results(step, lives.parts) for step in steps]
        return tuple(steps), pieces_of(self.graph, tuple(steps), lives, self._facts)

    def _parts(self, group: dict[int, int], chains: tuple[Chain, ...]) -> dict[int, Part]:
        """What lies in the results of concatenations."""
        if not self.joined:
            return {}
        banded = {
            index
            for chain in chains
            for number in range(chain.first, chain.last + 1)
            for op in self.graph.ops[number : number + 1]
            for index in (*op.inputs, *(op.outputs if number < chain.last else ()))
        }
        return find_parts(self.graph, group, self.calls, self.joined, banded)

    def _into_results(self, step: Step, parts: dict[int, Part]) -> Step:
        touched = {i for op in step.ops for i in (*op.inputs, *op.outputs)} & parts.keys()
        around = {i for index in touched for i in _holders(index, parts)}
        key = id(step), tuple((i, parts[i]) for i in sorted(around))
        if key not in self._moved:
            self._moved[key] = into_result(step, parts) if touched else step
        return self._moved[key]

    def _banded(self, chain: Chain) -> Step:
        if chain not in self._steps:
            move = find_kernel("move", "x8", self.target)
            self._steps[chain] = band_step(self.graph, self.calls, chain, move)
        return self._steps[chain]

    def _single(self, number: int, group: dict[int, int]) -> Step:
        calls = self._lower(number, group)
        key = number, bool(calls)
        if key not in self._steps:
            self._steps[key] = Step(self.graph.ops[number], calls)
        return self._steps[key]

    def _lower(self, number: int, group: dict[int, int]) -> tuple[Call, ...]:
        op: Op = self.graph.ops[number]
        source, result = op.inputs[0], op.outputs[0]
        shared = source in group and group[source] == group[result]
        nothing = shared and number in self._aliases
        if (number, nothing) not in self._calls:
            self._calls[number, nothing] = () if nothing else tuple(self.select.calls(op))
        return self._calls[number, nothing]

    def size(self, chains: tuple[Chain, ...]) -> int:
        """About the bytes of arena."""
        if chains not in self._sizes:
            self._sizes[chains] = self._size(chains)
        return self._sizes[chains]

    def seems_within(self, chains: tuple[Chain, ...], nbytes: int) -> bool:
        """Whether the size is at most `nbytes`; most that are larger show it by their bound."""
        if chains not in self._sizes:
            _, pieces = self.pieces(chains)
            if lower_bound(pieces.buffers, pieces.distances) > nbytes:
                return False
        return self.size(chains) <= nbytes

    def _size(self, chains: tuple[Chain, ...]) -> int:
        _, pieces = self.pieces(chains)
        return align_up(estimate(pieces.buffers, pieces.distances), 16)

    def smallest(self, chains: tuple[Chain, ...]) -> int:
        """Bytes of arena as they will be."""
        _, pieces = self.pieces(chains)
        return align_up(place(pieces.buffers, pieces.distances).size, 16)

    def is_within(self, chains: tuple[Chain, ...], nbytes: int) -> bool:
        """Whether the arena, as it will be, has at most so many bytes."""
        _, pieces = self.pieces(chains)
        return fits(pieces.buffers, pieces.distances, nbytes // 16 * 16)

    def loads(self, chains: tuple[Chain, ...]) -> tuple[tuple[Step, ...], list[int]]:
        """The steps, and the bytes that each needs at least."""
        steps, pieces = self.pieces(chains)
        saved = dict(savings(pieces.buffers, pieces.distances))  # of one operand a step
        return steps, live_bytes(pieces.buffers, saved, len(steps))

    def busiest(self, chains: tuple[Chain, ...]) -> Step:
        """The step that needs most memory."""
        steps, needed = self.loads(chains)
        return steps[needed.index(max(needed))]

    def load(self, chains: tuple[Chain, ...]) -> tuple[int, int]:
        """The bytes that the busiest step needs, and how many steps need them."""
        _, needed = self.loads(chains)
        return max(needed), needed.count(max(needed))

    def instructions(self) -> float:
        """Of one inference, without bands; roughly."""
        isa = self.target.isa
        calls = [call for each in self.calls for call in each]
        return sum(_PER_MAC[isa] * call.macs + _PER_CALL for call in calls)

    def cost(self, chains: tuple[Chain, ...]) -> float:
        """The instructions that bands add; roughly."""
        return sum(self._cost(chain) for chain in chains)

    def _cost(self, chain: Chain) -> float:
        if chain in self._costs:
            return self._costs[chain]
        step = self._banded(chain)
        isa = self.target.isa
        total = _PER_CALL * float(sum(call.turns for call in step.calls) - len(step.ops))
        for call in step.calls:
            fields = call.int_fields
            if call.kernel.op == "move":
                total += call.turns * _PER_BYTE_MOVED[isa] * fields["count"]
            elif order_of(call)[0] == "planes":
                total += call.turns * 6 * fields["in_row_stride"]  # sorts two rows again
            elif order_of(call)[0] == "pixels" and isa is not Isa.SCALAR:
                pixels = fields["out_h"] * fields["out_w"]
                total += pixels % order_of(call)[1] * call.macs / pixels * _PER_MAC[isa]
            elif call.kernel.op == "conv2d" and isa is Isa.SCALAR:
                pixels = fields["out_h"] * fields["out_w"]
                total += -pixels % 3 * call.macs / pixels * _PER_MAC[isa]  # three cost as one does
        self._costs[chain] = total
        return total


def _holders(index: int, parts: dict[int, Part]) -> Iterator[int]:
    """A part, and the parts in which it lies."""
    while index in parts:
        yield index
        index = parts[index].result


def choose_chains(planner: Planner, optimize: Optimize, ram_limit: int | None) -> tuple[Chain, ...]:
    """The chains to compute in bands; those of the smallest arena found if none fits `ram_limit`."""
    chains: tuple[Chain, ...] = ()
    if optimize is Optimize.BALANCED:
        allowed = planner.instructions() * TOLERANCE
        chains = _extend(planner, chains, _Aim(LEAST_GAIN, allowed, 0))
    elif optimize is Optimize.SIZE:
        chains = _extend(planner, chains, _Aim(0.0, math.inf, 0))
    if ram_limit is not None and not planner.is_within(chains, ram_limit):
        chains = _extend(planner, chains, _Aim(0.0, math.inf, ram_limit))
    return chains


@dataclass(frozen=True)
class _Aim:
    """What a further chain must bring: this part of the arena, at no more instructions than `allowed`
    for all chains; and the size that is small enough."""

    gain: float
    allowed: float
    enough: int


def _extend(planner: Planner, chains: tuple[Chain, ...], aim: _Aim) -> tuple[Chain, ...]:
    """Adds chains as long as they bring what they must. Where several steps need most, only chains
    for all of them together bring something, so up to PATIENCE may come before they do."""
    size = planner.size(chains)
    pending, waiting = chains, 0
    while size > aim.enough and len(pending) < MOST_CHAINS:
        options = sorted(
            (planner.load(option), number, option)
            for number, option in enumerate(_candidates(planner, pending))
        )
        found = []
        most = size * (1 - aim.gain)
        for _, number, option in options[:TRIES]:
            if not planner.seems_within(option, math.floor(most)):
                continue  # with higher bands it is no smaller
            option = _cheapen(planner, _widen(planner, option, aim.enough), aim.allowed)
            after, cost = planner.size(option), planner.cost(option)
            if after <= most and after < size and cost <= aim.allowed:
                found.append((max(after, aim.enough), cost, number, option))
        if found:
            chains = pending = min(found)[3]
            size, waiting = planner.size(chains), 0
        elif options and waiting < PATIENCE and options[0][0] < planner.load(pending):
            pending, waiting = options[0][2], waiting + 1
        else:
            break
    return chains


def _candidates(planner: Planner, chains: tuple[Chain, ...]) -> Iterator[tuple[Chain, ...]]:
    """`chains` with one more that takes part in the busiest step; it replaces those it touches."""
    ops = planner.graph.ops
    places = {id(op): number for number, op in enumerate(ops)}
    busy = [places[id(op)] for op in planner.busiest(chains).ops]
    for first in range(max(0, busy[0] - LONGEST + 1), busy[-1] + 1):
        for last in range(max(first + 1, busy[0]), min(first + LONGEST, len(ops))):
            if not is_chain(planner.graph, planner.calls, first, last):
                continue
            kept = tuple(c for c in chains if c.last < first or c.first > last)
            option = tuple(sorted((*kept, Chain(first, last, 1)), key=lambda c: c.first))
            if option != chains:
                yield option


def _heights(planner: Planner, chain: Chain) -> list[int]:
    """Rows a band that divide the last result in 2, 3, … bands, and those of the chain itself."""
    out = planner.graph.ops[chain.last].outputs[0]
    height = planner.graph.tensors[out].shape[2]
    return sorted({-(-height // bands) for bands in range(2, height + 1)} | {chain.rows})


def _with_rows(chains: tuple[Chain, ...], position: int, rows: int) -> tuple[Chain, ...]:
    chain = replace(chains[position], rows=rows)
    return (*chains[:position], chain, *chains[position + 1 :])


def _widen(planner: Planner, chains: tuple[Chain, ...], enough: int) -> tuple[Chain, ...]:
    """Higher bands as far as the arena stays as small, or below `enough`."""
    target = max(planner.size(chains), enough)
    for position, chain in enumerate(chains):
        heights = _heights(planner, chain)
        low, high = heights.index(chain.rows), len(heights)
        while high - low > 1:
            middle = (low + high) // 2
            if planner.seems_within(_with_rows(chains, position, heights[middle]), target):
                low = middle
            else:
                high = middle
        chains = _with_rows(chains, position, heights[low])
    return chains


def _cheapen(planner: Planner, chains: tuple[Chain, ...], allowed: float) -> tuple[Chain, ...]:
    """Higher bands, whatever they need, until all together cost no more than `allowed`."""
    tallest = tuple(replace(chain, rows=_heights(planner, chain)[-1]) for chain in chains)
    if planner.cost(tallest) > allowed:
        return chains
    while planner.cost(chains) > allowed:
        dearest = max(
            (
                position
                for position, chain in enumerate(chains)
                if chain.rows < _heights(planner, chain)[-1]
            ),
            key=lambda position: planner.cost(chains[position : position + 1]),
        )
        heights = _heights(planner, chains[dearest])
        rows = heights[heights.index(chains[dearest].rows) + 1]
        chains = _with_rows(chains, dearest, rows)
    return chains
