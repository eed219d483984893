# SPDX-License-Identifier: Apache-2.0
"""Sums of products with constants, as an SVDF layer weights its memory over time and adds its ranks.

They are a depthwise convolution whose windows are all there is, or a linear layer if all rows have the same
weights. A sum of such sums, over a part of the dimension that the first ones keep, is one sum. Codes are
then rounded once, behind it, and a constant that is added is its bias.

The image is a view of what is weighted wherever the summed dimensions lie, so that a memory can be kept as
the convolution reads it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .builder import Builder, Table, numbers, shape_of

_aten = torch.ops.aten

_ONE_PIXEL = "cortexm_one_pixel"  # key in the meta of convolutions whose results are [n, c, 1, 1]

_LONGEST = 1 << 16  # 127 * 128 * n must stay below 2**31

_SUMS = (_aten.sum.dim_IntList,)
_RESHAPES = (_aten.view.default, _aten.reshape.default, _aten._unsafe_view.default)
_SQUEEZES = (
    _aten.squeeze.default,
    _aten.squeeze.dim,
    _aten.squeeze.dims,
    _aten.unsqueeze.default,
    _aten.flatten.using_ints,
)


@dataclass(frozen=True)
class _Products:
    """sum over `summed` of x * weight.

    Attributes:
        x: of any shape.
        shape: in which x is read.
        weight: broadcasts to it, with as many dimensions.
        summed: dimensions of it.
    """

    x: Node
    shape: tuple[int, ...]
    weight: torch.Tensor
    summed: frozenset[int]

    @property
    def kept(self) -> list[int]:
        """The other dimensions."""
        return [d for d in range(len(self.shape)) if d not in self.summed]


def weighted_sum(build: Builder) -> Node | None:
    """The replacement of a sum, if it is one of products with constants."""
    found = _products(build.module, build.node)
    shape = shape_of(build.node)
    if found is None or shape is None:
        return None
    result = _linear(build, found) or _depthwise(build, found)
    return None if result is None else build(_aten.reshape.default, result, list(shape))


def is_part_of_another(module: GraphModule, node: Node) -> bool:
    """Whether the sum of products `node` is only a part of another one."""
    if node.target not in _SUMS or len(node.users) != 1:
        return False
    (view,) = node.users
    if view.target not in _RESHAPES or len(view.users) != 1:
        return False
    (outer,) = view.users
    return outer.target in _SUMS and _products(module, outer) is not None


def _products(module: GraphModule, node: Node) -> _Products | None:
    """What a sum adds up."""
    if node.target not in _SUMS or len(node.args) < 2 or node.kwargs.get("dtype") is not None:
        return None
    terms, shape = node.args[0], shape_of(node.args[0])
    if not isinstance(terms, Node) or not shape or len(terms.users) != 1:
        return None
    dims: Any = node.args[1]
    summed = frozenset(d % len(shape) for d in numbers(dims, 1)) if dims else frozenset()
    if not summed:
        return None
    if terms.target is _aten.mul.Tensor:
        return _product(module, terms, shape, summed)
    if terms.target in _RESHAPES and isinstance(terms.args[0], Node):
        return _sums_of(module, terms.args[0], shape, summed)
    return None


def _product(
    module: GraphModule, terms: Node, shape: tuple[int, ...], summed: frozenset[int]
) -> _Products | None:
    first, second = terms.args[:2]
    for x, constant in ((first, second), (second, first)):
        weight = Builder.value_in(module, constant)
        if weight is None or weight.dtype != torch.float32 or shape_of(x) != shape:
            continue
        if not isinstance(x, Node) or weight.dim() > len(shape):
            continue
        missing = len(shape) - weight.dim()
        return _Products(x, shape, weight.reshape((1,) * missing + tuple(weight.shape)), summed)
    return None


def _sums_of(
    module: GraphModule, inner: Node, shape: tuple[int, ...], summed: frozenset[int]
) -> _Products | None:
    """The sum over dimensions of sums, or products, in another shape, in which one dimension they keep is
    divided."""
    given = shape_of(inner)
    if inner.target is _aten.mul.Tensor and given:
        found = _product(module, inner, given, frozenset())
    else:
        found = _products(module, inner)
    if found is None or len(inner.users) != 1:
        return None
    sizes = [found.shape[d] for d in found.kept]
    if len(inner.args) > 2 and inner.args[2]:  # keepdim
        return None
    parts = _divided(sizes, shape)
    if parts is None:
        return None
    place, count = parts
    at = found.kept[place]
    pieces = list(shape[place : place + count])
    divided = [*found.shape[:at], *pieces, *found.shape[at + 1 :]]
    own = list(found.weight.shape)
    inside = pieces if own[at] > 1 else [1] * count
    weight = found.weight.reshape([*own[:at], *inside, *own[at + 1 :]])
    # Where each dimension of the old and of the new shape is now.
    old = {d: d if d < at else d + count - 1 for d in range(len(found.shape))}
    new = [
        old[found.kept[k]] if k < place else at + k - place
        if k < place + count else old[found.kept[k - count + 1]]
        for k in range(len(shape))
    ]  # fmt: skip
    sums = frozenset({old[d] for d in found.summed} | {new[d] for d in summed})
    return replace(found, shape=tuple(divided), weight=weight, summed=sums)


def _divided(sizes: list[int], shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Which of `sizes` is several dimensions of `shape`, and how many; None if that is not all."""
    count = len(shape) - len(sizes) + 1
    if count < 1:
        return None
    for place, size in enumerate(sizes):
        expected = [*sizes[:place], *shape[place : place + count], *sizes[place + 1 :]]
        if list(shape) == expected and math.prod(shape[place : place + count]) == size:
            return place, count
    return None


