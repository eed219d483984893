# SPDX-License-Identifier: Apache-2.0
"""A whole plan from what the search has chosen: regions, offsets, states, and the check of it all."""

from __future__ import annotations

from dataclasses import replace

from ...options.memories import Region
from ...target import Optimize
from ..budget import check_arena
from ..check import check_plan
from ..lower.constants import pack_constants, with_names
from ..lower.lanes import with_lanes
from ..lower.tables import share_tables
from ..memory.regions import (
    NoRoom,
    measure_heat,
    place_regions,
    ram_regions,
    split_buffers,
    split_constants,
)
from ..memory.states import add_states, initial_constants, state_bytes
from ..types import Plan
from .bands import Chain
from .candidates import Candidates


def assemble(
    candidates: Candidates,
    chains: tuple[Chain, ...],
    regions: tuple[Region, ...] = (),
    optimize: Optimize = Optimize.BALANCED,
    *,
    fast: float = 1.0,
) -> Plan:
    """The plan in which the operators of each chain are computed in bands of rows.

    Args:
        optimize: what the chains were chosen for.
        fast: how much of the fast memories to use at most.

    Raises:
        NoRoom: a tensor fits into no region.
    """
    graph = candidates.graph
    usable = _usable(regions, fast, state_bytes(graph))
    steps, unplaced = candidates.unplaced(chains)
    calls = [call for step in steps for call in step.calls]
    sources = candidates.whole.sources(calls)
    if not candidates.constants_apart:
        steps, sources = share_tables(steps, sources)
    constants, names = pack_constants(sources, apart=candidates.constants_apart)
    steps = tuple(
        replace(step, calls=tuple(with_lanes(with_names(call, names)) for call in step.calls))
        for step in steps
    )
    buffer_of = unplaced.buffer_of
    check_arena(
        graph,
        max(candidates.load(chains)[0], candidates.size(chains)),
        candidates.busiest(chains).ops,
    )
    heat = measure_heat(steps, buffer_of, unplaced.scratch_of)
    outside = {buffer_of[i] for i in (*graph.inputs, *graph.outputs) if i in buffer_of}
    constants += initial_constants(graph, apart=candidates.constants_apart)
    try:
        split = split_buffers(unplaced.buffers, heat, usable, outside, unplaced.distances)
    except NoRoom as error:
        if not graph.states:
            raise
        beside = f"{error.message}, beside {state_bytes(graph):,} bytes of state"
        raise NoRoom(beside, where=_sizes(regions), hint=error.hint) from None
    placed, arenas, bound = place_regions(split, regions, unplaced.distances)
    placed, buffer_of, arenas = add_states(
        graph, placed, buffer_of, arenas, candidates.group(chains), len(steps)
    )
    return check_plan(
        Plan(
            graph=graph,
            target=candidates.target,
            steps=steps,
            constants=split_constants(constants, heat, regions),
            buffers=placed,
            buffer_of=buffer_of,
            scratch_of=unplaced.scratch_of,
            arena_size=sum(arena.size for arena in arenas),
            lower_bound=bound + state_bytes(graph),
            arenas=arenas,
            regions=regions,
            optimize=optimize,
            spared=candidates.spared,
            parts=unplaced.parts,
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
