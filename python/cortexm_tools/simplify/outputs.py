# SPDX-License-Identifier: Apache-2.0
"""Gives every output and every new state a tensor of its own, computed by an operator.

A program may return an input, a constant, or one value twice, and keep one of them as its state. A clone
has its operand's value, so returning or keeping the clone instead is exact. A state also has the same
layout from call to call.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph, Layer, Op, Tensor, ops, same_layout
from ..ir.edit import GraphBuilder, producers


def own_outputs(graph: Graph) -> Graph:
    made_by = producers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        build.add(op)
    taken: set[int] = set()

    def own(index: int, like: Tensor, suffix: str) -> int:
        tensor = graph.tensors[index]
        fits = same_layout(tensor.shape, tensor.dim_order, like.dim_order)
        if index in made_by and index not in taken and fits:
            taken.add(index)
            return index
        copy = replace(tensor, name=f"{tensor.name}_{suffix}", dim_order=like.dim_order, data=None)
        result = build.add_tensor(copy)
        layer = made_by[index].layer if index in made_by else Layer()
        build.add(Op(ops.Clone(), (index,), (result,), layer))
        return result

    outputs = [own(index, graph.tensors[index], "returned") for index in graph.outputs]
    states = [
        replace(state, after=own(state.after, graph.tensors[state.before], "kept"))
        for state in graph.states
    ]
    return build.finish(outputs, states=states)
