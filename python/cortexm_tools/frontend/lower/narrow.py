# SPDX-License-Identifier: Apache-2.0
"""Multipliers of 16 bits for layers whose weights have 4.

Where weights take half a byte, a multiplier of four bytes for each channel is much of what a small layer
stores. The dialect's are numbers in Q31; here they become the nearest ones of which the lower 16 bits
are zero, at most 2^-15 of the factor away, which is how those of int16 codes are defined. The program
states them as any others, so whoever runs it computes the same bytes; the plan stores their upper
halves.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Node

from ...ir.wide import narrowed
from ..nodes import operator_name

_LAYERS = tuple(
    f"cortex_m::quantized_{kind}"
    for kind in ("conv2d", "depthwise_conv2d", "transpose_conv2d", "linear")
)


def narrow_multipliers(program: ExportedProgram) -> None:
    """Rounds the multipliers of int8 layers with weights of 4 bits, in place."""
    changed = False
    for node in list(program.graph.nodes):
        if operator_name(node) in _LAYERS:
            changed |= _narrow(program, node)
    if changed:
        program.graph_module.recompile()


def _narrow(program: ExportedProgram, node: Node) -> bool:
    from executorch.backends.transforms.utils import create_constant_placeholder, get_param_tensor

    schema: Any = node.target._schema  # type: ignore[union-attr]
    names = [argument.name for argument in schema.arguments]
    weights: Any = node.args[next(i for i, each in enumerate(names) if each.startswith("weight"))]
    place = names.index("requantize_multipliers")
    codes = get_param_tensor(program, weights)
    if codes is None or not has_four_bits(codes):
        return False
    given: Any = node.args[place]
    if not isinstance(given, Node):
        node.update_arg(place, [narrowed(int(each)) for each in given])
        return True
    multipliers = get_param_tensor(program, given)
    assert multipliers is not None
    rounded = torch.tensor([narrowed(each) for each in multipliers.tolist()], dtype=torch.int32)
    with program.graph.inserting_before(given):
        constant = create_constant_placeholder(
            program, program.graph, f"{node.name}_multipliers", InputKind.PARAMETER, rounded
        )
    node.update_arg(place, constant)
    return True


def has_four_bits(codes: torch.Tensor) -> bool:
    """Whether all weights fit into 4 bits."""
    return codes.numel() > 0 and int(codes.min()) >= -8 and int(codes.max()) <= 7
