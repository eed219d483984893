# SPDX-License-Identifier: Apache-2.0
"""Reading conversions."""

from __future__ import annotations

from cortexm_tools.ir.types import QuantParams

from tests.pte.stored import graph_of


def test_quantization_is_noted() -> None:
    graph = graph_of("activation-linear_relu6")
    x, out = graph.tensors[graph.ops[0].outputs[0]], graph.tensors[graph.ops[2].inputs[0]]
    assert x.quant == QuantParams(0.04703584685921669, -85)
    assert out.quant == QuantParams(0.023517923429608345, -128)
