# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a constant graph take from their edges, as PyTorch Geometric's layers say it.

A scatter_add or index_add with constant indices is the product with a constant matrix: of the nodes that the
edges come from where the messages are gathered nodes times constants, else of the edges. Means have their
counts in it. A matrix of many weights stays out of it: each node gathers its edges, as many as the node with
most has, and adds them with weights of its own. Maxima gather them too, and nodes with fewer edges take one
twice. A softmax over the edges of each node is one over the gathered rows, with a mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch._guards import detect_fake_mode
from torch.fx import GraphModule, Node

from .builder import ShapingBuilder, shape_of
from .constants import fold_constants

_aten: Any = torch.ops.aten
Tensor = torch.Tensor

_MOST_WEIGHTS = 1 << 16
"""Of a matrix, or of the edges that all nodes gather."""

_SMALLEST_SUM = 1e-6
"""What a softmax may add to its sum, which is one at least."""

_VIEWS = {
    _aten.expand.default,
    _aten.repeat.default,
    _aten.reshape.default,
    _aten.unsqueeze.default,
    _aten.view.default,
}
_EXTREMES = {"amax": _aten.amax.default, "amin": _aten.amin.default}


def join_edges(module: GraphModule) -> None:
    """Replace them, in place. The new calls have their shapes.

    Raises:
        TooManyEdges: a graph has too many nodes and edges.
    """
    if not any(node.target in _READERS for node in module.graph.nodes):
        return
    fold_constants(module)
    found = [node for node in module.graph.nodes if node.target in _READERS]
    for node in module.graph.find_nodes(op="call_function", target=_aten.expand_as.default):
        node.target, node.args = _aten.expand.default, (node.args[0], list(node.meta["val"].shape))
    for node in module.graph.find_nodes(op="call_function", target=_aten.div.Tensor):
        _replace(node, _softmax(_Maker(module, node)))
    module.graph.eliminate_dead_code()
    for node in [each for each in found if each.users]:
        make = _Maker(module, node)
        edges = _READERS[node.target](make)
        if edges is None or not _fits(edges, node):
            continue
        try:
            if edges.reduce in _EXTREMES:
                _replace(node, _extreme(make, edges))
            elif edges.reduce == "last":
                _replace(node, _written(make, edges))
            else:
                last, factors = _behind(make, edges)
                _replace(last, _total(make, edges, factors))
        except TooManyEdges as error:
            error.node = node
            raise
    module.graph.eliminate_dead_code()
    module.recompile()


class TooManyEdges(Exception):
    """What nodes take from their edges would need too many weights; `node` is the call."""

    def __init__(self, nodes: int, most: int) -> None:
        super().__init__(
            f"the sums over the edges of {nodes:,} nodes, of which one has {most:,} edges, would take "
            f"more than {_MOST_WEIGHTS:,} weights"
        )
        self.node: Node | None = None


class _Maker(ShapingBuilder):
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
class _Edges:
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


def _replace(node: Node, replacement: Node | None) -> None:
    if replacement is not None:
        node.replace_all_uses_with(replacement)
        node.graph.erase_node(node)


# -- operators ------------------------------------------------------------------------------------


def _scattered(make: _Maker) -> _Edges | None:
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
) -> _Edges | None:
    reduce = args.get("reduce", "sum")
    if reduce not in ("sum", "mean", *_EXTREMES):
        return None
    with_whole = bool(args.get("include_self", True))
    return _Edges(whole, dim, nodes, source, reduce, with_whole, float(args.get("alpha", 1)))


def _indexed(make: _Maker) -> _Edges | None:
    args = make.arguments()
    whole, index = args["self"], make.known(args["index"])
    if index is None or index.dim() != 1:
        return None
    return _edges(args, whole, args["dim"] % whole.meta["val"].dim(), index, args["source"])


def _put(make: _Maker) -> _Edges | None:
    """Elements that an index along one dimension adds to."""
    args = make.arguments()
    whole, dim = args["self"], len(args["indices"]) - 1
    index = make.known(args["indices"][-1])
    if not args["accumulate"] or any(args["indices"][:-1]) or index is None or index.dim() != 1:
        return None
    if index.dtype == torch.bool:
        return None
    return _Edges(whole, dim, index % whole.meta["val"].shape[dim], args["values"])


