# SPDX-License-Identifier: Apache-2.0
"""The report as plain data; every number in it is exact and comes from the plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ir import DType, Graph, Op, State, Work, ops
from ..ir.text import tensor_text
from ..plan import Plan
from ..plan.check.sums import largest_int16_sum
from ..plan.lower.weights import types_of
from ..plan.search.alternatives import Alternative
from ..plan.types import Buffer, Call, ConstantArg, Step
from ..simplify.input_layout import turned_images
from ..version import __version__
from .layout import arenas, buffers, readers
from .reading import FORMAT


def precision(op: Op, graph: Graph) -> str:
    """What kind of work an operator is.

    ``int8``, ``a8w4`` (the same with weights that fit into 4 bits), ``a16w8``, ``a16w4``, ``float``,
    ``integer`` (indices, conditions), ``convert`` or ``move``.
    """
    work = op.attrs.traits.work
    if work is Work.MOVE:
        return "move"
    if work is Work.CONVERT:
        return "convert"
    types = {graph.tensors[i].dtype for i in (*op.inputs, *op.outputs)}
    if isinstance(op.attrs, ops.RecurrentAttrs):
        types = {graph.tensors[op.inputs[0]].dtype}  # its states have 16 bits in every precision
    if DType.F32 in types:
        return "float"
    if DType.S16 in types:
        return "a16w4" if _has_4_bits(op, graph) else "a16w8"
    if DType.S8 not in types:
        return "integer"
    return "a8w4" if _has_4_bits(op, graph) else "int8"


def _has_4_bits(op: Op, graph: Graph) -> bool:
    """Whether an operator has weights that fit into 4 bits, and kernels that take them two to a byte."""
    codes = graph.tensors[op.inputs[0]].dtype
    if isinstance(op.attrs, ops.RecurrentAttrs):
        # Both matrices, of which one kernel takes the products.
        w_ih, w_hh = (graph.tensors[index].data for index in op.inputs[-3:-1])
        assert w_ih is not None and w_hh is not None
        return len(types_of(codes, np.concatenate([w_ih, w_hh], axis=1), len(w_hh))) > 1
    if not isinstance(op.attrs, ops.ConvAttrs | ops.Linear):
        return False
    weight, shape = graph.tensors[op.inputs[1]].data, graph.tensors[op.outputs[0]].shape
    if weight is None:
        return False
    channels = shape[-1 if isinstance(op.attrs, ops.Linear) else 1]
    if codes is DType.S8 and not all(rescale.is_narrow for rescale in op.attrs.rescales):
        return False
    return len(types_of(codes, weight, channels)) > 1


def float_ops(graph: Graph) -> list[Op]:
    """The operators that compute in float32."""
    return [op for op in graph.ops if precision(op, graph) == "float"]


def report_data(
    plan: Plan,
    *,
    name: str,
    digest: str,
    alternatives: Iterable[Alternative] = (),
    command: str = "",
    limits: Mapping[str, float | None] | None = None,
) -> dict[str, Any]:
    """The contents of NAME.report.json (docs/report.md). Sizes are bytes.

    Args:
        alternatives: other plans to tell of.
        command: the command line that leads to this plan, without paths.
        limits: most bytes of ``ram`` and of ``flash``; None for no limit. And where they are given the
            least ``sqnr_db``, and the most ``accuracy_loss`` in percent points.
    """
    graph = plan.graph
    work: dict[str, dict[str, int]] = {}
    layers = []
    read = readers(plan)
    sizes = {constant.name: constant.nbytes for constant in plan.constants}
    held = sorted(plan.buffers, key=lambda buffer: buffer.offset)
    for number, step in enumerate(plan.steps):
        kind = precision(step.op, graph)
        macs = sum(call.macs for call in step.calls)
        total = work.setdefault(kind, {"operators": 0, "macs": 0})
        total["macs"] += macs
        for op in step.ops:
            one = work.setdefault(precision(op, graph), {"operators": 0, "macs": 0})
            one["operators"] += 1
        there = [b for b in held if b.first <= number <= b.last]
        entry = _layer(plan, number, step, kind, macs, sizes, there)
        layers.append(entry | {"reads": read[number]})
    return {
        "format": FORMAT,
        "name": name,
        "cortexm": __version__,
        "program_sha256": digest,
        "target": {"cpu": plan.target.core.value, "isa": plan.target.isa.value},
        "optimize": plan.optimize.value,
        "command": command,
        "limits": {"ram": None, "flash": None} | dict(limits or {}),
        "arena_bytes": plan.working_size,
        "arena_lower_bound_bytes": plan.lower_bound - plan.state_size,
        "state_bytes": plan.state_size,
        "operators_without_scratch": plan.spared,
        "alternatives": [
            {
                "optimize": other.optimize.value,
                "ram_bytes": other.ram_bytes,
                "instructions": round(other.instructions, 3),
                **({"io": list(other.io)} if other.io else {}),
            }
            for other in alternatives
        ],
        "regions": _regions(plan),
        "constants_bytes": plan.constant_bytes,
        "constants_needed_bytes": plan.needed_bytes,
        "macs": sum(entry["macs"] for entry in work.values()),
        "work": work,
        "kernels": sorted({call.kernel.symbol for step in plan.steps for call in step.calls}),
        "libraries": _libraries(call for step in plan.steps for call in step.calls),
        "inputs": [_interface(plan, i) for i in graph.inputs],
        "turned_inputs": [graph.tensors[i].name for i in turned_images(graph)],
        "outputs": [_interface(plan, i) for i in graph.outputs],
        "states": [_state(plan, state) for state in graph.states],
        "layers": layers,
        "arenas": arenas(plan),
        "buffers": buffers(plan),
    }


def report_json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1) + "\n"


def _regions(plan: Plan) -> list[dict[str, Any]]:
    """What lies in each memory region; empty unless regions were given."""
    used = [
        {"name": a.region.name, "kind": a.region.kind, "bytes": a.size, "size": a.region.size}
        for a in plan.arenas
        if a.region.name and a is not plan.state_arena
    ]
    if used and plan.state_size:
        used[0]["state_bytes"] = plan.state_size
    for region in plan.regions:
        if region.kind == "weights":
            size = sum(c.nbytes for c in plan.constants if c.section == region.section)
            used.append(
                {"name": region.name, "kind": region.kind, "bytes": size, "size": region.size}
            )
    return used


def _interface(plan: Plan, index: int) -> dict[str, Any]:
    tensor = plan.graph.tensors[index]
    entry: dict[str, Any] = {
        "name": tensor.name,
        "dtype": tensor.dtype.value,
        "shape": list(tensor.shape),
        "dim_order": list(tensor.dim_order),
        "bytes": tensor.nbytes,
        "offset": plan.offset(index),
    }
    if tensor.quant is not None:
        entry |= {"scale": tensor.quant.scale, "zero_point": tensor.quant.zero_point}
    return entry


def _state(plan: Plan, state: State) -> dict[str, Any]:
    entry = _interface(plan, state.before)
    return entry | {"name": state.name, "offset": entry["offset"] - plan.arenas[-1].base}


def _layer(
    plan: Plan,
    number: int,
    step: Step,
    kind: str,
    macs: int,
    sizes: Mapping[str, int],
    held: Sequence[Buffer],
) -> dict[str, Any]:
    """A layer of the report.

    Args:
        sizes: of the constants.
        held: the buffers that live in its step, by their offsets.
    """
    op, graph = step.op, plan.graph
    scratch = plan.buffers[plan.scratch_of[number]].nbytes if number in plan.scratch_of else 0
    live = _live_bytes(held)
    return {
        "index": number,
        "operator": op.kind,
        "layer": op.layer.path,
        "source": op.layer.source,
        "precision": kind,
        "largest_sums": [largest_int16_sum(graph, one) for one in step.ops],
        "kernels": [call.kernel.symbol for call in step.calls],
        "library": " ".join(_libraries(step.calls)),
        "bands_with": [{"operator": o.kind, "layer": o.layer.path} for o in step.fused],
        "joined": _joined(plan, op),
        "moved_bytes": sum(_moved(call) for call in step.calls),
        "inputs": [tensor_text(graph.tensors[i]) for i in step.inputs if plan.has_place(i)],
        "outputs": [tensor_text(graph.tensors[i]) for i in op.outputs],
        "macs": macs,
        "constants_bytes": sum(sizes[name] for name in set().union(*map(_names, step.calls))),
        "scratch_bytes": scratch,
        "live_bytes": live,
        "overlap_bytes": sum(b.nbytes for b in held) - live,
    }


def _joined(plan: Plan, op: Op) -> list[bool]:
    """Of each operand of a concatenation, whether it is computed where it belongs and not copied."""
    if not isinstance(op.attrs, ops.Concat):
        return []
    parts = [plan.parts.get(index) for index in op.inputs]
    return [part is not None and part.result == op.outputs[0] for part in parts]


def _moved(call: Call) -> int:
    """Bytes of rows that a band keeps for the next one, in all turns."""
    count = dict(call.fields)["count"] if call.kernel.op == "move" else 0
    assert isinstance(count, int)
    return call.turns * count


def _live_bytes(buffers: Iterable[Buffer]) -> int:
    """Bytes of the arena that some buffers, by their offsets, take; those that they share once."""
    total, end = 0, 0
    for buffer in buffers:
        stop = buffer.offset + buffer.nbytes
        total += max(0, stop - max(end, buffer.offset))
        end = max(end, stop)
    return total


def _libraries(calls: Iterable[Call]) -> list[str]:
    """The libraries whose kernels these are; none for an operator that needs no call."""
    return sorted({call.kernel.library for call in calls})


def _names(call: Call) -> set[str]:
    """The constants one call reads (an array that two calls share counts for both)."""
    named = {arg.name for arg in call.args if isinstance(arg, ConstantArg)}
    return named | {value for _, value in call.fields if isinstance(value, str)}
