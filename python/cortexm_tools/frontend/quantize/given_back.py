# SPDX-License-Identifier: Apache-2.0
"""Outputs that are inputs: they are given as they came, not as their codes say them."""

from __future__ import annotations

from typing import Any

from torch.fx import GraphModule

from ..nodes import operator_name

_PAIR = ("quantized_decomposed::dequantize_per_tensor", "quantized_decomposed::quantize_per_tensor")


def give_inputs_back(converted: GraphModule, states: int) -> None:
    """Let outputs that only were quantized and dequantized be the inputs, in place.

    Args:
        converted: of convert_pt2e.
        states: how many of the last inputs are states, whose new values are the first outputs.
    """
    inputs = converted.graph.find_nodes(op="placeholder")
    given = set(inputs[: len(inputs) - states])
    output = converted.graph.output_node()
    results: Any = output.args[0]
    behind = [result if i < states else _source(result) for i, result in enumerate(results)]
    output.args = (
        type(results)(
            source if source in given else result
            for source, result in zip(behind, results, strict=True)
        ),
    )
    converted.graph.eliminate_dead_code()
    converted.recompile()


def _source(node: Any) -> Any:
    """What `node` gives but for its rounding to codes."""
    while operator_name(node) in _PAIR:
        node = node.args[0]
    return node
