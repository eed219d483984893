# SPDX-License-Identifier: Apache-2.0
"""From a graph to a plan: kernels, constants, and the place of every tensor in the arena."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from ..ir import Graph
from ..target import Optimize, Target
from . import lower
from .bands import Chain
from .budget import check_arena, check_sizes
from .checks import check_plan
from .choose import choose_chains, fastest_chains
from .kernel_table import KernelChoice
from .order import smallest_order
from .planner import Planner
from .regions import (
    NoRoom,
    measure_heat,
    place_regions,
    ram_regions,
    split_buffers,
    split_constants,
)
from .select import Spare, has_lowering
from .spare import Choice, fit
from .states import add_states, initial_constants, settle, state_bytes
from .types import Plan, Region

__all__ = [
    "Chain",
    "KernelChoice",
    "Plan",
    "Planner",
    "assemble",
    "has_lowering",
    "lower",
    "make_plan",
]


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
    """Plans `graph` (simplified, with layouts assigned) for `target` with the given memories and library.

    Args:
        optimize: how far bands of rows may go to save RAM, see choose.py.
        ram_limit: bytes of arena and state, for which bands and then kernels with less scratch are
            taken as far as needed and no further; the smallest plan found if none fits.
        bands: whether operators may be computed in another order, and in bands of rows.

    Raises:
        CortexMError: an operator has no kernel, the first one is named; a constant fits into no region.
        NoRoom: a tensor fits into no region.
    """
    graph = settle(graph)
    check_sizes(graph)
    if not bands:
        return assemble(Planner(graph, target, kernels, optimize), (), regions)
    rooms = [region.size for region in regions if region.kind != "weights"]
    order = smallest_order(graph)
    orders = [graph] if order is None else [graph, replace(graph, ops=order)]

    @cache
    def planners(spare: Spare) -> list[Planner]:
        return [Planner(ordered, target, kernels, optimize, spare) for ordered in orders]

    def choose(spare: Spare, limit: int | None) -> Choice:
        """Within the RAM limit what costs least; else the order with the smaller arena, the program's if
        they are equal."""
        if limit is not None and limit == ram_limit and not rooms:
            options = [(p, fastest_chains(p, optimize, limit)) for p in planners(spare)]
            within = [(p, chains) for p, chains in options if p.is_within(chains, limit)]
            if within and optimize is not Optimize.SIZE:
                return min(within, key=lambda option: option[0].cost(option[1]))
            best, *others = options
        else:
            best, *others = [(p, choose_chains(p, optimize, limit)) for p in planners(spare)]
        for planner, chains in others:
            if planner.is_within(chains, best[0].smallest(best[1]) - 1):
                best = planner, chains
        return best

    if not rooms:
        return assemble(*fit(choose, ram_limit), regions)
    return _spread(choose, regions, rooms, ram_limit)


_PARTS = (1.0, 0.5, 0.25, 0.125, 0.0)


def _spread(
    choose: Callable[[Spare, int | None], Choice],
    regions: tuple[Region, ...],
    rooms: Sequence[int],
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
        planner, chains = fit(choose, limit)
        for part in _PARTS:
            try:
                plan = assemble(planner, chains, regions, fast=part)
            except NoRoom as error:
                smallest, failure = planner.smallest(chains), error
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


def assemble(
    planner: Planner,
    chains: tuple[Chain, ...],
    regions: tuple[Region, ...] = (),
    *,
    fast: float = 1.0,
) -> Plan:
    """The plan in which the operators of each chain are computed in bands of rows.

    Args:
        fast: how much of the fast memories to use at most.

    Raises:
        NoRoom: a tensor fits into no region.
    """
    graph = planner.graph
    usable = _usable(regions, fast, state_bytes(graph))
    steps, pieces = planner.pieces(chains)
    buffer_of = pieces.buffer_of
    check_arena(
        graph, max(planner.load(chains)[0], planner.size(chains)), planner.busiest(chains).ops
    )
    heat = measure_heat(steps, buffer_of, pieces.scratch_of)
    outside = {buffer_of[i] for i in (*graph.inputs, *graph.outputs) if i in buffer_of}
    constants = (*planner.select.constants.values(), *initial_constants(graph))
    try:
        split = split_buffers(pieces.buffers, heat, usable, outside, pieces.distances)
    except NoRoom as error:
        if not graph.states:
            raise
        beside = f"{error.message}, beside {state_bytes(graph):,} bytes of state"
        raise NoRoom(beside, where=_sizes(regions), hint=error.hint) from None
    placed, arenas, bound = place_regions(split, regions, pieces.distances)
    placed, buffer_of, arenas = add_states(
        graph, placed, buffer_of, arenas, planner.group(chains), len(steps)
    )
    return check_plan(
        Plan(
            graph=graph,
            target=planner.target,
            steps=steps,
            constants=split_constants(constants, heat, regions),
            buffers=placed,
            buffer_of=buffer_of,
            scratch_of=pieces.scratch_of,
            arena_size=sum(arena.size for arena in arenas),
            lower_bound=bound + state_bytes(graph),
            arenas=arenas,
            regions=regions,
            optimize=planner.optimize,
            spared=len({tensor for tensor, _ in planner.spare}),
            parts=pieces.parts,
        )
    )


def _sizes(regions: tuple[Region, ...]) -> str:
    return ", ".join(f"{r.name} {r.size:,} bytes" for r in ram_regions(regions))


def _usable(regions: tuple[Region, ...], fast: float, states: int) -> tuple[Region, ...]:
    """The regions as far as the arenas may use them: states lie in the main one.

    Raises:
        NoRoom: the main one is too small for them.
    """
    main = ram_regions(regions)[0]
    if main.size < states:
        raise NoRoom(
            f"the model's state ({states:,} bytes) does not fit",
            where=f"{main.name} {main.size:,} bytes",
            hint="make the region larger, or keep less from call to call",
        )
    sizes = {region.name: int(region.size * fast) for region in regions if region.kind == "fast"}
    sizes[main.name] = main.size - states
    return tuple(replace(r, size=sizes.get(r.name, r.size)) for r in regions)