def _linear(build: Builder, found: _Products) -> Node | None:
    """If all rows have the same weights, and what is added up comes last."""
    first = len(found.shape) - len(found.summed)
    if set(range(first, len(found.shape))) != found.summed:
        return None
    if any(found.weight.shape[d] > 1 for d in found.kept):
        return None
    dims = found.shape[first:]
    length = math.prod(dims)
    if not 1 < length <= _LONGEST:
        return None
    table = found.weight.reshape(found.weight.shape[first:]).expand(dims).reshape(1, length)
    flat = build(_aten.reshape.default, found.x, [-1, length])
    return build(_aten.linear.default, flat, build.constant(table))


def _depthwise(build: Builder, found: _Products) -> Node | None:
    """A depthwise convolution: images, channels (whose weights differ) and at most two pieces that are added
    up, in any order but that images come before channels."""
    kinds = []
    for d in range(len(found.shape)):
        if d in found.summed:
            kinds.append("s")
        else:
            kinds.append("c" if found.weight.shape[d] > 1 or "c" in kinds else "n")
    runs: list[tuple[str, list[int]]] = []
    for d, kind in enumerate(kinds):
        if runs and runs[-1][0] == kind and (kind != "s" or kinds.count("s") > 2):
            runs[-1][1].append(d)
        else:
            runs.append((kind, [d]))
    names = [kind for kind, _ in runs]
    sums = names.count("s")
    if names.count("c") != 1 or names.count("n") > 1 or not 1 <= sums <= 2:
        return None
    sizes = [math.prod(found.shape[d] for d in dims) for _, dims in runs]
    if "n" not in names:
        names, sizes = ["n", *names], [1, *sizes]
    if sums == 1:  # a row of pixels, or of one image
        place = 1 if names[1] == "s" else 2
        names, sizes = [*names[:place], "s", *names[place:]], [*sizes[:place], 1, *sizes[place:]]
    order = [names.index("n"), names.index("c"), *(i for i in range(4) if names[i] == "s")]
    images, channels, height, width = (sizes[i] for i in order)
    if height * width > _LONGEST:
        return None
    x = build(_aten.reshape.default, found.x, sizes)
    table = found.weight.expand(
        [1 if kind == "n" else n for kind, n in zip(kinds, found.shape, strict=True)]
    )
    table = table.reshape([1 if name == "n" else n for name, n in zip(names, sizes, strict=True)])
    if order != [0, 1, 2, 3]:
        x = build(_aten.permute.default, x, order)
        table = table.permute(order)
    filters = build.constant(table.reshape(channels, 1, height, width))
    settings = [1, 1], [0, 0], [1, 1], channels
    made = build(_aten.conv2d.default, x, filters, None, *settings)
    made.meta[_ONE_PIXEL] = True
    return made


