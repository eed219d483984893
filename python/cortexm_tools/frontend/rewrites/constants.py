# SPDX-License-Identifier: Apache-2.0
"""What depends on no input's values is computed now and becomes a constant.

A filled tensor in another's likeness is one: ExecuTorch would make it one of codes, filled with the
value. The quantizer would leave constants in float, and other rewrites look for them: zero states,
weights that are transposed where they are used.
"""

from __future__ import annotations

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
    if not name.startswith("aten::") or any(word in name for word in _RANDOM):
        return False
    if name in _LIKE:
        return int(value.numel()) <= _LARGEST
    inputs = node.all_input_nodes
    if any(Builder.value_in(module, n) is None for n in inputs):
        return False
    grown = max((int(n.meta["val"].numel()) for n in inputs if "val" in n.meta), default=0)
    return int(value.numel()) <= max(_LARGEST if not grown else 0, 4096, grown)


def _fold(module: GraphModule, node: Node) -> None:
    def real(n: Node) -> torch.Tensor:
        value = Builder.value_in(module, n)
        if value is None:  # only its shape and type matter
            return torch.zeros(n.meta["val"].shape, dtype=n.meta["val"].dtype)
        return value.clone()  # for operators that work in place

    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), real)
    target: Any = node.target
    constant = Builder(module, node).constant(target(*args, **kwargs))
    constant.meta = {k: v for k, v in node.meta.items() if k != "tensor_meta"}
    node.replace_all_uses_with(constant)
    module.graph.erase_node(node)
