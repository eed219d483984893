# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a constant graph take from their edges, as PyTorch Geometric's layers say it.

A scatter_add or index_add with constant indices is the product with a constant matrix: of the nodes that the
edges come from where the messages are gathered nodes times constants, else of the edges. Means have their
counts in it. A matrix of many weights stays out of it: each node gathers its edges, as many as the node with
most has, and adds them with weights of its own. Maxima gather them too, and nodes with fewer edges take one
twice.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from .builder import shape_of
from .constants import fold_constants
from .edge_lists import (
    EXTREMES,
    READERS,
    Edges,
    Maker,
    Tensor,
    TooManyEdges,
    are_few,
    fits,
    node_of_each,
    rows_of_edges,
)
from .edge_softmax import softmax_over_edges

_aten: Any = torch.ops.aten


def join_edges(module: GraphModule) -> None:
    """Replace them, in place. The new calls have their shapes.

    Raises:
        TooManyEdges: a graph has too many nodes and edges.
    """
    if not any(node.target in READERS for node in module.graph.nodes):
        return
    fold_constants(module)
    found = [node for node in module.graph.nodes if node.target in READERS]
    for node in module.graph.find_nodes(op="call_function", target=_aten.expand_as.default):
        node.target, node.args = _aten.expand.default, (node.args[0], list(node.meta["val"].shape))
    for node in module.graph.find_nodes(op="call_function", target=_aten.div.Tensor):
        _replace(node, softmax_over_edges(Maker(module, node)))
    module.graph.eliminate_dead_code()
    for node in [each for each in found if each.users]:
        make = Maker(module, node)
        edges = READERS[node.target](make)
        if edges is None or not fits(edges, node):
            continue
        try:
            if edges.reduce in EXTREMES:
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


def _replace(node: Node, replacement: Node | None) -> None:
    if replacement is not None:
        node.replace_all_uses_with(replacement)
        node.graph.erase_node(node)


# -- sums -----------------------------------------------------------------------------------------


def _behind(make: Maker, edges: Edges) -> tuple[Node, Tensor]:
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


def _messages(make: Maker, edges: Edges) -> tuple[Node, Tensor, Tensor]:
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
        index = node_of_each(make, source, dim)
        before: Any = source.args[0] if source.args else None
        if index is None or shape_of(before) is None or make.known(before) is not None:
            return source, taken, factors
        if before.meta["val"].shape[dim] > max(len(index), edges.count):
            return source, taken, factors
        source, taken = before, index[taken]


def _factor(make: Maker, node: Node, dim: int) -> tuple[Node, Tensor] | None:
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


def _total(make: Maker, edges: Edges, behind: Tensor) -> Node:
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
    if are_few(edges.count * size):
        matrix = torch.zeros(edges.count, size, dtype=torch.float64)
        matrix.index_put_((edges.nodes, taken), factors, accumulate=True)
        result = _product(make, source, edges.dim, matrix.float())
    else:
        result = _gathered_sum(make, source, edges, taken, factors)
    return _plus(make, result, edges, own * behind)


def _product(make: Maker, source: Node, dim: int, matrix: Tensor) -> Node:
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


def _gathered_sum(make: Maker, source: Node, edges: Edges, taken: Tensor, factors: Tensor) -> Node:
    """Of the edges that each node gathers, with weights."""
    rows = rows_of_edges(edges.nodes, edges.count)
    there = rows >= 0
    weights = torch.where(there, factors[rows.clamp(min=0)], 0.0).float()
    messages = make.gathered(source, edges.dim, taken[rows.clamp(min=0)])
    trailing = messages.meta["val"].dim() - edges.dim - 2
    constant = make.constant(weights.reshape([*weights.shape, *[1] * trailing]))
    return make(_aten.sum.dim_IntList, make(_aten.mul.Tensor, messages, constant), [edges.dim + 1])


def _plus(make: Maker, result: Node, edges: Edges, own: Tensor) -> Node:
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


def _extreme(make: Maker, edges: Edges) -> Node:
    rows = rows_of_edges(edges.nodes, edges.count)
    source, taken = edges.source, torch.arange(len(edges.nodes))
    while (index := node_of_each(make, source, edges.dim)) is not None:
        source, taken = source.args[0], index[taken]  # type: ignore[assignment]
    size = int(source.meta["val"].shape[edges.dim])
    index = torch.where(rows >= 0, taken[rows.clamp(min=0)], -1)
    index, both = _with_whole(make, edges, source, index, size)
    index = torch.where(index >= 0, index, index.amax(1, keepdim=True))  # one twice
    result = make.gathered(both, edges.dim, index)
    return make(EXTREMES[edges.reduce], result, [edges.dim + 1])


def _with_whole(
    make: Maker, edges: Edges, source: Node, index: Tensor, size: int
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


def _written(make: Maker, edges: Edges) -> Node:
    """Of several edges the last one's value."""
    index = torch.arange(edges.count)
    for number, node in enumerate(edges.nodes.tolist()):
        index[node] = edges.count + number
    both = make(_aten.cat.default, [edges.whole, edges.source], edges.dim)
    return make.gathered(both, edges.dim, index)
