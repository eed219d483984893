# SPDX-License-Identifier: Apache-2.0
"""Changes of scale that cost nothing: numbers that a product of matrices is multiplied by, and shares.

`softmax(q @ k * c)`: with codes of the scale s for the product times c, those of the product can have the
scale s / c. So both are the same codes, and the requantization of the sums does the multiplication. What
reads a softmax takes its codes as they are, which have one fixed scale.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container
from typing import Any

import torch
from torch.fx import GraphModule

from ..nodes import operator_name
from ..rewrites.unary import STAND_IN

_aten = torch.ops.aten

_SHARES = (_aten.softmax.int, _aten._softmax.default)

_SHAPES = ("view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "flatten", "unflatten")

_REQUANTIZING = ("matmul", "bmm", "mm", "linear", "conv2d", "add", "mul")


def read_shares_as_they_are(model: GraphModule, moving: Container[Any]) -> None:
    """Give what reads a softmax, or what only moves its shares, the softmax's codes.

    Args:
        model: is annotated.
        moving: operators that change no value.
    """
    from torchao.quantization.pt2e.quantizer import SharedQuantizationSpec

    for node in model.graph.nodes:
        given = node.meta.get("quantization_annotation") if node.target in _SHARES else None
        spec = getattr(given, "output_qspec", None)
        sources = [] if spec is None else [node]
        for source in sources:
            for reader in source.users:
                annotation: Any = reader.meta.get("quantization_annotation")
                read = annotation.input_qspec_map.get(source) if annotation is not None else None
                if reader.target in moving:
                    sources.append(reader)
                elif getattr(read, "dtype", None) is getattr(spec, "dtype", None) is not None:
                    annotation.input_qspec_map[source] = SharedQuantizationSpec(source)


def take_factors_in(model: GraphModule) -> None:
    """Give sums that are multiplied by a positive number the codes of the product, in place.

    Args:
        model: of convert_pt2e.
    """
    for node in model.graph.nodes:
        if node.target is not STAND_IN:
            continue
        before: Any = node.args[0]
        (*after,) = node.users
        if not _is(before, "dequantize") or len(after) != 1 or not _is(after[0], "quantize"):
            continue
        pairs = _pairs_of(before)
        taken, given = before.args[1:], after[0].args[1:]
        if not pairs:
            continue
        name = _name(pairs[-1][0].args[0])
        factor = constant_factor(str(node.args[1]))
        if name not in _REQUANTIZING or factor is None or taken[4] is not given[4]:
            continue
        codes = (given[0] / factor, *given[1:])
        for quantize, dequantize in pairs:
            quantize.args = (quantize.args[0], *codes)
            dequantize.args = (quantize, *codes)
    model.recompile()


def _pairs_of(dequantize: Any) -> list[tuple[Any, Any]]:
    """The pairs of quantize and dequantize that what is computed goes through, the last one first: with
    the same codes in all of them, and nothing but another shape between. None if anything else reads
    these."""
    pairs: list[tuple[Any, Any]] = []
    while _is(dequantize, "dequantize") and (
        not pairs or dequantize.args[1:] == pairs[0][1].args[1:]
    ):
        quantize = dequantize.args[0]
        if not _is(quantize, "quantize") or len(quantize.users) != 1 or len(dequantize.users) != 1:
            return []
        pairs.append((quantize, dequantize))
        if _name(quantize.args[0]) not in _SHAPES:
            break
        if len(quantize.args[0].users) != 1:
            return []
        dequantize = quantize.args[0].args[0]
    return pairs


def _name(node: object) -> str:
    return operator_name(node).removeprefix("aten::")


def _is(node: object, kind: str) -> bool:
    return operator_name(node) == f"quantized_decomposed::{kind}_per_tensor"


def constant_factor(steps: str) -> float | None:
    """The positive number by which the steps of a stand-in multiply; None if they do anything else."""
    factor = 1.0
    for before, (name, args, kwargs) in enumerate(json.loads(steps), -1):
        numbers = [each for each in args if not isinstance(each, dict)]
        is_chain = [each for each in args if isinstance(each, dict)] == [{"v": before}]
        if not is_chain or kwargs or len(numbers) != 1 or isinstance(numbers[0], bool):
            return None
        if name in ("aten.mul.Tensor", "aten.mul.Scalar"):
            factor *= numbers[0]
        elif name in ("aten.div.Tensor", "aten.div.Scalar") and args[1] and args[1] == numbers[0]:
            factor /= numbers[0]
        else:
            return None
    return factor if 0 < factor < math.inf else None
