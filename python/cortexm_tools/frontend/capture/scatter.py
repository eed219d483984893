# SPDX-License-Identifier: Apache-2.0
"""Writes in place, as functionalization says them, in operators that other models have.

A write to a part of a tensor becomes a copy of the value into a view, and a ``scatter`` of that into
the whole. Said as a concatenation of what is before the part, the value and what is behind it, codes
move as codes. Filling becomes a constant. Every replacement gives the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Graph, Node

_aten = torch.ops.aten

_VIEW_OF = {
    _aten.slice_scatter.default: _aten.slice.Tensor,
    _aten.select_scatter.default: _aten.select.int,
}


def say_writes(graph: Graph) -> None:
    """Replace them, in place."""
    for node in list(graph.nodes):
        target: Any = node.target
        if node.op != "call_function" or target not in _TABLE:
            continue
        replacement = _TABLE[target](_Maker(node))
        if replacement is not None:
            node.replace_all_uses_with(replacement)
            graph.erase_node(node)
    graph.eliminate_dead_code()


class _Maker:
    """Makes calls before a node, with its place and with values."""

    def __init__(self, node: Node) -> None:
        self.node = node
        schema = node.target._schema  # type: ignore[union-attr]
        names = [argument.name for argument in schema.arguments]
        self.args: dict[str, Any] = {
            argument.name: argument.default_value for argument in schema.arguments
        }
        self.args |= dict(zip(names, node.args, strict=False)) | node.kwargs

    def __call__(self, target: Any, *args: Any, **kwargs: Any) -> Node:
        with self.node.graph.inserting_before(self.node):
            call = self.node.graph.call_function(target, args, kwargs)
        given, named = torch.fx.map_arg((args, kwargs), lambda n: n.meta["val"])
        call.meta = {**self.node.meta, "val": target(*given, **named)}
        return call

    def like(self, value: Node) -> Node:
        """`value` with the shape and type of the node."""
        wanted = self.node.meta["val"]
        if value.meta["val"].dtype != wanted.dtype:
            value = self(_aten.to.dtype, value, wanted.dtype)
        if value.meta["val"].shape != wanted.shape:
            value = self(_aten.expand.default, value, list(wanted.shape))
        return value


def _copy(make: _Maker) -> Node:
    return make.like(make.args["src"])


def _fill(make: _Maker) -> Node:
    value = make.args.get("value", 0)
    if isinstance(value, Node):
        return make.like(value)
    wanted = make.node.meta["val"]
    return make(_aten.full.default, list(wanted.shape), value, dtype=wanted.dtype)


def _like(make: _Maker) -> Node:
    """What depends on a tensor's shape alone does not depend on the tensor."""
    wanted = make.node.meta["val"]
    number = make.args.get("fill_value", int(make.node.target is _aten.ones_like.default))
    return make(_aten.full.default, list(wanted.shape), number, dtype=wanted.dtype)


def _scatter(make: _Maker) -> Node | None:
    whole, part, dim = make.args["self"], make.args["src"], make.args["dim"]
    size = whole.meta["val"].shape[dim]
    if _is_own_part(make.node, whole, part):
        result: Node = whole
        return result
    if "index" in make.args:
        start = make.args["index"] % size
        end = start + 1
        part = make(_aten.unsqueeze.default, part, dim)
    else:
        start, end, step = slice(make.args["start"], make.args["end"], make.args["step"]).indices(
            size
        )
        if step > 1 and end > start + 1:
            return _interleaved(make, start, step)
    parts = [part] if end > start else []
    if start > 0:
        parts.insert(0, make(_aten.slice.Tensor, whole, dim, 0, start))
    if max(start, end) < size:
        parts.append(make(_aten.slice.Tensor, whole, dim, max(start, end), size))
    return parts[0] if len(parts) == 1 else make(_aten.cat.default, parts, dim)


def _interleaved(make: _Maker, start: int, step: int) -> Node:
    """`src` at `start` and each `step` behind it: before its last value, periods of one value of it and
    step - 1 of the whole's."""
    whole, part, dim = make.args["self"], make.args["src"], make.args["dim"]
    shape = list(whole.meta["val"].shape)
    dim %= len(shape)
    last = part.meta["val"].shape[dim] - 1
    end = start + last * step

    def cut(source: Node, low: int, high: int) -> list[Node]:
        return [make(_aten.slice.Tensor, source, dim, low, high)] if low < high else []

    new = make(_aten.unsqueeze.default, *cut(part, 0, last), dim + 1)
    periods = [*shape[:dim], last, step, *shape[dim + 1 :]]
    old = make(_aten.reshape.default, *cut(whole, start, end), periods)
    old = make(_aten.slice.Tensor, old, dim + 1, 1, step)
    both = make(_aten.cat.default, [new, old], dim + 1)
    joined = make(_aten.reshape.default, both, [*shape[:dim], last * step, *shape[dim + 1 :]])
    behind = cut(part, last, last + 1) + cut(whole, end + 1, shape[dim])
    return make(_aten.cat.default, [*cut(whole, 0, start), joined, *behind], dim)


def _is_own_part(node: Node, whole: Node, part: Node) -> bool:
    """Whether `part` is what `whole` has there already."""
    same_view = part.target is _VIEW_OF[node.target]  # type: ignore[index]
    return same_view and part.args[0] is whole and part.args[1:] == node.args[2:]


def _roll(make: _Maker) -> Node | None:
    """PyTorch would compute indices."""
    if len(make.args["shifts"]) != 1 or len(make.args["dims"]) != 1:
        return None
    whole, dim = make.args["self"], make.args["dims"][0]
    size = whole.meta["val"].shape[dim]
    start = -make.args["shifts"][0] % size
    if start == 0:
        return None
    parts = [make(_aten.slice.Tensor, whole, dim, start, size)]
    parts.append(make(_aten.slice.Tensor, whole, dim, 0, start))
    return make(_aten.cat.default, parts, dim)


def _index_copy(make: _Maker) -> Node:
    indices = [None] * (make.args["dim"] % make.node.meta["val"].dim()) + [make.args["index"]]
    return make(_aten.index_put.default, make.args["self"], indices, make.args["source"])


def _lerp(make: _Maker) -> Node:
    start = make.args["self"]
    change = make(_aten.sub.Tensor, make.args["end"], start)
    return make(_aten.add.Tensor, start, make(_aten.mul.Tensor, change, make.args["weight"]))


def _addcmul(make: _Maker) -> Node:
    product = make(_aten.mul.Tensor, make.args["tensor1"], make.args["tensor2"])
    if make.args["value"] != 1:
        product = make(_aten.mul.Tensor, product, make.args["value"])
    return make(_aten.add.Tensor, make.args["self"], product)


def _double(make: _Maker) -> Node | None:
    """A transposition of a transposition."""
    source = make.args["self"]
    result: Node | None = source.args[0] if source.target is _aten.t.default else None
    return result


_TABLE: dict[Any, Callable[[_Maker], Node | None]] = {
    _aten.copy.default: _copy,
    _aten.fill.Scalar: _fill,
    _aten.fill.Tensor: _fill,
    _aten.zero.default: _fill,
    _aten.zeros_like.default: _like,
    _aten.ones_like.default: _like,
    _aten.full_like.default: _like,
    _aten.slice_scatter.default: _scatter,
    _aten.select_scatter.default: _scatter,
    _aten.roll.default: _roll,
    _aten.index_copy.default: _index_copy,
    _aten.lerp.Scalar: _lerp,
    _aten.lerp.Tensor: _lerp,
    _aten.addcmul.default: _addcmul,
    _aten.t.default: _double,
}