def _overwritten(make: _Maker) -> _Edges | None:
    found = _scattered(make)
    return None if found is None else replace(found, reduce="last")


_READERS: dict[Any, Callable[[_Maker], _Edges | None]] = {
    _aten.index_add.default: _indexed,
    _aten.index_put.default: _put,
    _aten.index_reduce.default: _indexed,
    _aten.scatter.src: _overwritten,
    _aten.scatter_add.default: _scattered,
    _aten.scatter_reduce.two: _scattered,
}


def _fits(edges: _Edges, node: Node) -> bool:
    """Whether they are floats, one for each edge."""
    shape, source = shape_of(edges.whole), shape_of(edges.source)
    if not shape or not source or shape_of(node) != shape or not len(edges.nodes):
        return False
    return source == (*shape[: edges.dim], len(edges.nodes), *shape[edges.dim + 1 :])


# -- sums -----------------------------------------------------------------------------------------


def _behind(make: _Maker, edges: _Edges) -> tuple[Node, Tensor]:
    """The last of the calls behind a sum that multiply it with constants of the nodes, and these."""
    last, factors = make.node, torch.ones(edges.count, dtype=torch.float64)
    shape = tuple(last.meta["val"].shape)
    while len(last.users) == 1:
        (user,) = last.users
        if user.target not in (_aten.mul.Tensor, _aten.div.Tensor) or shape_of(user) != shape:
            break
        other = _other(user, last)
        values = None if other is None else make.along(other, edges.dim, shape)
        if values is None:
            break
        by = values.double()
        factors = factors * by if user.target is _aten.mul.Tensor else factors / by
        last = user
    return last, factors


def _other(call: Node, operand: Node) -> Any:
    """The other factor of a product, or what `operand` is divided by; None if it is none of these."""
    if call.kwargs or len(call.args) != 2:
        return None
    left, right = call.args
    if left is operand:
        return right
    return left if call.target is _aten.mul.Tensor else None


def _messages(make: _Maker, edges: _Edges) -> tuple[Node, Tensor, Tensor]:
    """What is multiplied with constants of the edges, of which of it each edge takes, and these constants."""
    source, dim = edges.source, edges.dim
    taken = torch.arange(len(edges.nodes))
    factors = torch.full((len(edges.nodes),), edges.factor, dtype=torch.float64)
    while True:
        found = _factor(make, source, dim)
        if found is not None:
            source, by = found
            factors = factors * by.double()[taken]
            continue
        index = _index(make, source, dim)
        before: Any = source.args[0] if source.args else None
        if index is None or shape_of(before) is None or make.known(before) is not None:
            return source, taken, factors
        if before.meta["val"].shape[dim] > max(len(index), edges.count):
            return source, taken, factors
        source, taken = before, index[taken]


def _factor(make: _Maker, node: Node, dim: int) -> tuple[Node, Tensor] | None:
    """What `node` multiplies with constants along `dim`, and these."""
    if node.target not in (_aten.mul.Tensor, _aten.div.Tensor) or len(node.args) != 2:
        return None
    shape = tuple(node.meta["val"].shape)
    for source in node.args:
        if not isinstance(source, Node) or shape_of(source) != shape:
            continue
        other = _other(node, source)
        values = None if other is None else make.along(other, dim, shape)
        if values is not None:
            return source, values if node.target is _aten.mul.Tensor else 1 / values.double()
    return None


def _index(make: _Maker, node: Any, dim: int) -> Tensor | None:
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


