# SPDX-License-Identifier: Apache-2.0
"""Refuse a lowered program in which codes are taken for values.

ExecuTorch's quantizer annotates a convolution and the activation behind it as one; when the fusion
pass then declines (the activation's bounds are not the ends of the code range, or the pattern's
output is shared), the convolution stays a plain ``aten`` operator on int8 codes without
requantization, and the program computes nonsense. Only operators that move or compare codes mean
the same on codes as on values; they pass.
"""

from __future__ import annotations

import torch
from torch.fx import Graph, Node

CODE_SAFE = frozenset(
    f"aten.{name}"
    for name in (
        "view_copy", "reshape", "_unsafe_view", "squeeze_copy", "unsqueeze_copy", "expand_copy",
        "permute_copy", "transpose_copy", "t_copy", "clone", "alias_copy", "alias", "detach_copy",
        "lift_fresh_copy", "slice_copy", "select_copy", "split_copy", "split_with_sizes_copy",
        "unbind_copy", "cat", "stack", "repeat", "repeat_interleave", "tile", "flip", "roll",
        "index_select", "index", "gather", "embedding", "pixel_shuffle", "pixel_unshuffle",
        "unfold_copy", "as_strided_copy", "upsample_nearest2d", "narrow_copy",
        "minimum", "maximum", "amin", "amax", "argmax", "argmin", "min", "max", "topk",
        "sort", "max_pool2d", "max_pool2d_with_indices", "eq", "ne", "lt", "le", "gt", "ge",
        "where", "full", "full_like", "constant_pad_nd", "_to_dim_order_copy",
    )
)  # fmt: skip

_CODES = (torch.int8, torch.int16)


def _tensors(value: object) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in _tensors(item)]
    return []


def _name(node: Node) -> tuple[str, str]:
    """(namespace, ``aten.add``) of a call of an edge or ATen operator; ("", "") of another."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return "", ""
    namespace, _, name = schema.name.partition("::")
    return namespace, f"{namespace}.{name}"


def unsafe_nodes(graph: Graph) -> list[tuple[Node, str]]:
    """The ATen calls of `graph` that compute on int8 or int16 codes, with the operators' names."""
    found = []
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        namespace, name = _name(node)
        if namespace != "aten" or name in CODE_SAFE:
            continue
        values = [node.meta.get("val"), *(n.meta.get("val") for n in node.all_input_nodes)]
        if any(t.dtype in _CODES for value in values for t in _tensors(value)):
            found.append((node, name))
    return found