def _add(build: Builder) -> Node | None:
    """A constant for each output, added to the results of a layer without biases."""
    args = build.arguments()
    shape = shape_of(build.node)
    if not shape or args["alpha"] != 1:
        return None
    for x, constant in ((args["self"], args["other"]), (args["other"], args["self"])):
        bias = build.value(constant)
        if bias is None or bias.dtype != torch.float32 or shape_of(x) != shape:
            continue
        layer, moves = _layer(x)
        weight = None if layer is None else build.value(layer.args[1])
        if layer is None or weight is None or (len(layer.args) > 2 and layer.args[2] is not None):
            continue
        outputs = int(weight.shape[0])
        if math.prod(shape) == outputs:  # one row
            row = bias.expand(shape).reshape(outputs)
        elif not (layer.target is _aten.linear.default or _ONE_PIXEL in layer.meta):
            continue
        elif bias.numel() == outputs == shape[-1] == bias.shape[-1] and not moves[1:]:
            row = bias.reshape(outputs)
        else:
            continue
        operands = *layer.args[:2], build.constant(row), *layer.args[3:]
        return _again(build, moves, build(layer.target, *operands))
    return None


def _relu(build: Builder) -> Node | None:
    """Behind the layer itself, into which it is taken there."""
    layer, moves = _layer(build.arguments()["self"])
    if layer is None or not moves:
        return None
    return _again(build, moves, build(_aten.relu.default, layer))


def _layer(x: Any) -> tuple[Node | None, list[Node]]:
    """The linear layer or convolution of this module whose results, all in their order, `x` is a view of, and
    the operators in between; nothing else reads any of them."""
    moves: list[Node] = []
    while isinstance(x, Node) and len(x.users) == 1 and _keeps_order(x):
        moves.insert(0, x)
        x = x.args[0]
    if not isinstance(x, Node) or len(x.users) != 1 or x.kwargs:
        return None, []
    if x.target is _aten.conv2d.default and shape_of(x) is None:  # of no other module
        return x, moves
    return (x, moves) if x.target is _aten.linear.default else (None, [])


def _keeps_order(node: Node) -> bool:
    """Whether it only says in another shape what it reads."""
    if node.target in (*_RESHAPES, *_SQUEEZES):
        return True
    source, shape = node.args[0] if node.args else None, shape_of(node)
    given = shape_of(source)
    if not given or not shape:
        return False
    if node.target in (_aten.select.int, _aten.slice.Tensor):
        return math.prod(given) == math.prod(shape)
    if node.target is _aten.permute.default:
        dims: Any = node.args[1]
        order = [int(d) % len(given) for d in dims]
    elif node.target is _aten.transpose.int:
        order = list(range(len(given)))
        a, b = (int(d) % len(given) for d in node.args[1:3])  # type: ignore[arg-type]
        order[a], order[b] = b, a
    else:
        return False
    large = [d for d in order if given[d] > 1]
    return large == sorted(large)


def _again(build: Builder, moves: list[Node], x: Node) -> Node:
    for node in moves:
        target: Any = node.target
        x = build(target, x, *node.args[1:], **node.kwargs)
    return x


def rows_by_columns(build: Builder, x: Any, shape: tuple[int, ...], weight: torch.Tensor) -> Node:
    """Each matrix [n, k] of a stack x times its column of `weight`, [stack, k]: a depthwise convolution."""
    stack, inner = weight.shape
    if shape[-2] == 1:
        images = build(_aten.reshape.default, x, [1, stack, 1, inner])
    else:
        turned = build(
            _aten.permute.default, build(_aten.reshape.default, x, [stack, -1, inner]), [1, 0, 2]
        )
        images = build(_aten.reshape.default, turned, [shape[-2], stack, 1, inner])
    filters = build.constant(weight.reshape(stack, 1, 1, inner))
    settings = [1, 1], [0, 0], [1, 1], stack
    sums = build(_aten.conv2d.default, images, filters, None, *settings)
    if shape[-2] != 1:
        rows = build(_aten.reshape.default, sums, [shape[-2], stack])
        sums = build(_aten.permute.default, rows, [1, 0])
    return build(_aten.reshape.default, sums, [*shape[:-1], 1])


TABLE: Table = {_aten.add.Tensor: _add, _aten.relu.default: _relu}
