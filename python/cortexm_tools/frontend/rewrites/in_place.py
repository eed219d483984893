# SPDX-License-Identifier: Apache-2.0
"""Operators that write to their operand, as those that give another tensor.

The quantizer knows few of the former: ``y += z``, but neither ``y += 1`` nor ``y.neg_()``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name, schema_of, writes
from .unary import ELEMENTWISE

_aten = torch.ops.aten

_FILLS = tuple(
    f"aten::{name}"
    for name in "masked_fill scatter scatter_add scatter_reduce index_add index_reduce".split()
)
"""Operators that keep the type of what they write to, whatever else they take."""

_SILENT = frozenset(f"aten::{n}" for n in ("type_as", "atleast_1d", "atleast_2d", "atleast_3d"))
"""Operators that may give their operand, though their schemas do not say so."""


def outside_place(module: GraphModule) -> None:
    """Let element-wise operators that write to a tensor of the graph give another one.

    What reads it afterwards reads that one. Left as they are: writes to inputs, views, and what has views.
    """
    order = {node: number for number, node in enumerate(module.graph.nodes)}
    for node in module.graph.nodes:
        target = _giving(node)
        written: Any = node.args[0] if node.args else None
        if target is None or not _is_new(written):
            continue
        if not all(_is_new(user) for user in written.users if order[user] < order[node]):
            continue
        node.target = target
        for user in list(written.users):
            if order[user] > order[node]:
                user.replace_input_with(written, node)


def _giving(node: Node) -> Any:
    """The operator that gives what `node` writes; None if there is none."""
    name = operator_name(node).removesuffix("_")
    if not writes(node) or name not in (*ELEMENTWISE, *_FILLS):
        return None
    dtype = node.meta["val"].dtype
    if name not in _FILLS and any(x.meta["val"].dtype != dtype for x in node.all_input_nodes):
        return None
    packet = getattr(_aten, name.removeprefix("aten::"))
    every = [getattr(packet, overload) for overload in packet.overloads()]
    wanted = _types(node.target)
    return next((each for each in every if _types(each) == wanted), None)


def _types(operator: Any) -> list[str]:
    """Of the arguments: `pow_.Scalar` has those of `pow.Tensor_Scalar`."""
    return [str(argument.type) for argument in operator._schema.arguments]


def _is_new(node: Any) -> bool:
    """Whether it gives one tensor that shares nothing with its operands."""
    schema = schema_of(node)
    if schema is None or operator_name(node) in _SILENT:
        return False
    returns = schema.returns
    return len(returns) == 1 and returns[0].alias_info is None and str(returns[0].type) == "Tensor"
