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

from ..nodes import operator_name, schema_of
from .codes import COMPARED

CODE_SAFE = frozenset(
    f"aten.{name}"
    for name in (
        "view_copy", "reshape", "_unsafe_view", "squeeze_copy", "unsqueeze_copy", "expand_copy",
        "permute_copy", "transpose_copy", "t_copy", "clone", "alias_copy", "alias", "detach_copy",
        "lift_fresh_copy", "slice_copy", "select_copy", "split_copy", "split_with_sizes_copy",
        "unbind_copy", "cat", "stack", "repeat", "repeat_interleave", "tile", "flip", "roll",
        "index_select", "index", "index_put", "gather", "copy", "embedding", "pixel_shuffle",
        "pixel_unshuffle", "unfold_copy", "as_strided_copy", "upsample_nearest2d", "narrow_copy",
        "minimum", "maximum", "amin", "amax", "argmax", "argmin", "min", "max", "topk",
        "sort", "max_pool2d", "max_pool2d_with_indices", "eq", "ne", "lt", "le", "gt", "ge",
        "where", "full", "constant_pad_nd", "_to_dim_order_copy",
    )
)  # fmt: skip

_COMPARISONS = frozenset(f"aten.{name}" for name in ("eq", "ne", "lt", "le", "gt", "ge"))
_CODES = (torch.int8, torch.int16)


def _operator(node: Node) -> tuple[str, str]:
    """(namespace, ``aten.add``) of a call of an edge or ATen operator; ("", "") of another."""
    namespace, _, name = operator_name(node).partition("::")
    return namespace, f"{namespace}.{name}" if namespace else ""


def _result_is_not_codes(node: Node) -> bool:
    """Comparisons and index searches give truth values and positions."""
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in (torch.bool, torch.int64)


def _compares_with_value(node: Node, name: str) -> bool:
    if name not in _COMPARISONS or COMPARED in node.meta:
        return False
    return bool(schema_of(node).overload_name == "Scalar")


def _accumulates(node: Node) -> bool:
    return "index_put" in str(node.target) and any(a is True for a in node.args[3:])


def unsafe_nodes(graph: Graph) -> list[tuple[Node, str]]:
    """The ATen calls of `graph` that compute on codes, with the operators' names.

    Codes are followed from where they arise; the tensors' types in the metadata cannot be relied
    on, because the passes that put codes in the place of values do not always renew them.
    """
    codes: set[Node] = set()
    found = []
    for node in graph.nodes:
        namespace, name = _operator(node)
        if namespace == "cortex_m":
            if name != "cortex_m.dequantize_per_tensor":
                codes.add(node)
            continue
        if node.op == "placeholder":
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor) and value.dtype in _CODES:
                codes.add(node)
            continue
        if node.op != "call_function" or not any(n in codes for n in node.all_input_nodes):
            continue
        wrong = name not in CODE_SAFE or _compares_with_value(node, name) or _accumulates(node)
        if namespace == "aten" and wrong:
            found.append((node, name))
        if namespace != "quantized_decomposed" and not _result_is_not_codes(node):
            codes.add(node)
    return found
