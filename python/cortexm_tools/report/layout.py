# SPDX-License-Identifier: Apache-2.0
"""Where everything lies in the arena and when, and who reads whose results: for the pictures."""

from __future__ import annotations

from typing import Any

from ..ir.text import tensor_text
from ..plan import Plan


def arenas(plan: Plan) -> list[dict[str, Any]]:
    """The parts of the arena: offsets from `base` on, `bytes` of them, the state's last.

    ``region`` is empty for a target without regions.
    """
    return [
        {
            "region": arena.region.name,
            "kind": "state" if arena is plan.state_arena else "arena",
            "base": arena.base,
            "bytes": arena.size,
        }
        for arena in plan.arenas
    ]


def buffers(plan: Plan) -> list[dict[str, Any]]:
    """Every piece of the arena: ``offset`` and ``bytes``, live from layer ``first`` through ``last``.

    ``kind`` is ``input``, ``output`` (also where an input lies in the same place), ``tensor``,
    ``band`` (some rows of a tensor that never exists as a whole), ``state`` or ``scratch``.
    ``tensors`` are those that lie in it one after another, with the layer that makes each (null for
    an input or a state), ``at`` bytes from its begin where it is a part of a concatenation.
    """
    graph, last_step = plan.graph, len(plan.steps) - 1
    maker = {i: n for n, step in enumerate(plan.steps) for op in step.ops for i in op.outputs}
    bands = {index for step in plan.steps for index in step.inside}
    inside: dict[int, list[int]] = {}
    for index in (*plan.buffer_of, *plan.parts):
        inside.setdefault(plan.buffer_of[plan.holder(index)], []).append(index)
    scratch = set(plan.scratch_of.values())
    base = plan.state_arena.base if plan.state_arena else plan.arena_size
    rows = []
    for place, buffer in enumerate(plan.buffers):
        held = sorted(inside.get(place, ()), key=lambda i: (maker.get(i, -1), i))
        if place in scratch:
            kind = "scratch"
        elif plan.state_size and buffer.offset >= base:
            kind = "state"
        elif any(index in graph.outputs for index in held):
            kind = "output"
        elif any(index in graph.inputs for index in held):
            kind = "input"
        else:
            kind = "band" if any(index in bands for index in held) else "tensor"
        tensors = [
            {
                "name": graph.tensors[index].name,
                "type": tensor_text(graph.tensors[index]),
                "bytes": graph.tensors[index].nbytes,
                "layer": maker.get(index),
                "at": plan.offset(index) - buffer.offset,
            }
            for index in held
        ]
        first, last = (0, last_step) if kind == "state" else (buffer.first, buffer.last)
        rows.append(
            {
                "kind": kind,
                "offset": buffer.offset,
                "bytes": buffer.nbytes,
                "first": max(0, min(first, last_step)),
                "last": max(0, min(last, last_step)),
                "tensors": tensors,
            }
        )
    return rows


def readers(plan: Plan) -> list[list[int]]:
    """For each layer the layers whose results it reads; -1 - k for input k, and nothing for a state."""
    graph = plan.graph
    maker = {index: -1 - k for k, index in enumerate(graph.inputs)}
    maker |= {i: n for n, step in enumerate(plan.steps) for op in step.ops for i in op.outputs}
    return [
        sorted({maker[i] for i in step.inputs if i in maker and maker[i] < number})
        for number, step in enumerate(plan.steps)
    ]
