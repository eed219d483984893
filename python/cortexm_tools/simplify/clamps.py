# SPDX-License-Identifier: Apache-2.0
"""Takes a table that limits codes into the operator that computes them.

An operator with limits gives min(max(r, a), b), with its result r before them and a = act_min, b = act_max.
A table t of its codes that gives min(max(q, t[a]), t[b]) for every code q from a to b gives, applied to
that, min(max(r, t[a]), t[b]): t[a] and t[b] are codes of its own result, from a to b, so the operator's
limits say nothing that these do not. A ReLU between codes of one scale is such a table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ir import DType, Graph, Op, ops
from ..ir.edit import GraphBuilder, consumers, producers
from ..ir.elementwise import VALUES


def join_clamps(graph: Graph) -> Graph:
    made_by, read_by = producers(graph), consumers(graph)
    build = GraphBuilder(graph)
    joined: dict[
        int, Op
    ] = {}  # by the operator's result: itself with the limits and result of the table
    for op in graph.ops:
        source = made_by.get(op.inputs[0])
        limits = None if source is None else _limits(graph, op, source)
        if source is None or limits is None or len(read_by[op.inputs[0]]) > 1:
            continue
        low, high = limits
        attrs = replace(source.attrs, act_min=low, act_max=high)  # type: ignore[call-arg]
        joined[op.inputs[0]] = replace(source, attrs=attrs, outputs=op.outputs)
    done = {op.outputs[0] for op in joined.values()}
    for op in graph.ops:
        if op.outputs[0] not in done:
            build.add(joined.get(op.outputs[0], op))
    return build.finish()


def _limits(graph: Graph, op: Op, source: Op) -> tuple[int, int] | None:
    """The limits that `op`, if it is a table, sets to what `source`, the operator before it, gives."""
    between, out = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    low, high = (getattr(source.attrs, name, None) for name in ("act_min", "act_max"))
    if (
        not isinstance(op.attrs, ops.Activation)
        or low is None
        or high is None
        or op.inputs[0] in graph.kept
        or len(source.outputs) > 1
        or any(tensor.dtype is not DType.S8 for tensor in (between, out))
        or (between.shape, between.dim_order) != (out.shape, out.dim_order)
    ):
        return None
    table = graph.tensors[op.inputs[1]].data
    if table is None or table.size != VALUES:
        return None
    codes = np.arange(low, high + 1)
    given = table.ravel().astype(np.int64)[codes + 128]
    limits = int(given[0]), int(given[-1])
    return limits if np.array_equal(given, np.clip(codes, *limits)) else None
