# SPDX-License-Identifier: Apache-2.0
"""Remove from a lowered program what nothing reads, before it is serialized.

Lowering leaves behind the weights as they were before they were permuted, the biases folded into
others and every scale and zero point; ExecuTorch would write them all into the .pte. Copies that
change neither layout nor type go as well.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, InputKind
from torch.fx import Node

from ..nodes import operator_name

_CONSTANTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_COPIES = ("aten::clone", "dim_order_ops::_clone_dim_order", "dim_order_ops::_to_dim_order_copy")


def _is_noop_copy(node: Node) -> bool:
    if operator_name(node) not in _COPIES:
        return False
    source = node.args[0]
    if not isinstance(source, Node) or source.op == "placeholder":
        return False  # an output must not be an input
    before, after = source.meta.get("val"), node.meta.get("val")
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return False
    same_order = before.dim_order() == after.dim_order() and before.stride() == after.stride()
    return before.dtype == after.dtype and before.shape == after.shape and same_order


def make_lean(program: ExportedProgram) -> ExportedProgram:
    """Drop unread constants and copies that copy nothing, in place; returns `program`."""
    graph = program.graph
    for node in list(graph.nodes):
        if _is_noop_copy(node):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    graph.eliminate_dead_code()
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    kept = []
    used_targets = set()
    for spec in program.graph_signature.input_specs:
        node = placeholders.get(getattr(spec.arg, "name", ""))
        if spec.kind in _CONSTANTS and node is not None and not node.users:
            graph.erase_node(node)
            continue
        kept.append(spec)
        if spec.target is not None:
            used_targets.add(spec.target)
    signature = program.graph_signature
    program._graph_signature = ExportGraphSignature(kept, list(signature.output_specs))
    for name in [n for n in program.state_dict if n not in used_targets]:
        del program.state_dict[name]
    for name in [n for n in program.constants if n not in used_targets]:
        del program.constants[name]
    program.graph_module.recompile()
    return program
