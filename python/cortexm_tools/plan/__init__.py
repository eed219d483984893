# SPDX-License-Identifier: Apache-2.0
"""From a graph to a plan: kernels, constants, and the place of every tensor in the arena."""

from __future__ import annotations

from ..ir import Graph, Op
from ..target import Target
from . import lower
from .arena import align_up, lower_bound, place
from .checks import check_plan
from .lifetimes import buffers, is_alias, share_memory
from .select import Selector, has_lowering
from .types import Call, Plan, Step

__all__ = ["Plan", "has_lowering", "lower", "make_plan"]


def make_plan(graph: Graph, target: Target) -> Plan:
    """Plans `graph` (simplified, with layouts assigned) for `target`.

    Raises:
        CortexMError: an operator has no kernel; the first one is named.
    """
    select = Selector(graph, target)
    group = share_memory(graph)
    steps = tuple(Step(op, _calls(select, op, group)) for op in graph.ops)
    pieces, buffer_of, scratch_of = buffers(graph, steps, group)
    bound = lower_bound(pieces)
    placed, size = place(pieces)
    return check_plan(
        Plan(
            graph=graph,
            target=target,
            steps=steps,
            constants=tuple(select.constants.values()),
            buffers=placed,
            buffer_of=buffer_of,
            scratch_of=scratch_of,
            arena_size=align_up(size, 16),
            lower_bound=bound,
        )
    )


def _calls(select: Selector, op: Op, group: dict[int, int]) -> tuple[Call, ...]:
    source, result = op.inputs[0], op.outputs[0]
    in_place = source in group and group[source] == group[result]
    if is_alias(op, select.graph) and in_place:
        return ()
    return tuple(select.calls(op))
