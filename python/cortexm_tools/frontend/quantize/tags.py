# SPDX-License-Identifier: Apache-2.0
"""Numbers by which a node of a later graph is traced back to a call of the captured one."""

from __future__ import annotations

from torch.fx import GraphModule, Node

TAG = "cortexm_node"
"""Key in ``node.meta["custom"]`` with the number."""


def tag_nodes(graph: GraphModule) -> None:
    """Number the calls of `graph`; export and the passes keep the numbers."""
    for number, node in enumerate(graph.graph.nodes):
        if node.op == "call_function":
            node.meta["custom"] = {**(node.meta.get("custom") or {}), TAG: number}


def tag_of(node: Node) -> int | None:
    """The number `tag_nodes` gave the call that `node` came from."""
    number = (node.meta.get("custom") or {}).get(TAG)
    return number if isinstance(number, int) else None
