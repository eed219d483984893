# SPDX-License-Identifier: Apache-2.0
"""The order of a call's operators. Exact: each still runs behind all that it reads."""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph, Op


def early_reads(graph: Graph) -> Graph:
    """Reads columns that were kept before new ones take their place.

    A branch that is shorter than another reads old columns of a state late in the call. If the state
    has its new value by then, that value lies elsewhere, and is copied at the end. So what takes less
    memory than the state is read from it before its new value is computed.
    """
    order = list(graph.ops)
    for state in graph.states:
        maker = next((op for op in order if state.after in op.outputs), None)
        if maker is None:
            continue
        size = graph.tensors[state.before].nbytes
        place = order.index(maker)
        for op in order[place + 1 :]:
            if state.before not in op.inputs or not _is_ready(graph, op, order[:place]):
                continue
            if sum(graph.tensors[index].nbytes for index in op.outputs) < size:
                order.remove(op)
                order.insert(place, op)
                place += 1
    return replace(graph, ops=tuple(order))


def _is_ready(graph: Graph, op: Op, before: list[Op]) -> bool:
    """Whether all that it reads is there once these have run."""
    made = {index for each in graph.ops for index in each.outputs}
    there = {index for each in before for index in each.outputs}
    return all(index in there or index not in made for index in op.inputs)
