# SPDX-License-Identifier: Apache-2.0
"""Removes dequantize-quantize pairs between codes, and makes tables of what maps int8 to int8.

Same scale and zero point: a code q comes back as round((q - z) * s * (1/s)) + z. The two float32
roundings change the product by less than |q - z| * 2**-22, which is far below one half for the at
most 2**16 codes of an int8 or int16, so the result is q again, and the quantize range holds every
code of its type, or every code that what made the operand gives.

Other parameters: the pair, or a requantization of the integers themselves, maps each of the 256 codes of
an int8 to a fixed code. The table is computed here with the very operators it replaces, and becomes an
activation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ir import Attrs, DType, Graph, Op, Tensor, ops
from ..ir.edit import GraphBuilder, producers
from ..ir.interpreter import run_graph


def fuse_requantize(graph: Graph) -> Graph:
    made_by = producers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
        if isinstance(op.attrs, ops.Requantize) and _between_int8(
            graph, op.inputs[0], op.outputs[0]
        ):
            _add_table(build, op.inputs[0], op.outputs[0], (op.attrs,), op)
            continue
        source = made_by.get(op.inputs[0])
        if (
            not isinstance(op.attrs, ops.Quantize)
            or source is None
            or not isinstance(source.attrs, ops.Dequantize)
        ):
            build.add(op)
            continue
        code_in, code_out = source.inputs[0], op.outputs[0]
        before, after = graph.tensors[code_in], graph.tensors[code_out]
        low = _least_code(graph, made_by, code_in)
        if (
            _is_identity(source.attrs, op.attrs, before, after, low)
            and code_out not in graph.outputs
        ):
            build.alias(code_out, code_in)
        elif _between_int8(graph, code_in, code_out):
            _add_table(build, code_in, code_out, (source.attrs, op.attrs), op)
        else:
            build.add(op)
    return build.finish()


def _is_identity(
    dequantize: ops.Dequantize, quantize: ops.Quantize, before: Tensor, after: Tensor, low: int
) -> bool:
    high = before.dtype.limits[1]
    return (
        before.dtype is after.dtype
        and dequantize.scale == quantize.scale
        and dequantize.zero_point == quantize.zero_point
        and quantize.qmin <= low
        and quantize.qmax >= high
    )


def _least_code(graph: Graph, made_by: dict[int, Op], index: int) -> int:
    """No code of a tensor is less."""
    least = graph.tensors[index].dtype.limits[0]
    while (op := made_by.get(index)) is not None and isinstance(op.attrs, ops.View | ops.Transpose):
        index = op.inputs[0]
    return max(least, getattr(op.attrs, "act_min", least)) if op is not None else least


def _between_int8(graph: Graph, before: int, after: int) -> bool:
    return graph.tensors[before].dtype is DType.S8 and graph.tensors[after].dtype is DType.S8


def _add_table(
    build: GraphBuilder, before: int, after: int, steps: tuple[Attrs, ...], like: Op
) -> None:
    """`after` = steps(`before`), of int8 codes both, as a look-up."""
    name = f"{build.tensors[after].name}_table"
    made = [Tensor("codes", DType.S8, (256,), (0,))]
    made += [Tensor("real", DType.F32, (256,), (0,)) for _ in steps[1:]]
    made += [Tensor(name, DType.S8, (256,), (0,))]
    each = tuple(Op(attrs, (index,), (index + 1,)) for index, attrs in enumerate(steps))
    every = Graph("every code", tuple(made), each, (0,), (len(steps),))
    (data,) = run_graph(every, [np.arange(-128, 128).astype(np.int8)])
    table = build.add_tensor(replace(made[-1], data=data))
    build.add(Op(ops.Activation(), (before, table), (after,), like.layer))
