# SPDX-License-Identifier: Apache-2.0
"""A softmax over the edges of each node is one over the gathered rows of edges, with a mask."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import Node

from .builder import shape_of
from .edge_lists import (
    READERS,
    Edges,
    Maker,
    Tensor,
    TooManyEdges,
    fits,
    node_of_each,
    rows_of_edges,
)

_aten: Any = torch.ops.aten

_SMALLEST_SUM = 1e-6
"""What a softmax may add to its sum, which is one at least."""


def softmax_over_edges(make: Maker) -> Node | None:
    """Of exponentials that are divided by the sums over the edges of their nodes."""
    call = make.node
    shape = shape_of(call)
    exponentials, divisor = call.args[:2]
    if not shape or not isinstance(exponentials, Node) or not isinstance(divisor, Node):
        return None
    if exponentials.target is not _aten.exp.default or shape_of(exponentials) != shape:
        return None
    for dim in range(len(shape)):
        nodes = node_of_each(make, divisor, dim)
        if nodes is not None and _is_sum(make, divisor.args[0], exponentials, dim, nodes):
            scores = _without_maxima(make, exponentials.args[0], dim, nodes)
            return _shares(make, scores, dim, nodes)
    return None


def _is_sum(make: Maker, total: Any, source: Node, dim: int, nodes: Tensor) -> bool:
    """Whether `total` is the sum of `source` over the edges of each node."""
    if total.target is _aten.add.Tensor and isinstance(total.args[1], int | float):
        if not 0 <= total.args[1] <= _SMALLEST_SUM:
            return False
        total = total.args[0]
    edges = _of(make, total)
    if edges is None or edges.reduce != "sum" or edges.source is not source:
        return False
    return edges.factor == 1 and _alike(make, edges, dim, nodes)


def _of(make: Maker, node: Any) -> Edges | None:
    """What `node` takes from edges, if nothing else has a part in it."""
    if not isinstance(node, Node) or node.target not in READERS:
        return None
    edges = READERS[node.target](Maker(make.module, node))
    before = None if edges is None or not fits(edges, node) else make.known(edges.whole)
    return edges if before is not None and not bool(before.any()) else None


def _alike(make: Maker, edges: Edges, dim: int, nodes: Tensor) -> bool:
    return edges.dim == dim and torch.equal(edges.nodes, nodes)


def _without_maxima(make: Maker, scores: Any, dim: int, nodes: Tensor) -> Node:
    """What maxima of each node were taken from; `scores` themselves if none were."""
    result: Node = scores
    if scores.target is not _aten.sub.Tensor or len(scores.args) != 2 or scores.kwargs:
        return result
    source, maxima = scores.args
    index = node_of_each(make, maxima, dim)
    if index is None or not torch.equal(index, nodes):
        return result
    edges = _of(make, maxima.args[0])
    if edges is None or edges.reduce != "amax" or edges.source is not source or edges.with_whole:
        return result
    return source if _alike(make, edges, dim, nodes) else result


def _shares(make: Maker, scores: Node, dim: int, nodes: Tensor) -> Node | None:
    """A row for each node that has edges."""
    shape = list(scores.meta["val"].shape)
    rank = len(shape)
    _, numbers = torch.unique(nodes, return_inverse=True)
    try:
        rows = rows_of_edges(numbers, int(numbers.max()) + 1)
    except TooManyEdges:
        return None
    order = [d for d in range(rank) if d != dim] + [dim]
    moved = scores if order == list(range(rank)) else make(_aten.permute.default, scores, order)
    others = math.prod(shape[d] for d in order[:-1])
    flat = make(_aten.reshape.default, moved, [others, len(nodes)])
    of_nodes = make.gathered(flat, 1, rows.clamp(min=0))
    if bool((rows < 0).any()):
        mask = torch.where(rows >= 0, 0.0, -math.inf)
        of_nodes = make(_aten.add.Tensor, of_nodes, make.constant(mask))
    shares = make(_aten.softmax.int, of_nodes, -1)
    place = torch.empty_like(nodes)
    flat_rows = rows.reshape(-1)
    place[flat_rows[flat_rows >= 0]] = (flat_rows >= 0).nonzero().reshape(-1)
    flat = make.gathered(make(_aten.reshape.default, shares, [others, -1]), 1, place)
    result = make(_aten.reshape.default, flat, [shape[d] for d in order])
    if order == list(range(rank)):
        return result
    return make(_aten.permute.default, result, [order.index(d) for d in range(rank)])
