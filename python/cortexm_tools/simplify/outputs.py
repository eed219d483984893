# SPDX-License-Identifier: Apache-2.0
"""Gives every output a tensor of its own, computed by an operator.

A program may return an input, a constant, or one value twice. A clone has its operand's value, so
returning the clone instead is exact.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph, Op, ops
from ..ir.edit import GraphBuilder, producers


def own_outputs(graph: Graph) -> Graph:
    made_by = producers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        build.add(op)
    outputs: list[int] = []
    for index in graph.outputs:
        if index in made_by and index not in outputs:
            outputs.append(index)
            continue
        tensor = graph.tensors[index]
        copy = build.add_tensor(replace(tensor, name=f"{tensor.name}_returned", data=None))
        build.add(Op(ops.Clone(), (index,), (copy,)))
        outputs.append(copy)
    return build.finish(outputs)
