# SPDX-License-Identifier: Apache-2.0
"""What depends on no input's values is computed now and becomes a constant.

A filled tensor in another's likeness is one: ExecuTorch would make it one of codes, filled with the
value. The quantizer would leave constants in float, and other rewrites look for them: zero states,
weights that are transposed where they are used.
"""

from __future__ import annotations

from operator import getitem
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder

_LARGEST = 1 << 20  # elements; a constant that is expanded to more stays small
_LIKE = tuple(
    f"aten::{name}" for name in "full_like zeros_like ones_like new_full new_zeros new_ones".split()
)
_RANDOM = ("rand", "normal", "bernoulli", "dropout", "multinomial", "empty")


def fold_constants(module: GraphModule) -> None:
    """Evaluate, in place, the calls all of whose inputs are constants."""
    with torch.no_grad():
        for node in list(module.graph.nodes):
            if _is_foldable(module, node):
                _fold(module, node)
    module.graph.eliminate_dead_code()


def _is_foldable(module: GraphModule, node: Node) -> bool:
    value = node.meta.get("val")
    name = operator_name(node)
    if not isinstance(value, torch.Tensor):
        return False
    if node.target is getitem:
        return _is_part_of_constants(module, node.args[0])
    if not name.startswith("aten::") or any(word in name for word in _RANDOM):
        return False
    if name in _LIKE:
        return int(value.numel()) <= _LARGEST
    inputs = node.all_input_nodes
    if any(Builder.value_in(module, n) is None for n in inputs):
        return False
    grown = max((int(n.meta["val"].numel()) for n in inputs if "val" in n.meta), default=0)
    return int(value.numel()) <= max(_LARGEST if not grown else 0, 4096, grown)


def _is_part_of_constants(module: GraphModule, parts: Any) -> bool:
    """Whether what `parts` has several results of is constant: a matrix that is split."""
    name = operator_name(parts)
    return (
        name.startswith("aten::")
        and not any(word in name for word in _RANDOM)
        and all(Builder.value_in(module, n) is not None for n in parts.all_input_nodes)
    )


def _fold(module: GraphModule, node: Node) -> None:
    def real(n: Node) -> torch.Tensor:
        value = Builder.value_in(module, n)
        if value is None:  # only its shape and type matter
            return torch.zeros(n.meta["val"].shape, dtype=n.meta["val"].dtype)
        return value.clone()  # for operators that work in place

    def computed(call: Node) -> Any:
        args, kwargs = torch.fx.map_arg((call.args, call.kwargs), real)
        target: Any = call.target
        return target(*args, **kwargs)

    parts: Any = node.args[0] if node.target is getitem else node
    result = computed(parts)
    constant = Builder(module, node).constant(result if parts is node else result[node.args[1]])
    constant.meta = {k: v for k, v in node.meta.items() if k != "tensor_meta"}
    node.replace_all_uses_with(constant)
    module.graph.erase_node(node)
