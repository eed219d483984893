# SPDX-License-Identifier: Apache-2.0
"""How much memory the kernels of a network may take.

A faster kernel often works through scratch, or may not write over what it reads. Of the steps with another
way which takes less, that which needs most has its room cut to that, until none is left. Of all these choices
the one is taken whose instructions and bytes, at their prices, are the least together; with a RAM limit the
first one within it, for which the steps above it give way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..choose.kernels import Prices, cost_of
from ..choose.options import NO_LIMIT, Option, Room
from .bands import Chain
from .candidates import Candidates

Choice = tuple[Candidates, tuple[Chain, ...]]

MATTERS = 0.8  # of what the step needs that needs most: less than that is seldom in the way
_ROUNDS = 17


def fit(
    choose: Callable[[Room, int | None], Choice],
    chosen: Callable[[Room], Mapping[int, Option]],
    least: Mapping[int, int],
    ram_limit: int | None,
    prices: Prices,
    *,
    may_grow: bool = True,
) -> Choice:
    """The choice with which the arena has at most `ram_limit` bytes, or the smallest one found.

    If what the limit asks for is not enough, what a limit of nothing asks for is tried too: so a limit
    of just the smallest arena is met.

    Args:
        choose: the planner with this room for steps, and its chains for a limit.
        chosen: the ways that it takes with this room.
        least: bytes beside its operands that each step needs at least.
        prices: of bytes, in instructions.
        may_grow: whether the limit is leave to use as much for speed; else it is the room that there is.
    """

    def cuts(limit: int | None) -> Iterator[tuple[Choice, Room]]:
        """Choices with less and less room, the first one with all that they want."""
        room: Room = NO_LIMIT
        for _ in range(_ROUNDS):
            choice = choose(room, ram_limit)
            yield choice, room
            more = _less(choice, chosen(room), least, limit)
            if not more:
                return
            room = {**room, **more}

    def cost(found: tuple[Choice, Room]) -> float:
        (candidates, chains), room = found
        instructions = cost_of(chosen(room).values(), prices.flash) + candidates.cost(chains)
        return instructions + prices.ram * candidates.smallest(chains)

    def cheapest() -> Choice:
        """Also of what needs least: steps that need less than others may be in the way, too."""
        if not prices.ram:
            return choose(NO_LIMIT, ram_limit)
        return min((*cuts(None), (choose(least, ram_limit), least)), key=cost)[0]

    def within(limit: int) -> Choice:
        """The first choice with an arena of so many bytes, or the smallest one."""
        best: Choice | None = None
        for choice, _ in cuts(limit):
            if best is None or _is_within(choice, _size(best) - 1):
                best = choice
            if _is_within(best, limit):
                break
        assert best is not None
        return best

    if ram_limit is None or not may_grow:
        found = cheapest()
        if ram_limit is None or _is_within(found, ram_limit):
            return found
    found = within(ram_limit)
    if ram_limit > 1 and not _is_within(found, ram_limit):
        other = within(0)
        return other if _is_within(other, _size(found)) else found
    return found


def _size(choice: Choice) -> int:
    candidates, chains = choice
    return candidates.smallest(chains)


def _is_within(choice: Choice, nbytes: int) -> bool:
    candidates, chains = choice
    return candidates.is_within(chains, nbytes)


def _less(
    choice: Choice, chosen: Mapping[int, Option], least: Mapping[int, int], limit: int | None
) -> Room:
    """Less room for the steps above the limit, or for those that need most of all that have other ways."""
    steps, loads = choice[0].loads(choice[1])
    able = [
        (op.outputs[0], load)
        for step, load in zip(steps, loads, strict=True)
        for op in step.ops
        if chosen[op.outputs[0]].memory > least[op.outputs[0]]
    ]
    most = max((load for _, load in able), default=0)
    if limit is None and most < MATTERS * max(loads, default=0):
        return NO_LIMIT
    most = most - 1 if limit is None else min(most - 1, limit)
    return {
        made: max(least[made], chosen[made].memory - (load - most))
        for made, load in able
        if load > most
    }