def _total(make: _Maker, edges: _Edges, behind: Tensor) -> Node:
    source, taken, factors = _messages(make, edges)
    size = int(source.meta["val"].shape[edges.dim])
    own = torch.ones_like(behind)
    if edges.reduce == "mean" or not edges.with_whole:
        counts = torch.bincount(edges.nodes, minlength=edges.count)
        if not edges.with_whole:
            own = (counts == 0).double()
        if edges.reduce == "mean":
            behind = behind / (counts + edges.with_whole).clamp(min=1)
    factors = factors * behind[edges.nodes]
    if edges.count * size <= _MOST_WEIGHTS:
        matrix = torch.zeros(edges.count, size, dtype=torch.float64)
        matrix.index_put_((edges.nodes, taken), factors, accumulate=True)
        result = _product(make, source, edges.dim, matrix.float())
    else:
        result = _gathered_sum(make, source, edges, taken, factors)
    return _plus(make, result, edges, own * behind)


def _product(make: _Maker, source: Node, dim: int, matrix: Tensor) -> Node:
    """The matrix times `source` along `dim`."""
    shape = list(source.meta["val"].shape)
    if dim == len(shape) - 1:
        return make(_aten.linear.default, source, make.constant(matrix))
    if dim < len(shape) - 2:
        source = make(_aten.reshape.default, source, [*shape[: dim + 1], -1])
    result = make(_aten.matmul.default, make.constant(matrix), source)
    if dim < len(shape) - 2:
        result = make(_aten.reshape.default, result, [*shape[:dim], -1, *shape[dim + 1 :]])
    return result


def _gathered_sum(
    make: _Maker, source: Node, edges: _Edges, taken: Tensor, factors: Tensor
) -> Node:
    """Of the edges that each node gathers, with weights."""
    rows = _rows(edges.nodes, edges.count)
    there = rows >= 0
    weights = torch.where(there, factors[rows.clamp(min=0)], 0.0).float()
    messages = make.gathered(source, edges.dim, taken[rows.clamp(min=0)])
    trailing = messages.meta["val"].dim() - edges.dim - 2
    constant = make.constant(weights.reshape([*weights.shape, *[1] * trailing]))
    return make(_aten.sum.dim_IntList, make(_aten.mul.Tensor, messages, constant), [edges.dim + 1])


def _rows(nodes: Tensor, count: int) -> Tensor:
    """[nodes, most edges of one]: the edges of each node, and -1 behind them."""
    counts = torch.bincount(nodes, minlength=count)
    most = int(counts.max())
    if count * most > _MOST_WEIGHTS:
        raise TooManyEdges(count, most)
    order = torch.argsort(nodes, stable=True)
    ends = counts.cumsum(0)
    place = torch.arange(len(nodes)) - (ends - counts)[nodes[order]]
    rows = torch.full((count, most), -1)
    rows[nodes[order], place] = order
    return rows


def _plus(make: _Maker, result: Node, edges: _Edges, own: Tensor) -> Node:
    """`result` and what was before, multiplied with constants of the nodes."""
    before = make.known(edges.whole)
    if not bool(own.any()) or (before is not None and not bool(before.any())):
        return result
    term = edges.whole
    if not bool((own == 1).all()):
        trailing = term.meta["val"].dim() - edges.dim - 1
        weights = make.constant(own.float().reshape([-1, *[1] * trailing]))
        term = make(_aten.mul.Tensor, term, weights)
    return make(_aten.add.Tensor, term, result)


# -- maxima, and writing --------------------------------------------------------------------------


def _extreme(make: _Maker, edges: _Edges) -> Node:
    rows = _rows(edges.nodes, edges.count)
    source, taken = edges.source, torch.arange(len(edges.nodes))
    while (index := _index(make, source, edges.dim)) is not None:
        source, taken = source.args[0], index[taken]  # type: ignore[assignment]
    size = int(source.meta["val"].shape[edges.dim])
    index = torch.where(rows >= 0, taken[rows.clamp(min=0)], -1)
    index, both = _with_whole(make, edges, source, index, size)
    index = torch.where(index >= 0, index, index.amax(1, keepdim=True))  # one twice
    result = make.gathered(both, edges.dim, index)
    return make(_EXTREMES[edges.reduce], result, [edges.dim + 1])


