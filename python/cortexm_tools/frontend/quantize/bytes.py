# SPDX-License-Identifier: Apache-2.0
"""The codes of bytes: what a camera gives is brought to codes at once.

`(x.float() / 255 - mean) / std` of bytes x has 256 values in each channel. Its operators stay in float,
and only the last one's result is quantized: right of the .pte the whole is a table of codes for each
channel (simplify/bytes.py), which no step in between has rounded.

If all channels have one value a * byte + c, whose zero point -c / a is a byte (as with `/ 255`, or
`- 128`), the codes are the bytes less 128, whatever calibration has seen: the scale is a, and nothing
is lost. If -c / a lies between two bytes (as of [-1, 1]), the scale is a * 255 / 254, so that codes
differ from bytes by all fractions of a step in turn, and not by half a step everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from ..rewrites.builder import Builder
from ..rewrites.bytes import AFFINE, MOVING, Chains, dtype_of, name_of, shape_in

# A zero point so near to an integer is one.
_WHOLE = 1e-3


def annotate_bytes(
    model: GraphModule, chains: Chains, widths: dict[Node, int], spec_of: Callable[[int], Any]
) -> None:
    """Say which codes the ends of chains give.

    Args:
        widths: bits of the codes of every node.
        spec_of: a type of codes by its bits.
    """
    from executorch.backends.cortex_m.quantizer.quantizer import mark_node_as_annotated

    for node in model.graph.nodes:
        if node in chains.ends and widths[node]:
            fixed = _fixed_spec(model, node, chains) if widths[node] == 8 else None
            mark_node_as_annotated(node, {}, fixed or spec_of(widths[node]), False)


def read_as_bytes(model: GraphModule, chains: Chains) -> None:
    """Let what reads the codes of a chain's end take them as they are, unless it shares its codes with
    others."""
    from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec

    for end in model.graph.nodes:
        if end not in chains.ends:
            continue
        for user in end.users:
            annotation = user.meta.get("quantization_annotation")
            if annotation is None or end not in annotation.input_qspec_map:
                continue
            if not isinstance(annotation.input_qspec_map[end], SharedQuantizationSpec):
                annotation.input_qspec_map[end] = SharedQuantizationSpec(end)


def _fixed_spec(model: GraphModule, end: Node, chains: Chains) -> Any:
    """The codes of a chain that gives a * byte + c; None for another."""
    from torchao.quantization.pt2e.quantizer import FixedQParamsQuantizationSpec

    line = _line(model, end, chains)
    if line is None:
        return None
    scale, zero_point = line
    return FixedQParamsQuantizationSpec(
        dtype=torch.int8, scale=scale, zero_point=zero_point, quant_min=-128, quant_max=127,
        qscheme=torch.per_tensor_affine,
    )  # fmt: skip


def _line(model: GraphModule, end: Node, chains: Chains) -> tuple[float, int] | None:
    """Scale and zero point of a chain of one line for all channels."""
    origin = end
    while origin.op != "placeholder":
        if name_of(origin) not in AFFINE | MOVING:
            return None
        (origin,) = (each for each in origin.all_input_nodes if _follows(each, chains))
    lows, highs = (_value(model, end, origin, byte) for byte in (0, 255))
    low, high = float(lows.flatten()[0]), float(highs.flatten()[0])
    if not (bool((lows == low).all()) and bool((highs == high).all())) or high <= low:
        return None
    step = (high - low) / 255
    zero = -low / step
    if abs(zero - round(zero)) > _WHOLE:
        step = (high - low) / 254
        zero = -low / step
    zero_point = round(zero) - 128
    return (step, zero_point) if -128 <= zero_point <= 127 else None


def _follows(node: Node, chains: Chains) -> bool:
    return node in chains.inside | chains.ends or (
        node.op == "placeholder" and dtype_of(node) is torch.uint8
    )


def _value(model: GraphModule, node: Node, origin: Node, byte: int) -> torch.Tensor:
    """What `node`, which depends on `origin` alone, is for bytes that are all `byte`."""
    if node is origin:
        return torch.full(shape_in(node), byte, dtype=torch.uint8)
    if node.op == "get_attr":
        constant = Builder.value_in(model, node)
        assert constant is not None
        return constant
    target: Any = node.target
    args, kwargs = map_arg(
        (node.args, dict(node.kwargs)), lambda each: _value(model, each, origin, byte)
    )
    result: torch.Tensor = target(*args, **kwargs)
    return result
