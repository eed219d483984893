# SPDX-License-Identifier: Apache-2.0
"""Operands of several types have one before the operator that takes them.

PyTorch converts them within the operator, to the type of its result, or of a comparison to that in which it
compares. Kernels, and rewrites that look for floats, take one type.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node, map_arg

from ..nodes import operator_name
from .builder import Builder
from .unary import ELEMENTWISE

_aten = torch.ops.aten

_CHOICE, _PRODUCTS = "aten::where", ("aten::mul", "aten::mul_")
_COMPARISONS = frozenset(f"aten::{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
_OTHERS = (
    "addcdiv addcmul atan2 cat clamp copysign floor_divide fmax fmin fmod heaviside hypot lerp logaddexp "
    "maximum minimum remainder stack xlogy"
).split()
_PROMOTING = ELEMENTWISE.union(f"aten::{name}" for name in _OTHERS)


def convert_operands(module: GraphModule) -> None:
    """Insert the conversions, in place.

    Of a product truth values stay what they are: a choice. So do complex numbers, whose absolute values are
    real.
    """
    for node in list(module.graph.nodes):
        name = operator_name(node).removesuffix("_")
        common = _common_type(node, name) if name in _PROMOTING else None
        if common is None or common.is_complex:
            continue

        def converted(operand: Node, call: Node = node, to: Any = common) -> Node:
            value = operand.meta.get("val")
            if not isinstance(value, torch.Tensor) or value.dtype is to or value.is_complex():
                return operand
            if value.dtype is torch.bool and operator_name(call) in _PRODUCTS:
                return operand
            made = Builder(module, call)(_aten.to.dtype, operand, to)
            made.meta["val"] = value.to(to)
            return made

        condition = node.args[:1] if name == _CHOICE else ()
        node.args = (*condition, *map_arg(node.args[len(condition) :], converted))
        node.kwargs = map_arg(node.kwargs, converted)
    module.recompile()


def _common_type(node: Node, name: str) -> torch.dtype | None:
    """The type that a call computes in; None where that is not known."""
    if name in _COMPARISONS:
        operands: Any = map_arg(node.args[:2], lambda operand: operand.meta.get("val"))
        left, right = operands
        return None if left is None or right is None else torch.result_type(left, right)
    value = node.meta.get("val")
    return value.dtype if isinstance(value, torch.Tensor) else None
