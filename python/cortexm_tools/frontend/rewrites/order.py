# SPDX-License-Identifier: Apache-2.0
"""Places of the largest elements are taken from the scores, not from what keeps their order.

A softmax, its logarithm, a sigmoid, a positive factor: the largest stays the largest. Of their codes fewer
differ than of the scores' own, and where nothing else reads them, they need not be computed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder, ShapingBuilder, shape_of

_aten: Any = torch.ops.aten

_PLACES = (_aten.argmax.default, _aten.argmin.default, _aten.topk.default)
_SHARES = (_aten.softmax.int, _aten.log_softmax.int)

_RISING = frozenset(
    f"aten::{name}"
    for name in "sigmoid log_sigmoid tanh atan erf exp exp2 expm1 log log2 log10 log1p logit sqrt sinh "
    "asinh softplus".split()
)
"""Functions of which a larger element gives a larger result."""

_MOVES = frozenset(
    f"aten::{name}"
    for name in "view reshape unsqueeze squeeze flatten unflatten transpose permute movedim swapaxes slice "
    "select narrow contiguous clone".split()
)


def take_places_from_scores(module: GraphModule) -> None:
    """Let them read the scores, in place."""
    for node in list(module.graph.nodes):
        if node.target not in _PLACES or shape_of(node.args[0]) is None:
            continue
        if node.target is _aten.topk.default and all(user.args[1] == 0 for user in node.users):
            continue  # no place is read
        scores, moves = _scores(module, node)
        if scores is None:
            continue
        make = ShapingBuilder(module, node)
        for move in moves:
            target = _aten.reshape.default if move.target is _aten.view.default else move.target
            scores = make(target, scores, *move.args[1:], **move.kwargs)
        if node.target is _aten.topk.default:
            _values_by_places(make, node.args[0])
        node.replace_input_with(node.args[0], scores)
    module.graph.eliminate_dead_code()
    module.recompile()


def _scores(module: GraphModule, places: Node) -> tuple[Node | None, Sequence[Node]]:
    """What has the order of what `places` compares, before it is moved, and these moves; None if there is
    nothing else."""
    found: tuple[Node | None, Sequence[Node]] = None, ()
    moves: list[Node] = []
    along = Builder(module, places).arguments()["dim"]
    node: Any = places.args[0]
    while isinstance(node, Node) and node.args:
        is_move = operator_name(node) in _MOVES
        if is_move:
            moves.insert(0, node)
        elif node.target in _SHARES:
            if not _are_of_one_row(node, moves, along):
                break
        elif not _rises(module, node):
            break
        node = node.args[0]
        if not is_move:
            found = node, tuple(moves)
    return found


def _rises(module: GraphModule, node: Node) -> bool:
    """Whether a call gives a larger result of a larger element."""
    name = operator_name(node)
    if name in _RISING:
        return True
    if name not in ("aten::add", "aten::sub", "aten::mul", "aten::div") or len(node.args) != 2:
        return False
    other: Any = node.args[1]
    value = Builder.value_in(module, other)
    if value is not None and value.numel() == 1 and shape_of(node) == shape_of(node.args[0]):
        other = float(value)
    if not isinstance(other, int | float) or not math.isfinite(other) or node.kwargs:
        return False
    return name in ("aten::add", "aten::sub") or other > 0


def _are_of_one_row(shares: Node, moves: Sequence[Node], along: int | None) -> bool:
    """Whether those that are compared `along` a dimension, of all if it is None, are shares of the same."""
    shape = shape_of(shares)
    assert shape is not None
    rows = [1 if d == int(shares.args[1]) % len(shape) else n for d, n in enumerate(shape)]  # type: ignore[arg-type]
    found = torch.arange(math.prod(rows)).reshape(rows).expand(shape).contiguous()
    for move in moves:
        target: Any = move.target
        if target is _aten.view.default:
            target = _aten.reshape.default
        found = target(found, *move.args[1:], **move.kwargs)
    found = found.flatten() if along is None else found.movedim(along, 0)
    return bool((found == found[:1]).all())


def _values_by_places(make: ShapingBuilder, source: Any) -> None:
    """Let what reads the values of a topk read those of `source` at its places."""
    topk = make.node
    dim = make.arguments()["dim"]
    for user in list(topk.users):
        if user.args[1] != 0:
            continue
        after = ShapingBuilder(make.module, user)
        values = after(_aten.gather.default, source, dim, after(operator.getitem, topk, 1))
        user.replace_all_uses_with(values)
        make.module.graph.erase_node(user)
