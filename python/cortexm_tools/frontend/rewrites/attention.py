# SPDX-License-Identifier: Apache-2.0
"""Attention in products of matrices, a factor of their results, masks and a softmax.

PyTorch's own decompositions compute in ways that stay in float or cost copies: the factor applied to the
queries, masks as zeros and minus infinity that are added, keys repeated for groups of queries. Here a
factor of an operand becomes one of the product, where the requantization takes it in; a constant that is
added to scores is a bias where it is finite, and a mask, a choice by a constant condition, where it leaves
something out; and groups of queries that share keys are rows of one product.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder, Table, shape_of
from .masks import LEFT_OUT, VANISHING, left_out, opposite
from .reduction import looks_like_an_image
from .unary import scaled

_aten = torch.ops.aten

_PRODUCTS = (_aten.matmul.default, _aten.bmm.default)

_SHARES = (_aten.softmax.int, _aten._softmax.default)

# They change the order or the shape of all elements, or take some.
_MOVES = tuple(
    f"aten::{name}"
    for name in (
        "view reshape _unsafe_view flatten unflatten transpose permute t movedim swapaxes contiguous "
        "clone unsqueeze squeeze expand select slice"
    ).split()
)
_SHAPES = ("aten::view", "aten::reshape", "aten::_unsafe_view", "aten::unsqueeze", "aten::squeeze")


def write_out_scores(module: GraphModule) -> None:
    """Move factors behind products, and say constants that are added to scores as masks, in place. The
    new nodes have their shapes."""
    for node in list(module.graph.nodes):
        if node.target in _PRODUCTS and all(shape_of(each) for each in node.args):
            _move_factors(module, node)
    for node in list(module.graph.nodes):
        if node.target in _SHARES:
            _name_mask(module, node)
        elif node.target is _aten.where.self:
            _choose_number(module, node)
    module.graph.eliminate_dead_code()


def _move_factors(module: GraphModule, product: Node) -> None:
    """(c q) k is c (q k)."""
    factor = 1.0
    for each in product.args:
        operand: Any = each
        while isinstance(operand, Node) and len(operand.users) == 1:
            number = _factor_of(module, operand)
            if number is not None:
                factor *= number
                source: Any = operand.args[0]
                operand.replace_all_uses_with(source)
            elif operator_name(operand) not in _MOVES:
                break
            operand = operand.args[0]
    if factor == 1.0:
        return
    with module.graph.inserting_after(product):
        result = module.graph.call_function(_aten.mul.Tensor, (product, factor))
    result.meta = dict(product.meta)
    product.replace_all_uses_with(result, delete_user_cb=lambda user: user is not result)


def _factor_of(module: GraphModule, node: Node) -> float | None:
    """The positive number that `node` multiplies a tensor of its shape by."""
    name = operator_name(node)
    if name not in ("aten::mul", "aten::div") or len(node.args) != 2 or node.kwargs:
        return None
    source, by = node.args
    number = float(by) if isinstance(by, int | float) else None
    value = Builder.value_in(module, by)
    if value is not None and value.numel() == 1 and value.is_floating_point():
        number = float(value)
    if number is None or not 0 < number < math.inf or shape_of(source) != shape_of(node):
        return None
    if Builder.value_in(module, source) is not None:
        return None
    return number if name == "aten::mul" else 1 / number


def _name_mask(module: GraphModule, softmax: Node) -> None:
    """Of the scores before a softmax."""
    scores: Any = softmax.args[0]
    dim: Any = softmax.args[1]
    shape = shape_of(scores)
    while shape and operator_name(scores) in _SHAPES and len(scores.users) == 1:
        before: Any = scores.args[0]
        inner = shape_of(before)
        if dim not in (-1, len(shape) - 1) or not inner or inner[-1] != shape[-1]:
            return
        scores, shape, dim = before, inner, -1
    source = scores
    added: list[torch.Tensor] = []
    outside: list[Node] = []
    while True:
        if (found := _constant_added(module, source)) is not None:
            source = found[0]
            added += found[1]
        elif (chosen := _mask_added(module, source)) is not None:
            source, out = chosen
            outside.append(out)
        else:
            break
    if source is scores or not shape or shape_of(source) != shape:
        return
    build = Builder(module, scores)
    is_plain = not any(each.any() for each in added)
    result = source if is_plain else masked(build, source, shape, added, int(dim))
    if result is not None:
        for out in outside:
            result = build(_aten.masked_fill.Scalar, result, out, -math.inf)
        result.meta = dict(scores.meta)
        scores.replace_all_uses_with(result)


def _constant_added(module: GraphModule, node: Any) -> tuple[Any, list[torch.Tensor]] | None:
    """What `node`, with one reader, adds a constant to, and the constant: a sum of these."""
    name = operator_name(node)
    if name not in ("aten::add", "aten::sub") or len(node.users) > 1 or node.kwargs:
        return None
    if len(node.args) != 2:
        return None
    left, right = node.args
    if (parts := _constants(module, right)) is not None:
        return left, (parts if name == "aten::add" else [-part for part in parts])
    if name == "aten::add" and (parts := _constants(module, left)) is not None:
        return right, parts
    return None


def _constants(module: GraphModule, node: Any) -> list[torch.Tensor] | None:
    """The constants of float that `node` is the sum of, of shapes that broadcast: their sum may be
    larger than them (the bias and the mask of Swin's shifted windows)."""
    value = Builder.value_in(module, node)
    if value is not None:
        return [value] if value.is_floating_point() else None
    if operator_name(node) != "aten::add" or len(node.args) != 2 or node.kwargs:
        return None
    parts = [_constants(module, each) for each in node.args]
    return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


def _mask_added(module: GraphModule, node: Any) -> tuple[Any, Node] | None:
    """What `node`, with one reader, adds a mask made at run time to, and what that leaves out."""
    if operator_name(node) != "aten::add" or len(node.users) > 1 or node.kwargs:
        return None
    for source, mask in (node.args, node.args[::-1]) if len(node.args) == 2 else ():
        out = left_out(module, mask)
        if out is not None and shape_of(source) == shape_of(node):
            return source, out
    return None


def masked(
    build: Builder, scores: Any, shape: tuple[int, ...], parts: list[torch.Tensor], dim: int
) -> Node | None:
    """`scores` plus constants, with their larger elements as a bias and the others as a mask; None if they
    leave nothing out, or whole rows along `dim` with more than one number.

    Args:
        parts: what is added; or one of truth values, where scores take part.
    """
    is_bool = parts[0].dtype is torch.bool
    out, bias = torch.zeros((), dtype=torch.bool), torch.zeros(())
    for part in parts:
        gone = ~part if is_bool else part <= LEFT_OUT
        out = out | gone if gone.any() else out
        rest = torch.zeros(()) if is_bool else torch.where(gone, 0.0, part)
        bias = bias + rest if rest.any() else bias
    rows = out.broadcast_to(shape).all(dim, keepdim=True)
    if not out.any() or not bias.isfinite().all():
        return None
    if rows.any():
        equal = None if is_bool else _made_equal(parts, shape, rows, dim)
        if equal is None:
            return None
        if equal.any():
            scores = build(_aten.masked_fill.Scalar, scores, build.constant(equal), 0.0)
        out = out & ~rows
        if not out.any() and not bias.any():
            source: Node = scores
            return source
    if bias.any():
        scores = _biased(build, scores, bias)
    else:
        scores = _unmultiplied(build, scores, shape, out)
    return build(_aten.masked_fill.Scalar, scores, build.constant(out), -math.inf)


def _made_equal(
    parts: list[torch.Tensor], shape: tuple[int, ...], rows: torch.Tensor, dim: int
) -> torch.Tensor | None:
    """Those of `rows` (of one element along `dim`) in which nothing of the scores is left in a float beside
    what is added. Less, such as -1e4, only moves them, which changes no share. None if what is added to one
    of `rows` is not one number."""
    added = torch.zeros(shape)
    for part in parts:
        added = added + part
    least, most = added.aminmax(dim=dim, keepdim=True)
    if not (~rows | (least == most) & most.isfinite()).all():
        return None
    return rows & (most <= VANISHING)


def _biased(build: Builder, scores: Any, bias: torch.Tensor) -> Node:
    return build(_aten.add.Tensor, scores, build.constant(bias))


def _unmultiplied(build: Builder, scores: Any, shape: tuple[int, ...], out: torch.Tensor) -> Any:
    """`scores`, or what they are a product of, if that only changes what is left out."""
    if operator_name(scores) != "aten::mul" or len(scores.users) > 1 or scores.kwargs:
        return scores
    for source, by in (scores.args, scores.args[::-1]):
        value = build.value(by)
        if value is None or shape_of(source) != shape:
            continue
        if bool(((value == 1) | out).all()):
            return source
    return scores


def _choose_number(module: GraphModule, node: Node) -> None:
    """A choice between a tensor and a constant of one element is one with a number."""
    for number, target in ((2, _aten.where.ScalarOther), (1, _aten.where.ScalarSelf)):
        value = Builder.value_in(module, node.args[number])
        other = shape_of(node.args[3 - number])
        if value is not None and value.numel() == 1 and value.dtype is torch.float32:
            if other == shape_of(node):
                node.target = target
                node.update_arg(number, float(value))
                return


def _attention(build: Builder) -> Node | None:
    """Scaled dot-product attention as two batched products and a softmax."""
    args = build.arguments()
    query, key, value = (shape_of(args[n]) for n in ("query", "key", "value"))
    if not query or not key or not value or len(query) < 3 or args["dropout_p"]:
        return None
    if key[:-2] != value[:-2]:
        return None
    grouped = query[:-2] != key[:-2]
    if grouped and not (args.get("enable_gqa") and query[:-3] == key[:-3]):
        return None
    if grouped and query[-3] % key[-3]:
        return None
    mask = _mask_of(build, args, query[-2], key[-2])
    nothing = None
    if mask is not None and mask[0].dtype is torch.bool and mask[0].all():
        args, mask = args | {"attn_mask": None}, None  # it leaves out nothing
    if mask is not None and len(mask) == 1:
        attended, nothing = _attended(mask[0])
        mask = [attended]
    out = None if mask is not None else _made_mask(build, args["attn_mask"])
    if mask is None and out is None and args["attn_mask"] is not None:
        return None
    batch = math.prod(key[:-2])
    rows, width = math.prod(query[:-1]) // batch, query[-1]
    flat = [
        build(_aten.reshape.default, args[n], s)
        for n, s in (
            ("query", [batch, rows, width]),
            ("key", [batch, *key[-2:]]),
            ("value", [batch, *value[-2:]]),
        )
    ]
    turned = build(_aten.transpose.int, flat[1], 1, 2)
    scale = 1 / math.sqrt(width) if args["scale"] is None else float(args["scale"])
    scores = scaled(build, build(_aten.bmm.default, flat[0], turned), scale)
    if mask is not None or out is not None:
        shape = (*query[:-1], key[-2])
        scores = build(_aten.reshape.default, scores, list(shape))
        if mask is None:
            scores = build(_aten.masked_fill.Scalar, scores, out, -math.inf)
        elif mask[0].dtype is torch.bool or any((each <= LEFT_OUT).any() for each in mask):
            left = masked(build, scores, shape, mask, -1)
            if left is None:
                return None
            scores = left
        elif any(each.any() for each in mask):
            scores = _biased(build, scores, sum(mask[1:], mask[0]))
        flat_shape = [batch, rows, key[-2]]
        if looks_like_an_image(shape):
            scores = build(_aten.reshape.default, scores, flat_shape)
        shares = build(_aten.softmax.int, scores, -1)
        shares = build(_aten.reshape.default, shares, flat_shape)
    else:
        shares = build(_aten.softmax.int, scores, -1)
    result = build(_aten.bmm.default, shares, flat[2])
    result = build(_aten.reshape.default, result, [*query[:-1], value[-1]])
    if nothing is not None:
        result = build(_aten.masked_fill.Scalar, result, build.constant(nothing), 0.0)
    return result


def _mask_of(
    build: Builder, args: dict[str, Any], rows: int, columns: int
) -> list[torch.Tensor] | None:
    """The constant mask: what takes part, or the parts of what is added; None if there is none."""
    if args["is_causal"]:
        return [torch.ones(rows, columns, dtype=torch.bool).tril()]
    mask = build.value(args["attn_mask"])
    if mask is not None and mask.dtype is torch.bool:
        return [mask]
    return _constants(build.module, args["attn_mask"])


def _attended(mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """A constant mask without the rows that leave out everything, and these rows, if there are any: what
    they give is zero."""
    is_out = ~mask if mask.dtype is torch.bool else mask == -math.inf
    rows = is_out.all(-1, keepdim=True)
    if not rows.any():
        return mask, None
    return (mask | rows if mask.dtype is torch.bool else torch.where(rows, 0.0, mask)), rows


def _made_mask(build: Builder, mask: Any) -> Node | None:
    """What a mask made at run time leaves out; None if there is none, or no telling."""
    value = mask.meta.get("val") if isinstance(mask, Node) else None
    if value is None:
        return None
    if value.dtype is torch.bool:
        return opposite(build.module, build.node, mask)
    return left_out(build.module, mask)


TABLE: Table = {
    _aten.scaled_dot_product_attention.default: _attention,
}
