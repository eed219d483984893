# SPDX-License-Identifier: Apache-2.0
"""`make_plan`: of all plans of a graph the one that its memories, its limit and `optimize` ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...ir import Graph
from ...options.memories import Region
from ...target import Optimize, Target
from ..budget import check_alive
from ..choose.kernels import PRICES
from ..choose.options import Room
from ..kernels.table import KernelChoice
from ..memory.regions import NoRoom
from ..memory.sharing import share_memory
from ..types import Plan
from .assemble import assemble
from .candidates import Candidates
from .choose_bands import choose_chains, fastest_chains
from .room import Choice, fit
from .space import SearchSpace


def make_plan(
    graph: Graph,
    target: Target,
    regions: tuple[Region, ...] = (),
    kernels: KernelChoice = KernelChoice.BUILTIN,
    optimize: Optimize = Optimize.BALANCED,
    ram_limit: int | None = None,
    *,
    bands: bool = True,
) -> Plan:
    """Plans `graph` (simplified, with layouts assigned) for `target` with the given memories and library:
    `plan_within` of a space of its own.
    """
    space = SearchSpace(graph, target, kernels, optimize)
    return plan_within(space, regions, optimize, ram_limit, bands=bands)


def plan_within(
    space: SearchSpace,
    regions: tuple[Region, ...] = (),
    optimize: Optimize = Optimize.BALANCED,
    ram_limit: int | None = None,
    *,
    bands: bool = True,
) -> Plan:
    """The plan for the given memories.

    Args:
        optimize: how far bands of rows may go to save RAM, see choose_bands.py.
        ram_limit: bytes of arena and state, for which bands and then kernels with less scratch are
            taken as far as needed and no further; the smallest plan found if none fits.
        bands: whether operators may be computed in another order, and in bands of rows.

    Raises:
        CortexMError: an operator has no kernel, the first one is named; a constant fits into no region.
        NoRoom: a tensor fits into no region.
    """
    check_alive(space.graph, share_memory(space.graph))
    if not bands:
        return assemble(space.as_given(optimize), (), regions, optimize)
    rooms = [region.size for region in regions if region.kind != "weights"]

    def candidates_of(room: Room, limit: int | None) -> list[Candidates]:
        return space.candidates(optimize, room, matrices=limit is not None)

    def choose(room: Room, limit: int | None) -> Choice:
        """Within the RAM limit what costs least; else the order with the smaller arena, the program's if
        they are equal."""
        if limit is not None and limit == ram_limit and not rooms:
            options = [(p, fastest_chains(p, optimize, limit)) for p in candidates_of(room, limit)]
            within = [(p, chains) for p, chains in options if p.is_within(chains, limit)]
            if within and optimize is not Optimize.SIZE:
                return min(within, key=lambda option: option[0].cost(option[1]))
            best, *others = options
        else:
            best, *others = [
                (p, choose_chains(p, optimize, limit)) for p in candidates_of(room, limit)
            ]
        for candidates, chains in others:
            if candidates.is_within(chains, best[0].smallest(best[1]) - 1):
                best = candidates, chains
        return best

    fitted = partial(
        fit,
        choose,
        partial(space.chosen, optimize),
        space.least_memory,
        prices=PRICES[optimize],
    )
    if not rooms:
        return assemble(*fitted(ram_limit), regions, optimize)
    return _spread(fitted, regions, rooms, optimize, ram_limit)


_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0)


def _spread(
    fitted: Callable[..., Choice],
    regions: tuple[Region, ...],
    rooms: Sequence[int],
    optimize: Optimize,
    ram_limit: int | None,
) -> Plan:
    """The first plan that finds room, of those for the memories together, for less and less of them, for
    the largest one alone, and the smallest one. What fits into one memory fits beside others, too.
    Tensors in two memories cannot overlap: a RAM limit may leave a part of the fast ones unused.

    Raises:
        NoRoom: none does.
    """
    whole = sum(rooms) if ram_limit is None else min(sum(rooms), ram_limit)
    most = min(whole, max(rooms))
    plans: list[Plan] = []
    smallest, failure = 0, NoRoom("")
    for limit in dict.fromkeys((whole, (whole + most) // 2, most, 1)):
        candidates, chains = fitted(limit, may_grow=ram_limit is not None)
        for part in _PARTS:
            try:
                plan = assemble(candidates, chains, regions, optimize, fast=part)
            except NoRoom as error:
                smallest, failure = candidates.smallest(chains), error
                break
            if ram_limit is None or plan.arena_size <= ram_limit:
                return plan
            plans.append(plan)
    if plans:
        return min(plans, key=lambda plan: plan.arena_size)
    raise NoRoom(
        f"{failure.message}; in one memory the model takes {smallest:,} bytes",
        where=failure.where,
        hint=failure.hint,
    )
