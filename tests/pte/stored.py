# SPDX-License-Identifier: Apache-2.0
"""Stored programs as the readers of operators are given them."""

from __future__ import annotations

from dataclasses import replace

from cortexm_tools.ir import ops
from cortexm_tools.ir.types import Graph
from cortexm_tools.pte import parse_program, read_pte
from cortexm_tools.pte.values import PteProgram

from tests.support.golden import golden_case

# What operators of int8 networks become.
KINDS = {
    "cortex_m::quantize_per_tensor.out": "quantize",
    "cortex_m::dequantize_per_tensor.out": "dequantize",
    "cortex_m::quantized_add.out": "add",
    "cortex_m::quantized_mul.out": "mul",
    "cortex_m::quantized_div.out": "div",
    "cortex_m::quantized_activation.out": "activation",
    "cortex_m::minimum.out": "minimum",
    "cortex_m::maximum.out": "maximum",
    "cortex_m::quantized_linear.out": "linear",
    "cortex_m::softmax.out": "softmax",
    "cortex_m::transpose.out": "transpose",
    "cortex_m::pad.out": "pad",
    "cortex_m::quantized_conv2d.out": "conv2d",
    "cortex_m::quantized_depthwise_conv2d.out": "depthwise_conv2d",
    "cortex_m::quantized_transpose_conv2d.out": "transpose_conv2d",
    "cortex_m::quantized_avg_pool2d.out": "avg_pool2d",
    "cortex_m::quantized_max_pool2d.out": "max_pool2d",
    "cortex_m::quantized_batch_matmul.out": "batch_matmul",
    "aten::squeeze_copy.dims_out": "view",
    "aten::unsqueeze_copy.out": "view",
    "aten::alias_copy.out": "clone",
    "aten::detach_copy.out": "clone",
    "dim_order_ops::_clone_dim_order.out": "clone",
}


def graph_of(name: str, cpu: str = "cortex-m55") -> Graph:
    return read_pte(golden_case(name, cpu).pte, name="test")


def only(graph: Graph, kind: type[ops.Attrs]) -> ops.Attrs:
    (attrs,) = (op.attrs for op in graph.ops if isinstance(op.attrs, kind))
    return attrs


def with_operator(name: str, operator: str) -> PteProgram:
    """The golden program `name` with its second instruction turned into another operator."""
    program = parse_program(golden_case(name).pte)
    instructions = list(program.instructions)
    instructions[1] = replace(instructions[1], operator=operator)
    return replace(program, instructions=tuple(instructions))
