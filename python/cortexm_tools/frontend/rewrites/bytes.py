# SPDX-License-Identifier: Apache-2.0
"""What is computed from bytes element by element: a camera's, brought to the scale of the first layer."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder
from .unary import STAND_IN

AFFINE = frozenset(
    f"aten::{name}" for name in "to _to_copy type_as float div sub add mul rsub neg".split()
)
_ELEMENTWISE = AFFINE | {f"aten::{name}" for name in ("clamp", "hardtanh", "relu", "abs")}
MOVING = frozenset(
    f"aten::{name}"
    for name in "permute transpose contiguous clone view reshape unsqueeze squeeze slice narrow "
    "flatten alias detach movedim swapaxes".split()
)
_CHECKS = frozenset({"aten::_assert_tensor_metadata"})

# As many channels may have tables of their own, or more if these are smaller than the input.
_FEW_CHANNELS = 4


@dataclass(frozen=True)
class Chains:
    """What is computed from bytes element by element.

    Attributes:
        inside: calls whose results stay in float.
        ends: calls whose results become codes.
    """

    inside: frozenset[Node] = frozenset()
    ends: frozenset[Node] = frozenset()


NO_CHAINS = Chains()


def byte_chains(model: GraphModule) -> Chains:
    """The chains of `model`, a captured graph."""
    found, computing, constants = set[Node](), set[Node](), set[Node]()
    for node in model.graph.nodes:
        if node.op == "get_attr":
            constants.add(node)
        elif node.op == "placeholder":
            if dtype_of(node) is torch.uint8:
                found.add(node)
        elif node.op == "call_function":
            name, operands = name_of(node), node.all_input_nodes
            if operands and constants.issuperset(operands):
                constants.add(node)
            elif not any(each in found for each in operands):
                continue
            elif name in MOVING and len(operands) == 1:
                found.add(node)
            elif _takes(model, node, found, constants):
                found.add(node)
                computing.add(node)
    ends = {node for node in computing if _is_read(node, found, computing)}
    inside = {node for node in found if node.op == "call_function"} - ends
    return Chains(frozenset(inside), frozenset(ends))


def _takes(model: GraphModule, node: Node, found: set[Node], constants: set[Node]) -> bool:
    """Whether a call computes a float from every byte, and constants of its channel."""
    if not _steps(node) <= _ELEMENTWISE or dtype_of(node) is not torch.float32:
        return False
    of_bytes = [each for each in node.all_input_nodes if each in found]
    if len(of_bytes) > 1 or shape_in(of_bytes[0]) != shape_in(node):
        return False
    others = [each for each in node.all_input_nodes if each is not of_bytes[0]]
    return constants.issuperset(others) and all(
        _varies_little(model, each, node) for each in others
    )


def _varies_little(model: GraphModule, constant: Node, like: Node) -> bool:
    """Whether a constant is one number for each index of one dimension at most, of which there are few."""
    while constant.op != "get_attr":
        if len(constant.all_input_nodes) != 1:
            return False
        (constant,) = constant.all_input_nodes
    value = Builder.value_in(model, constant)
    extents = [] if value is None else [extent for extent in value.shape if extent > 1]
    enough = math.prod(shape_in(like))
    return not extents or (
        len(extents) == 1 and (extents[0] <= _FEW_CHANNELS or 256 * extents[0] <= enough)
    )


def _is_read(node: Node, found: set[Node], computing: set[Node]) -> bool:
    """Whether something behind the chain reads a result, perhaps where it was moved to."""
    return any(
        user.op == "output"
        or user not in found
        and name_of(user) not in _CHECKS
        or user in found
        and user not in computing
        and _is_read(user, found, computing)
        for user in node.users
    )


def name_of(node: Node) -> str:
    """The operator's name; that of one in place is the same."""
    return operator_name(node).rstrip("_")


def _steps(node: Node) -> set[str]:
    """The operators that a call stands for."""
    if node.target is not STAND_IN:
        return {name_of(node)}
    return {step[0].rpartition(".")[0].replace(".", "::") for step in json.loads(str(node.args[1]))}


def _meta(node: Node) -> torch.Tensor | None:
    value = node.meta.get("val")
    return value if isinstance(value, torch.Tensor) else None


def dtype_of(node: Node) -> torch.dtype | None:
    value = _meta(node)
    return None if value is None else value.dtype


def shape_in(node: Node) -> tuple[int, ...]:
    value = _meta(node)
    return () if value is None else tuple(int(extent) for extent in value.shape)
