# SPDX-License-Identifier: Apache-2.0
"""Signs of what is joined, in the constant that it is multiplied by.

Rotary embeddings multiply half of each row, negated and joined with the other half, by sines. -x times s is
x times -s, in every bit: with the signs in the table of sines nothing is negated, and what is joined are
parts of one tensor, which are moved once. The table may be a constant, or rows of one that are chosen at run
time, as by the position of a token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder, shape_of

_aten = torch.ops.aten

Signs = tuple[float, ...]

# With as many columns as before, their results have the same ones; for three of them that depends on where.
_CHOOSING = tuple(
    f"aten::{name}" for name in "index index_select select slice unsqueeze expand embedding".split()
)


def move_signs(module: GraphModule) -> None:
    """Take the signs of negated operands of a concatenation along columns into the constant that its result
    is multiplied by, in place, where nothing else reads that. The new nodes have their shapes."""
    found: dict[Node, list[_Product]] = {}
    for node in module.graph.nodes:
        product = _product(module, node)
        if product is not None:
            found.setdefault(product.root, []).append(product)
    for root, products in found.items():
        signs = products[0].signs
        if {*_readers(root)} - {each.node for each in products}:
            continue
        values = Builder.value_in(module, root)
        if values is None or any(each.signs != signs for each in products):
            continue
        table = Builder(module, root).constant(values * torch.tensor(signs))
        table.meta = dict(root.meta)
        made = {root: table}
        for each in products:
            parts: Any = each.joined.args[0]
            each.joined.args = [part.args[0] if _is_negated(part) else part for part in parts], -1
            each.node.args = each.joined, _chosen(module, each.factor, made)
    module.graph.eliminate_dead_code()
    module.recompile()


@dataclass(frozen=True)
class _Product:
    """What is joined times a constant `root`, or what is chosen from one; `signs` are those of columns."""

    node: Node
    joined: Node
    factor: Node
    root: Node
    signs: Signs


def _product(module: GraphModule, node: Node) -> _Product | None:
    if node.target is not _aten.mul.Tensor or shape_of(node) is None:
        return None
    for joined, factor in (node.args, node.args[::-1]):
        signs = _signs_of(joined)
        root: Any = factor
        while signs is not None and _has_columns(root, len(signs)) and _is_choosing(root):
            root = root.args[0]
        if signs is None or not _has_columns(root, len(signs)):
            continue
        if Builder.value_in(module, root) is not None:
            return _Product(node, joined, factor, root, signs)  # type: ignore[arg-type]
    return None


def _has_columns(node: Any, count: int) -> bool:
    return (shape_of(node) or ())[-1:] == (count,)


def _readers(node: Node) -> Iterator[Node]:
    """What reads a table, or what is chosen from it."""
    for user in node.users:
        if _is_choosing(user):
            yield from _readers(user)
        else:
            yield user


def _chosen(module: GraphModule, node: Node, made: dict[Node, Node]) -> Node:
    """`node`, chosen from the table with signs.

    Args:
        made: what there is with signs, by what it takes the place of.
    """
    if node not in made:
        source: Any = node.args[0]
        signed = _chosen(module, source, made)
        with module.graph.inserting_before(node):
            made[node] = module.graph.node_copy(node, lambda x: signed if x is source else x)
    return made[node]


def _signs_of(joined: Any) -> Signs | None:
    """By column, -1 where the operand of a concatenation is negated; None if none is, if its columns are not
    what is joined, or if it has another reader."""
    shape = shape_of(joined)
    if shape is None or joined.target is not _aten.cat.default or len(joined.users) > 1:
        return None
    dim = joined.args[1] if len(joined.args) > 1 else 0
    parts = joined.args[0]
    if dim not in (-1, len(shape) - 1) or not any(_is_negated(each) for each in parts):
        return None
    return tuple(
        -1.0 if _is_negated(each) else 1.0
        for each in parts
        for _ in range(each.meta["val"].shape[-1])
    )


def _is_negated(node: Node) -> bool:
    return node.target is _aten.neg.default


def _is_choosing(node: Node) -> bool:
    """Whether a call with as many columns as its operand has the same ones."""
    name = operator_name(node)
    shape = shape_of(node.args[0]) if name in _CHOOSING else None
    if not shape:
        return False
    if name == "aten::index":
        indices: Any = node.args[1]
        return len(indices) < len(shape)
    if name in ("aten::index_select", "aten::select"):
        dim: Any = node.args[1]
        return dim not in (-1, len(shape) - 1)
    return True
