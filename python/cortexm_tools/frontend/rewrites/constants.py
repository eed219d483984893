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
_LAYERS = frozenset(
    f"aten::{name}"
    for name in "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d".split()
)
_RANDOM = ("rand", "normal", "bernoulli", "dropout", "multinomial", "empty")


def fold_constants(module: GraphModule) -> None:
    """Evaluate, in place, the calls all of whose inputs are constants."""
    large: dict[Node, int] = {}
    with torch.no_grad():
        for node in list(module.graph.nodes):
            behind = _elements_behind(module, node, large)
            if behind is None:
                continue
            if _is_small(node, behind) or _is_weight(node):
                _fold(module, node, large)
            elif node.meta["val"].numel() <= _LARGEST and not _is_seen_by_others(node):
                large[node] = behind
    for node in reversed(large):  # what works in place is no dead code for PyTorch
        if not node.users:
            module.graph.erase_node(node)
    module.graph.eliminate_dead_code()


def _elements_behind(module: GraphModule, node: Node, large: dict[Node, int]) -> int | None:
    """Elements of the largest constant that `node` is computed from; None where it is not of
    constants alone.

    Args:
        large: what is of constants alone and stays, with its own.
    """
    value = node.meta.get("val")
    name = operator_name(node)
    if not isinstance(value, torch.Tensor):
        return None
    if node.target is getitem:
        return value.numel() if _is_part_of_constants(module, node.args[0]) else None
    if not name.startswith("aten::") or any(word in name for word in _RANDOM):
        return None
    if name in _LIKE:
        return 0 if value.numel() <= _LARGEST else None
    inputs = node.all_input_nodes
    if any(n not in large and Builder.value_in(module, n) is None for n in inputs):
        return None
    return max(
        (large.get(n, int(n.meta["val"].numel())) for n in inputs if "val" in n.meta), default=0
    )


def _is_small(node: Node, behind: int) -> bool:
    """Whether what `node` gives takes no more room than what it comes from, or little."""
    if node.target is getitem:
        return True
    elements = int(node.meta["val"].numel())
    return elements <= max(_LARGEST if not behind else 0, 4096, behind)


def _is_weight(node: Node) -> bool:
    """Whether a layer multiplies with what `node` gives, or adds it: kernels take it from memory alone."""
    return (
        any(operator_name(user) in _LAYERS and node in user.args[1:3] for user in node.users)
        and int(node.meta["val"].numel()) <= _LARGEST
    )


def _is_seen_by_others(node: Node) -> bool:
    """Whether it changes, in place, a tensor that something else reads."""
    changed = node.all_input_nodes[:1]
    return operator_name(node).endswith("_") and any(len(n.users) > 1 for n in changed)


def _is_part_of_constants(module: GraphModule, parts: Any) -> bool:
    """Whether what `parts` has several results of is constant: a matrix that is split."""
    name = operator_name(parts)
    return (
        name.startswith("aten::")
        and not any(word in name for word in _RANDOM)
        and all(Builder.value_in(module, n) is not None for n in parts.all_input_nodes)
    )


def _fold(module: GraphModule, node: Node, large: dict[Node, int]) -> None:
    values: dict[Node, torch.Tensor] = {}

    def real(n: Node) -> torch.Tensor:
        value = values[n] if n in values else Builder.value_in(module, n)
        if value is None and n in large:
            value = values[n] = computed(n)
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
