# SPDX-License-Identifier: Apache-2.0
"""Shapes that depend on values, where these values are known while the model is built.

A capture looks at no value, not even of a buffer: of the edges of a graph that are no loops
(`edge_index[:, edge_index[0] != edge_index[1]]`) it does not know how many there are. Here they are
computed, and become constants; what follows has its shape when the model is captured again.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from ..nodes import schema_of, writes
from ..rewrites.builder import Builder

_aten: Any = torch.ops.aten

_OPEN = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output}


def has_known_shapes(program: ExportedProgram) -> GraphModule | None:
    """The program with constants in the place of the calls whose results' shapes depend on values that are
    known; None if it has none."""
    if not any(_is_open(node) for node in program.graph.nodes):
        return None
    module = program.module(check_guards=False)
    assert isinstance(module, GraphModule)
    with torch.no_grad():
        found = _found(module)
    for node, value in found.items():
        _replace(module, node, value)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module if found else None


def _is_open(node: Node) -> bool:
    """Whether it gives a number, or a shape, that depends on its operand's values."""
    if _OPEN.isdisjoint(getattr(node.target, "tags", ())):
        return False
    values = node.meta.get("val")
    for value in values if isinstance(values, (tuple, list)) else [values]:
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            return True
        if isinstance(value, torch.Tensor) and any(not isinstance(n, int) for n in value.shape):
            return True
    return False


def _found(module: GraphModule) -> dict[Node, Any]:
    """What those calls give that are computed from constants alone."""
    known: dict[Node, Any] = {}
    found: dict[Node, Any] = {}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            value = Builder.value_in(module, node)
            if value is not None:
                known[node] = value.clone()  # a model may write to it
        elif node.op == "call_function":
            if _can_be_known(node) and all(each in known for each in node.all_input_nodes):
                args, kwargs = torch.fx.map_arg((node.args, node.kwargs), known.__getitem__)
                known[node] = node.target(*args, **kwargs)
                if _is_open(node):
                    found[node] = copy.deepcopy(known[node])
            elif writes(node):
                _forget(known, node.args[0])
    return found


def _can_be_known(node: Node) -> bool:
    is_random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
    is_plain = schema_of(node) is not None or getattr(node.target, "__module__", "") == "_operator"
    return is_plain and not is_random


def _forget(known: dict[Node, Any], written: Any) -> None:
    """Take out what shares memory with what is written."""
    value = known.get(written)
    if not isinstance(value, torch.Tensor):
        return
    memory = value.untyped_storage().data_ptr()
    for node, other in list(known.items()):
        if isinstance(other, torch.Tensor) and other.untyped_storage().data_ptr() == memory:
            del known[node]


def _replace(module: GraphModule, node: Node, value: Any) -> None:
    if isinstance(value, (tuple, list)):
        for user in list(node.users):
            if user.target is operator.getitem:
                _replace(module, user, value[user.args[1]])  # type: ignore[index]
    elif isinstance(value, torch.Tensor):
        build = Builder(module, node)
        copied = build(_aten.clone.default, build.constant(value))  # what follows may write to it
        node.replace_all_uses_with(copied)
    else:
        for user in list(node.users):
            args, kwargs = torch.fx.map_arg(
                (user.args, user.kwargs), lambda n: value if n is node else n
            )
            user.args, user.kwargs = args, kwargs
