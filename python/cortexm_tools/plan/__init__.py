# SPDX-License-Identifier: Apache-2.0
"""From a graph to a plan: kernels, constants, and the place of every tensor in the arena."""

from __future__ import annotations

from ..ir import Graph, Op
from ..target import Optimize, Target
from . import lower
from .checks import check_plan
from .kernel_table import KernelChoice
from .lifetimes import is_alias, pieces_of, share_memory
from .regions import measure_heat, place_regions, split_buffers, split_constants
from .select import Selector, has_lowering
from .smallest import larger_kernels
from .types import Call, Plan, Region, Step

__all__ = ["KernelChoice", "Plan", "has_lowering", "lower", "make_plan"]


def make_plan(
    graph: Graph,
    target: Target,
    regions: tuple[Region, ...] = (),
    kernels: KernelChoice = KernelChoice.BUILTIN,
    optimize: Optimize = Optimize.BALANCED,
) -> Plan:
    """Plans `graph` (simplified, with layouts assigned) for `target` with the given memories and library.

    Raises:
        CortexMError: an operator has no kernel, the first one is named; a tensor or constant fits
            into no region.
    """
    select = Selector(graph, target, kernels)
    group = share_memory(graph)
    steps = tuple(Step(op, _calls(select, op, group)) for op in graph.ops)
    if optimize is Optimize.SIZE:
        select = Selector(graph, target, kernels, larger_kernels(select, steps))
        steps = tuple(Step(op, _calls(select, op, group)) for op in graph.ops)
    pieces = pieces_of(graph, steps, group)
    buffer_of = pieces.buffer_of
    heat = measure_heat(steps, buffer_of, pieces.scratch_of)
    outside = {buffer_of[i] for i in (*graph.inputs, *graph.outputs) if i in buffer_of}
    split = split_buffers(pieces.buffers, heat, regions, outside)
    placed, arenas, bound = place_regions(split, regions, pieces.distances)
    return check_plan(
        Plan(
            graph=graph,
            target=target,
            steps=steps,
            constants=split_constants(tuple(select.constants.values()), heat, regions),
            buffers=placed,
            buffer_of=buffer_of,
            scratch_of=pieces.scratch_of,
            arena_size=sum(arena.size for arena in arenas),
            lower_bound=bound,
            arenas=arenas,
            regions=regions,
            optimize=optimize,
        )
    )


def _calls(select: Selector, op: Op, group: dict[int, int]) -> tuple[Call, ...]:
    source, result = op.inputs[0], op.outputs[0]
    in_place = source in group and group[source] == group[result]
    if is_alias(op, select.graph) and in_place:
        return ()
    return tuple(select.calls(op))
