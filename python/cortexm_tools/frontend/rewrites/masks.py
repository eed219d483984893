# SPDX-License-Identifier: Apache-2.0
"""What scores are left out of a softmax, as a tensor of truth values.

A mask that comes at run time is mostly said in floats: zeros, with minus infinity or a number like -1e9
where a score is left out, added to others and to the scores (`torch.nn.MultiheadAttention` makes its
`key_padding_mask` such a one). In codes it is a choice by truth values, which this module finds.

So is a product with truth values: of each element or zero.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder, Table, shape_of

_aten = torch.ops.aten

LEFT_OUT = -100.0
"""A score of this value or less has no share of a softmax, beside others."""

VANISHING = -(2.0**28)
"""The step of float32 here is 32: scores that this is added to are equal."""

_SHAPES = ("view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "expand")
_MOVES = (*_SHAPES, "transpose", "permute", "slice", "select", "repeat", "contiguous", "clone")
_CASTS = ("to", "_to_copy", "type_as")


def left_out(module: GraphModule, node: Any) -> Node | None:
    """Truth values of the shape of `node`, or broadcast to it: whether an element is `LEFT_OUT` or less where
    all others are zero. None if `node` is no such tensor that is made at run time; the new nodes are in
    front of it and have their shapes."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    if not isinstance(value, torch.Tensor) or value.dtype is not torch.float32:
        return None
    if node.op != "call_function":
        return None
    name, args = operator_name(node).removeprefix("aten::"), node.args
    build = _Truth(module, node)
    if name == "masked_fill" and _lowest(module, args[2]) and _zero(module, args[0]):
        return build.expanded(args[1], value)
    if name == "where" and len(args) == 3:
        if _lowest(module, args[1]) and _zero(module, args[2]):
            return build.expanded(args[0], value)
        if _lowest(module, args[2]) and _zero(module, args[1]):
            return build.expanded(build.opposite(args[0]), value)
    if name in _MOVES:
        inner = left_out(module, args[0])
        return None if inner is None else build(node.target, inner, *args[1:])
    if name == "add" and len(args) == 2 and not node.kwargs:
        both = [left_out(module, each) or _constant(module, build, each) for each in args]
        if all(each is not None for each in both):
            return build(_aten.logical_or.default, *both)
    if name == "mul" and len(args) == 2 and _lowest(module, args[1]):
        return _multiple(module, build, args[0])
    return None


def _multiple(module: GraphModule, build: _Truth, node: Any) -> Node | None:
    """Where `node` is one, of truth values as floats, or of one less these."""
    name = operator_name(node).removeprefix("aten::")
    if name in _MOVES:
        inner = _multiple(module, build, node.args[0])
        return None if inner is None else build(node.target, inner, *node.args[1:])
    if name in _CASTS and isinstance(node.args[0], Node):
        source = node.args[0]
        is_truth = source.meta["val"].dtype is torch.bool
        return source if is_truth else _multiple(module, build, source)
    if name in ("rsub", "sub") and len(node.args) == 2 and not node.kwargs:
        one, truth = node.args if name == "sub" else node.args[::-1]
        if _number(module, one) == 1.0:
            inner = _multiple(module, build, truth)
            return None if inner is None else build.opposite(inner)
    return None


class _Truth:
    """Builds truth values in front of a node, with their shapes."""

    def __init__(self, module: GraphModule, node: Node) -> None:
        self.build = Builder(module, node)

    def __call__(self, target: Any, *args: Any) -> Node:
        made = self.build(target, *args)
        values = [each.meta["val"] if isinstance(each, Node) else each for each in args]
        made.meta["val"] = target(*values)
        return made

    def opposite(self, truth: Any) -> Node:
        """Where `truth` is not."""
        if operator_name(truth) in ("aten::logical_not", "aten::bitwise_not"):
            inner: Node = truth.args[0]
            return inner
        return self(_aten.logical_not.default, truth)

    def expanded(self, truth: Any, like: torch.Tensor) -> Node:
        """`truth` in the shape of `like`."""
        if tuple(truth.meta["val"].shape) == tuple(like.shape):
            result: Node = truth
            return result
        return self(_aten.expand.default, truth, list(like.shape))


def opposite(module: GraphModule, before: Node, truth: Node) -> Node:
    """Where `truth` is not, computed in front of `before`."""
    return _Truth(module, before).opposite(truth)


def _constant(module: GraphModule, build: _Truth, node: Any) -> Node | None:
    """Where a constant of zeros and lowest numbers has these."""
    value = Builder.value_in(module, node)
    if value is None or not bool(((value == 0) | (value <= LEFT_OUT)).all()):
        return None
    made = build.build.constant(value <= LEFT_OUT)
    made.meta = {**node.meta, "val": node.meta["val"] <= LEFT_OUT}
    return made


def _number(module: GraphModule, node: Any) -> float | None:
    if isinstance(node, int | float):
        return float(node)
    value = Builder.value_in(module, node)
    if value is None or not value.numel() or not bool((value == value.reshape(-1)[0]).all()):
        return None
    return float(value.reshape(-1)[0])


def _lowest(module: GraphModule, node: Any) -> bool:
    number = _number(module, node)
    return number is not None and number <= LEFT_OUT


def _zero(module: GraphModule, node: Any) -> bool:
    return _number(module, node) == 0.0


def _chosen(build: Builder) -> Node | None:
    """The product of a computed tensor and truth values, also those that became numbers."""
    if len(build.node.args) != 2 or build.node.kwargs:
        return None
    left, right = build.node.args
    if _is_truth(left) and _is_truth(right):
        return build(_aten.logical_and.default, left, right)
    for value, mask in ((left, right), (right, left)):
        if shape_of(value) is None or build.value(value) is not None:
            continue
        made = _Truth(build.module, build.node)
        truth = mask if _is_truth(mask) else _multiple(build.module, made, mask)
        if truth is not None:
            return build(_aten.where.self, truth, value, build.constant(torch.zeros(())))
    return None


def _is_truth(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype is torch.bool


TABLE: Table = {_aten.mul.Tensor: _chosen}
