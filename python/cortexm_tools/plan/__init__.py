# SPDX-License-Identifier: Apache-2.0
"""From a graph to a plan: kernels, constants, and the place of every tensor in the arena."""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph
from ..target import Optimize, Target
from . import lower
from .bands import Chain
from .checks import check_plan
from .choose import Planner, choose_chains
from .kernel_table import KernelChoice
from .order import smallest_order
from .regions import measure_heat, place_regions, split_buffers, split_constants
from .select import has_lowering
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
        ram_limit: bytes of arena, for which the fastest plan that fits is taken; the smallest plan
            if none does.
        bands: whether operators may be computed in another order, and in bands of rows.

    Raises:
        CortexMError: an operator has no kernel, the first one is named; a tensor or constant fits
            into no region.
    """
    planner = Planner(graph, target, kernels, optimize)
    if not bands:
        return assemble(planner, (), regions)
    if regions:
        room = sum(region.size for region in regions if region.kind != "weights")
        ram_limit = min(room, ram_limit) if ram_limit and room else ram_limit or room or None
    chains = choose_chains(planner, optimize, ram_limit)
    order = smallest_order(graph)
    if order is not None:
        other = Planner(replace(graph, ops=order), target, kernels, optimize)
        its_chains = choose_chains(other, optimize, ram_limit)
        if other.smallest(its_chains) < planner.smallest(chains):
            return assemble(other, its_chains, regions)
    return assemble(planner, chains, regions)


def assemble(planner: Planner, chains: tuple[Chain, ...], regions: tuple[Region, ...] = ()) -> Plan:
    """The plan in which the operators of each chain are computed in bands of rows."""
    graph = planner.graph
    steps, pieces = planner.pieces(chains)
    buffer_of = pieces.buffer_of
    heat = measure_heat(steps, buffer_of, pieces.scratch_of)
    outside = {buffer_of[i] for i in (*graph.inputs, *graph.outputs) if i in buffer_of}
    split = split_buffers(pieces.buffers, heat, regions, outside, pieces.distances)
    placed, arenas, bound = place_regions(split, regions, pieces.distances)
    return check_plan(
        Plan(
            graph=graph,
            target=planner.target,
            steps=steps,
            constants=split_constants(tuple(planner.select.constants.values()), heat, regions),
            buffers=placed,
            buffer_of=buffer_of,
            scratch_of=pieces.scratch_of,
            arena_size=sum(arena.size for arena in arenas),
            lower_bound=bound,
            arenas=arenas,
            regions=regions,
            optimize=planner.optimize,
        )
    )
