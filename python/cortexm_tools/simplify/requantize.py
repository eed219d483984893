# SPDX-License-Identifier: Apache-2.0
"""Removes dequantize-quantize pairs between int8 values.

Same scale and zero point: a code q comes back as round((q - z) * s * (1/s)) + z. The two float32
roundings change the product by less than |q - z| * 2**-22, which is far below one half for the at
most 2**16 codes of an int8 or int16, so the result is q again, and the quantize range holds every
code of its type.

Other parameters: the pair maps each of the 256 codes of an int8 to a fixed code. The table is computed
here with the very operators it replaces, and becomes an activation.
"""

from __future__ import annotations

import numpy as np

from ..ir import DType, Graph, Op, Tensor, ops
from ..ir.edit import GraphBuilder, producers
from ..ir.interpreter import run_graph


def fuse_requantize(graph: Graph) -> Graph:
    made_by = producers(graph)
    build = GraphBuilder(graph)
    for op in graph.ops:
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
        if _is_identity(source.attrs, op.attrs, before, after) and code_out not in graph.outputs:
            build.alias(code_out, code_in)
        elif before.dtype is DType.S8 and after.dtype is DType.S8:
            table = build.add_tensor(_table(source.attrs, op.attrs, f"{after.name}_table"))
            build.add(Op(ops.Activation(), (code_in, table), (code_out,), op.layer))
        else:
            build.add(op)
    return build.finish()


def _is_identity(
    dequantize: ops.Dequantize, quantize: ops.Quantize, before: Tensor, after: Tensor
) -> bool:
    low, high = before.dtype.limits
    return (
        before.dtype is after.dtype
        and dequantize.scale == quantize.scale
        and dequantize.zero_point == quantize.zero_point
        and quantize.qmin <= low
        and quantize.qmax >= high
    )


def _table(dequantize: ops.Dequantize, quantize: ops.Quantize, name: str) -> Tensor:
    codes = Tensor("codes", DType.S8, (256,), (0,))
    real = Tensor("real", DType.F32, (256,), (0,))
    result = Tensor("result", DType.S8, (256,), (0,))
    pair = Graph(
        "pair",
        (codes, real, result),
        (Op(dequantize, (0,), (1,)), Op(quantize, (1,), (2,))),
        (0,),
        (2,),
    )
    (data,) = run_graph(pair, [np.arange(-128, 128).astype(np.int8)])
    return Tensor(name, DType.S8, (256,), (0,), data=data)
