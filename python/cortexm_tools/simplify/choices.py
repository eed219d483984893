# SPDX-License-Identifier: Apache-2.0
"""Quantizes what is chosen from before it is chosen: embeddings and masks as codes.

Indexing a tensor, and taking elements of one tensor or another by a condition, gives elements of the
operands unchanged, and quantization treats each element alone: quantize(choose(a, b)) is
choose(quantize(a), quantize(b)), for the same indices and conditions. It is done where each operand is a
constant, whose codes are known then (a quarter of the table of an embedding), or dequantized from codes:
what is left of that is a table, or nothing where scale and zero point are the same (a score that is masked
with minus infinity becomes the lowest code).
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Graph, Op, QuantParams, ops
from ..ir.edit import GraphBuilder, producers


def quantize_choices(graph: Graph) -> Graph:
    made_by = producers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        source = made_by.get(op.inputs[0])
        operands = _chosen_from(source)
        if (
            not isinstance(op.attrs, ops.Quantize)
            or source is None
            or not operands
            or not all(_has_codes(graph, made_by, source.inputs[i]) for i in operands)
        ):
            build.add(op)
            continue
        out = graph.tensors[op.outputs[0]]
        inputs = list(source.inputs)
        for i in operands:
            given = graph.tensors[inputs[i]]
            code = replace(
                given,
                name=f"{given.name}_code",
                dtype=out.dtype,
                quant=QuantParams(op.attrs.scale, op.attrs.zero_point),
                data=None,
            )
            index = build.add_tensor(code)
            build.add(Op(op.attrs, (inputs[i],), (index,), op.layer))
            inputs[i] = index
        build.add(replace(source, inputs=tuple(inputs), outputs=op.outputs))
    return build.finish()


def _chosen_from(op: Op | None) -> tuple[int, ...]:
    """Which operands of `op` its result has elements of, if it only chooses."""
    if op is not None and isinstance(op.attrs, ops.Index | ops.Gather):
        return (0,)
    return (1, 2) if op is not None and isinstance(op.attrs, ops.Where) else ()


def _has_codes(graph: Graph, made_by: dict[int, Op], index: int) -> bool:
    maker = made_by.get(index)
    if maker is not None:
        return isinstance(maker.attrs, ops.Dequantize)
    return graph.tensors[index].is_constant
