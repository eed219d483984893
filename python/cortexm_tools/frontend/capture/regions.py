# SPDX-License-Identifier: Apache-2.0
"""Regions of a model that compute with another setting of PyTorch, as part of its graph.

What stands below ``torch.enable_grad()`` or ``torch.autocast(…, enabled=False)`` torch.export keeps as
a graph of its own, in which no rewrite would look. Neither changes a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import getitem
from typing import Any

from torch._ops import HigherOrderOperator
from torch.fx import GraphModule, Node

from ..rewrites.builder import Builder


def inline_regions(module: GraphModule) -> None:
    """Put the operators of such regions in the place of their calls, in place."""
    for node in list(module.graph.nodes):
        region = _region(module, node)
        if region is None:
            continue
        inner, inputs = region
        inline_regions(inner)
        values: dict[Node, Any] = dict(
            zip(inner.graph.find_nodes(op="placeholder"), inputs, strict=True)
        )
        for each in inner.graph.find_nodes(op="get_attr"):
            value = Builder.value_in(inner, each)
            if value is not None:
                values[each] = Builder(module, node).constant(value)
                values[each].meta = dict(each.meta)
        with module.graph.inserting_before(node):
            results: Any = module.graph.graph_copy(inner.graph, values)
        for user in [n for n in node.users if n.target is getitem]:
            user.replace_all_uses_with(results[user.args[1]])
            module.graph.erase_node(user)
        module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.recompile()


def _region(module: GraphModule, node: Node) -> tuple[GraphModule, Sequence[Any]] | None:
    """The graph that `node` calls and what it gives it; None if it is another call."""
    if not isinstance(node.target, HigherOrderOperator):
        return None
    name, args = str(node.target), node.args
    if name == "wrap_with_set_grad_enabled":
        called, inputs = args[1], args[2:]
    elif name == "wrap_with_autocast" and args[2] is False:
        called, inputs = args[4], args[5:]
    else:
        return None
    assert isinstance(called, Node)
    inner = getattr(module, str(called.target))
    assert isinstance(inner, GraphModule)
    return inner, inputs
