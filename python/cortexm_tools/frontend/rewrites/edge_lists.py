# SPDX-License-Identifier: Apache-2.0
"""Calls that give each node of a constant graph something of its edges, in one form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch._guards import detect_fake_mode
from torch.fx import Node

from .builder import ShapingBuilder, shape_of

_aten: Any = torch.ops.aten
Tensor = torch.Tensor

_MOST_WEIGHTS = 1 << 16

_VIEWS = {
    _aten.expand.default,
    _aten.repeat.default,
    _aten.reshape.default,
    _aten.unsqueeze.default,
    _aten.view.default,
}
EXTREMES = {"amax": _aten.amax.default, "amin": _aten.amin.default}


def are_few(weights: int) -> bool:
    """Those of a matrix, or of the edges that all nodes gather."""
    return weights <= _MOST_WEIGHTS


class TooManyEdges(Exception):
    """What nodes take from their edges would need too many weights; `node` is the call."""

    def __init__(self, nodes: int, most: int) -> None:
        super().__init__(
            f"the sums over the edges of {nodes:,} nodes, of which one has {most:,} edges, would take "
            f"more than {_MOST_WEIGHTS:,} weights"
        )
        self.node: Node | None = None


class Maker(ShapingBuilder):
    """Gives constants their values as well, and reads them."""

    def constant(self, tensor: Tensor) -> Node:
        node = super().constant(tensor)
        mode = detect_fake_mode(self.node.meta["val"])
        node.meta = {
            "val": tensor if mode is None else mode.from_tensor(tensor, static_shapes=True)
        }
        return node

    def known(self, node: Any) -> Tensor | None:
        """The tensor of a constant, also of one that is expanded; None for what is computed."""
        if not isinstance(node, Node) or node.target not in _VIEWS:
            return self.value(node)
        inner, target = self.known(node.args[0]), cast(Any, node.target)
        return None if inner is None else target(inner, *node.args[1:])

    def along(self, node: Any, dim: int, shape: tuple[int, ...]) -> Tensor | None:
        """The values along `dim` of a constant that is broadcast to `shape`, equal along all others."""
        value = torch.tensor(float(node)) if isinstance(node, int | float) else self.known(node)
        if value is None or value.dim() > len(shape):
            return None
        if value.dim() == len(shape) and any(
            have not in (1, want) for have, want in zip(value.shape, shape, strict=True)
        ):
            return None
        rows = value.expand(shape).movedim(dim, 0).reshape(shape[dim], -1)
        return rows[:, 0] if bool((rows == rows[:, :1]).all()) else None

    def gathered(self, source: Node, dim: int, index: Tensor) -> Node:
        """Elements of `source` by `index`, whose shape is in the place of `dim`."""
        shape = list(source.meta["val"].shape)
        flat = self(_aten.index_select.default, source, dim, self.constant(index.reshape(-1)))
        if index.dim() == 1:
            return flat
        return self(_aten.reshape.default, flat, [*shape[:dim], *index.shape, *shape[dim + 1 :]])


@dataclass(frozen=True)
class Edges:
    """What nodes take from their edges.

    Attributes:
        whole: a value for each node before.
        dim: along which the nodes lie, and the edges.
        nodes: the node of each edge.
        source: a value for each edge.
        reduce: "sum", "mean", "amax", "amin", or "last".
        with_whole: whether `whole` is taken like the value of an edge, not only by nodes without any.
        factor: of each edge.
    """

    whole: Node
    dim: int
    nodes: Tensor
    source: Node
    reduce: str = "sum"
    with_whole: bool = True
    factor: float = 1.0

    @property
    def count(self) -> int:
        """Of the nodes."""
        return int(self.whole.meta["val"].shape[self.dim])


def _scattered(make: Maker) -> Edges | None:
    args = make.arguments()
    whole, source = args["self"], args["src"]
    index = make.known(args["index"])
    if index is None or index.dim() == 0 or source.meta["val"].dim() != index.dim():
        return None
    dim = args["dim"] % index.dim()
    nodes = make.along(args["index"], dim, tuple(index.shape))
    others = [d for d in range(index.dim()) if d != dim]
    if nodes is None or any(index.shape[d] != whole.meta["val"].shape[d] for d in others):
        return None
    for d, size in enumerate(index.shape):
        if source.meta["val"].shape[d] != size:
            source = make(_aten.slice.Tensor, source, d, 0, size)
    return _edges(args, whole, dim, nodes, source)


def _edges(
    args: dict[str, Any], whole: Node, dim: int, nodes: Tensor, source: Node
) -> Edges | None:
    reduce = args.get("reduce", "sum")
    if reduce not in ("sum", "mean", *EXTREMES):
        return None
    with_whole = bool(args.get("include_self", True))
    return Edges(whole, dim, nodes, source, reduce, with_whole, float(args.get("alpha", 1)))


def _indexed(make: Maker) -> Edges | None:
    args = make.arguments()
    whole, index = args["self"], make.known(args["index"])
    if index is None or index.dim() != 1:
        return None
    return _edges(args, whole, args["dim"] % whole.meta["val"].dim(), index, args["source"])


def _put(make: Maker) -> Edges | None:
    """Elements that an index along one dimension adds to."""
    args = make.arguments()
    whole, dim = args["self"], len(args["indices"]) - 1
    index = make.known(args["indices"][-1])
    if not args["accumulate"] or any(args["indices"][:-1]) or index is None or index.dim() != 1:
        return None
    if index.dtype == torch.bool:
        return None
    return Edges(whole, dim, index % whole.meta["val"].shape[dim], args["values"])


def _overwritten(make: Maker) -> Edges | None:
    found = _scattered(make)
    return None if found is None else replace(found, reduce="last")


READERS: dict[Any, Callable[[Maker], Edges | None]] = {
    _aten.index_add.default: _indexed,
    _aten.index_put.default: _put,
    _aten.index_reduce.default: _indexed,
    _aten.scatter.src: _overwritten,
    _aten.scatter_add.default: _scattered,
    _aten.scatter_reduce.two: _scattered,
}


def fits(edges: Edges, node: Node) -> bool:
    """Whether they are floats, one for each edge."""
    shape, source = shape_of(edges.whole), shape_of(edges.source)
    if not shape or not source or shape_of(node) != shape or not len(edges.nodes):
        return False
    return source == (*shape[: edges.dim], len(edges.nodes), *shape[edges.dim + 1 :])


def node_of_each(make: Maker, node: Any, dim: int) -> Tensor | None:
    """The constant index along `dim` by which `node` gathers."""
    if not isinstance(node, Node) or not isinstance(node.args[0] if node.args else None, Node):
        return None
    source: Any = node.args[0]
    rank = source.meta["val"].dim()
    index = None
    along: Any = node.args[1] if len(node.args) > 1 else None
    if node.target is _aten.index_select.default and along % rank == dim:
        index = make.known(node.args[2])
    elif node.target is _aten.index.Tensor:
        if len(along) == dim + 1 and not any(along[:-1]):
            index = make.known(along[-1])
    if index is None or index.dim() != 1 or index.dtype == torch.bool:
        return None
    size: int = source.meta["val"].shape[dim]
    return index % size


def rows_of_edges(nodes: Tensor, count: int) -> Tensor:
    """[nodes, most edges of one]: the edges of each node, and -1 behind them."""
    counts = torch.bincount(nodes, minlength=count)
    most = int(counts.max())
    if not are_few(count * most):
        raise TooManyEdges(count, most)
    order = torch.argsort(nodes, stable=True)
    ends = counts.cumsum(0)
    place = torch.arange(len(nodes)) - (ends - counts)[nodes[order]]
    rows = torch.full((count, most), -1)
    rows[nodes[order], place] = order
    return rows
