# SPDX-License-Identifier: Apache-2.0
"""The steps and buffers of a graph, for any choice of operators to compute in bands of rows, and what
they need: bytes of arena, with those of states, and, roughly, instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...ir import Graph
from ...progress import tick
from ...target import Target
from ..budget import MOST_PLACES, places, within
from ..kernels.cost import instructions
from ..kernels.table import find_kernels
from ..lower.context import Lowered
from ..memory.concat_in_place import Joined, find_parts, into_result, joinable
from ..memory.lifetimes import KnownStep, Lives, Unplaced, lives_of, unplaced_of
from ..memory.offset_search import align_up
from ..memory.offsets import estimate, fits, live_bytes, lower_bound, place, savings
from ..memory.sharing import share_memory
from ..memory.states import state_bytes
from ..types import Call, Part, Step
from .bands import Chain, band_step
from .matrix_bands import is_matrix_chain, matrix_chains, matrix_step, replaced_in_bands
from .whole import WholeCalls, is_in_place

MOST_OPERANDS = 32  # of concatenations to look at one by one


@dataclass(frozen=True)
class _Outline:
    """What is the same for all heights of bands.

    Attributes:
        steps: those of chains in the height that came first.
        places: of each chain among them, by its first operator.
    """

    steps: list[KnownStep]
    places: dict[int, int]
    lives: Lives


class Candidates:
    """The steps and buffers of a graph for any choice of chains.

    Args:
        lowered: its operators by their first result, in whatever order.
        apart: no two constants are put together.
        spared: operators that do without faster kernels for want of memory.
    """

    def __init__(
        self,
        graph: Graph,
        target: Target,
        lowered: Mapping[int, Lowered],
        *,
        apart: bool = False,
        spared: int = 0,
    ) -> None:
        self.graph = graph
        self.target = target
        self.constants_apart = apart
        self.spared = spared
        self.whole = WholeCalls(graph, lowered)
        self.calls = self.whole.calls
        self._steps: dict[tuple[int, bool] | Chain, KnownStep] = {}
        self._groups: dict[frozenset[int], dict[int, int]] = {}
        self._unplaced: dict[
            tuple[Joined, tuple[Chain, ...]], tuple[tuple[Step, ...], Unplaced]
        ] = {}
        self._outlines: dict[tuple[Joined, tuple[tuple[int, int], ...]], _Outline] = {}
        self._sizes: dict[tuple[Chain, ...], int] = {}
        self._costs: dict[Chain, float] = {}
        self._moved: dict[tuple[KnownStep, tuple[tuple[int, Part], ...]], KnownStep] = {}
        self._states = state_bytes(graph)
        self._apart = self._too_many_places()
        self.joined: Joined = frozenset()
        self._choose_joined()

    def _too_many_places(self) -> frozenset[int]:
        """The results whose overlaps with their operands are not looked at."""
        looks = {number: places(calls) for number, calls in enumerate(self.calls)}
        few = within(looks, MOST_PLACES)
        return frozenset(
            index
            for number, op in enumerate(self.graph.ops)
            if number not in few
            for index in op.outputs
        )

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

    @cached_property
    def matrix_chains(self) -> list[tuple[int, int]]:
        """The first and the last operator of every chain of matrices."""
        return matrix_chains(self.graph, self.calls)

    def unplaced(self, chains: tuple[Chain, ...]) -> tuple[tuple[Step, ...], Unplaced]:
        """Steps and buffers with these chains, none of which may share an operator with another."""
        key = self.joined, chains
        if key not in self._unplaced:
            self._unplaced[key] = self._find_unplaced(chains)
        return self._unplaced[key]

    def _find_unplaced(self, chains: tuple[Chain, ...]) -> tuple[tuple[Step, ...], Unplaced]:
        tick()
        key = self.joined, tuple((chain.first, chain.last) for chain in chains)
        if key not in self._outlines:
            self._outlines[key] = self._outline(chains)
        outline = self._outlines[key]
        parts = outline.lives.parts
        banded = {
            outline.places[c.first]: self._into_results(self._banded(c), parts) for c in chains
        }
        known = [banded.get(number, step) for number, step in enumerate(outline.steps)]
        return tuple(each.step for each in known), unplaced_of(known, outline.lives, self._apart)

    def _outline(self, chains: tuple[Chain, ...]) -> _Outline:
        group = self.group(chains)
        inside = {n for chain in chains for n in range(chain.first, chain.last + 1)}
        starts = {chain.first: chain for chain in chains}
        steps: list[KnownStep] = []
        places: dict[int, int] = {}
        for number in range(len(self.graph.ops)):
            if number in starts:
                places[number] = len(steps)
                steps.append(self._banded(starts[number]))
            elif number not in inside:
                steps.append(self._single(number, group))
        parts = self._parts(group, chains)
        states = {state.before for state in self.graph.states}
        with_buffer = {
            index: root
            for index, root in group.items()
            if index not in parts and root not in states
        }
        lives = lives_of(self.graph, [each.step for each in steps], with_buffer, parts)
        return _Outline([self._into_results(step, parts) for step in steps], places, lives)

    def _parts(self, group: dict[int, int], chains: tuple[Chain, ...]) -> dict[int, Part]:
        """What lies in the results of concatenations."""
        if not self.joined:
            return {}
        banded: set[int] = set()
        for chain in chains:
            ops = self.graph.ops[chain.first : chain.last + 1]
            banded.update(index for op in ops for index in op.inputs)
            banded.update(index for op in ops[:-1] for index in op.outputs)
        return find_parts(self.graph, group, self.calls, self.joined, banded)

    def _into_results(self, known: KnownStep, parts: dict[int, Part]) -> KnownStep:
        if not parts:
            return known
        step = known.step
        touched = {i for op in step.ops for i in (*op.inputs, *op.outputs)} & parts.keys()
        if not touched:
            return known
        around = {i for index in touched for i in _holders(index, parts)}
        key = known, tuple((i, parts[i]) for i in sorted(around))
        if key not in self._moved:
            moved = into_result(self.graph, self.target.core, step, parts)
            self._moved[key] = known if moved is step else KnownStep(self.graph, moved)
        return self._moved[key]

    def _banded(self, chain: Chain) -> KnownStep:
        if chain not in self._steps:
            if is_matrix_chain(self.graph, chain):
                step = matrix_step(self.graph, self.calls, chain)
            else:
                move, *_ = find_kernels("move", ("x8",), self.target)
                step = band_step(self.graph, self.calls, chain, move)
            self._steps[chain] = KnownStep(self.graph, step)
        return self._steps[chain]

    def _single(self, number: int, group: dict[int, int]) -> KnownStep:
        op = self.graph.ops[number]
        in_place = is_in_place(op, group)
        if (number, in_place) not in self._steps:
            step = Step(op, self.whole.calls_of(number, in_place))
            self._steps[number, in_place] = KnownStep(self.graph, step)
        return self._steps[number, in_place]

    def group(self, chains: tuple[Chain, ...]) -> dict[int, int]:
        """For every tensor with memory the one whose memory it uses."""
        inside = frozenset(n for chain in chains for n in range(chain.first, chain.last + 1))
        if inside not in self._groups:
            replaced = (replaced_in_bands(self.graph, chain) for chain in chains)
            self._groups[inside] = share_memory(self.graph, inside, frozenset().union(*replaced))
        return self._groups[inside]

    def size(self, chains: tuple[Chain, ...]) -> int:
        """About the bytes of arena."""
        if chains not in self._sizes:
            self._sizes[chains] = self._size(chains)
        return self._sizes[chains]

    def seems_within(self, chains: tuple[Chain, ...], nbytes: int) -> bool:
        """Whether the size is at most `nbytes`; most that are larger show it by their bound."""
        if chains not in self._sizes:
            _, unplaced = self.unplaced(chains)
            if lower_bound(unplaced.buffers, unplaced.distances) > nbytes - self._states:
                return False
        return self.size(chains) <= nbytes

    def _size(self, chains: tuple[Chain, ...]) -> int:
        _, unplaced = self.unplaced(chains)
        return align_up(estimate(unplaced.buffers, unplaced.distances), 16) + self._states

    def smallest(self, chains: tuple[Chain, ...]) -> int:
        """Bytes of arena as they will be."""
        _, unplaced = self.unplaced(chains)
        return align_up(place(unplaced.buffers, unplaced.distances).size, 16) + self._states

    def is_within(self, chains: tuple[Chain, ...], nbytes: int) -> bool:
        """Whether the arena, as it will be, has at most so many bytes."""
        _, unplaced = self.unplaced(chains)
        return fits(unplaced.buffers, unplaced.distances, (nbytes - self._states) // 16 * 16)

    def loads(self, chains: tuple[Chain, ...]) -> tuple[tuple[Step, ...], list[int]]:
        """The steps, and the bytes that each needs at least."""
        steps, unplaced = self.unplaced(chains)
        saved = dict(savings(unplaced.buffers, unplaced.distances))  # of one operand a step
        live = live_bytes(unplaced.buffers, saved, len(steps))
        return steps, [self._states + nbytes for nbytes in live]

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
        return self._instructions(call for calls in self.calls for call in calls)

    def cost(self, chains: tuple[Chain, ...]) -> float:
        """The instructions that bands add; roughly."""
        for chain in chains:
            if chain not in self._costs:
                whole = self.calls[chain.first : chain.last + 1]
                before = self._instructions(call for calls in whole for call in calls)
                after = self._instructions(self._banded(chain).step.calls)
                self._costs[chain] = max(0.0, after - before)
        return sum(self._costs[chain] for chain in chains)

    def _instructions(self, calls: Iterable[Call]) -> float:
        return sum(instructions(call, self.target.core) for call in calls)


def _holders(index: int, parts: dict[int, Part]) -> Iterator[int]:
    """A part, and the parts in which it lies."""
    while index in parts:
        yield index
        index = parts[index].result