def _with_whole(
    make: _Maker, edges: _Edges, source: Node, index: Tensor, size: int
) -> tuple[Tensor, Node]:
    """`index` [nodes, edges of each] into `source`, of the extent `size`, with the value before of the nodes
    that take it, and `source` with these values behind it."""
    takes = (index < 0).all(1) | edges.with_whole
    if not bool(takes.any()):
        return index, source
    before = make.known(edges.whole)
    numbers = torch.arange(edges.count)
    if before is not None and not bool(before.any()):
        trailing = source.meta["val"].dim() - edges.dim - 1
        source = make(_aten.constant_pad_nd.default, source, [*[0, 0] * trailing, 0, 1])
        numbers = torch.zeros_like(numbers)
    else:
        source = make(_aten.cat.default, [source, edges.whole], edges.dim)
    column = torch.where(takes, size + numbers, -1)
    return torch.cat([index, column.unsqueeze(1)], 1), source


def _written(make: _Maker, edges: _Edges) -> Node:
    """Of several edges the last one's value."""
    index = torch.arange(edges.count)
    for number, node in enumerate(edges.nodes.tolist()):
        index[node] = edges.count + number
    both = make(_aten.cat.default, [edges.whole, edges.source], edges.dim)
    return make.gathered(both, edges.dim, index)


# -- softmax --------------------------------------------------------------------------------------


def _softmax(make: _Maker) -> Node | None:
    """Of exponentials that are divided by the sums over the edges of their nodes."""
    call = make.node
    shape = shape_of(call)
    exponentials, divisor = call.args[:2]
    if not shape or not isinstance(exponentials, Node) or not isinstance(divisor, Node):
        return None
    if exponentials.target is not _aten.exp.default or shape_of(exponentials) != shape:
        return None
    for dim in range(len(shape)):
        nodes = _index(make, divisor, dim)
        if nodes is not None and _is_sum(make, divisor.args[0], exponentials, dim, nodes):
            scores = _without_maxima(make, exponentials.args[0], dim, nodes)
            return _shares(make, scores, dim, nodes)
    return None


def _is_sum(make: _Maker, total: Any, source: Node, dim: int, nodes: Tensor) -> bool:
    """Whether `total` is the sum of `source` over the edges of each node."""
    if total.target is _aten.add.Tensor and isinstance(total.args[1], int | float):
        if not 0 <= total.args[1] <= _SMALLEST_SUM:
            return False
        total = total.args[0]
    edges = _of(make, total)
    if edges is None or edges.reduce != "sum" or edges.source is not source:
        return False
    return edges.factor == 1 and _alike(make, edges, dim, nodes)


def _of(make: _Maker, node: Any) -> _Edges | None:
    """What `node` takes from edges, if nothing else has a part in it."""
    if not isinstance(node, Node) or node.target not in _READERS:
        return None
    edges = _READERS[node.target](_Maker(make.module, node))
    before = None if edges is None or not _fits(edges, node) else make.known(edges.whole)
    return edges if before is not None and not bool(before.any()) else None


def _alike(make: _Maker, edges: _Edges, dim: int, nodes: Tensor) -> bool:
    return edges.dim == dim and torch.equal(edges.nodes, nodes)


def _without_maxima(make: _Maker, scores: Any, dim: int, nodes: Tensor) -> Node:
    """What maxima of each node were taken from; `scores` themselves if none were."""
    result: Node = scores
    if scores.target is not _aten.sub.Tensor or len(scores.args) != 2 or scores.kwargs:
        return result
    source, maxima = scores.args
    index = _index(make, maxima, dim)
    if index is None or not torch.equal(index, nodes):
        return result
    edges = _of(make, maxima.args[0])
    if edges is None or edges.reduce != "amax" or edges.source is not source or edges.with_whole:
        return result
    return source if _alike(make, edges, dim, nodes) else result


def _shares(make: _Maker, scores: Node, dim: int, nodes: Tensor) -> Node | None:
    """A row for each node that has edges."""
    shape = list(scores.meta["val"].shape)
    rank = len(shape)
    _, numbers = torch.unique(nodes, return_inverse=True)
    try:
        rows = _rows(numbers, int(numbers.max()) + 1)
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
