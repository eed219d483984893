# SPDX-License-Identifier: Apache-2.0
"""Normalizations that a model writes out, said as the operators that stay in codes.

    x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight          an RMS norm
    (x - x.mean(1, keepdim=True)) / torch.sqrt(x.var(1, keepdim=True) + eps)  a layer norm over dimension 1
    F.normalize(x, dim=-1)                                                    an RMS norm by sqrt(n)

In codes of 8 bits their squares and means would lose most of what they hold. Each value of the graph is
followed as a multiple of a tensor x, x less its mean, their squares, the mean of those, or its root; a
quotient of the first two by the last is a norm, in whatever operators it is written.

A number p that is added to a root, or below which it may not fall, is taken as p^2 under it, which
changes the result by less than p / root of it; larger ones than `_MOST_ADDED` stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import getitem
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder, numbers, shape_of

_aten = torch.ops.aten

_MOST_ADDED = 1e-4
_MOST_ELEMENTS = 2**16 - 1  # of a row, as the kernels take it

_SAME = ("to", "_to_copy", "type_as", "alias", "clone", "detach", "contiguous", "detach_")
_SHAPED = ("view", "reshape", "unsqueeze", "squeeze", "_unsafe_view")
_SPREADS = ("var", "std")
_BOTH = ("var_mean", "std_mean")
_NORMS = ("linalg_vector_norm", "norm", "frobenius_norm")


@dataclass(frozen=True)
class _Part:
    """What a node gives, of the tensor `x`: by `kind` a multiple `factor` of

    * "x", itself, or "centred", less its mean over `dims`; times the constant `weight`, if any;
    * "mean": the mean over `dims`;
    * "square": the squares of x, or where it is `centred` of x less its mean;
    * "power", "root", "inverse": f p + e, its root, and one by that, for the mean p over `dims` of the
      squares, factor f and `epsilon` e. A number `added` to the root is beside it.
    """

    kind: str
    x: Node
    dims: tuple[int, ...] = ()
    centred: bool = False
    factor: float = 1.0
    epsilon: float = 0.0
    added: float = 0.0
    weight: Node | None = None
    expanded: bool = False

    @property
    def is_element(self) -> bool:
        return self.kind in ("x", "centred")


def name_norms(module: GraphModule, precision_of: Callable[[Node], object]) -> None:
    """Put the operators in the place of what is written out, in place. The new nodes have shapes.

    Args:
        precision_of: of a call; None for float, which stays as it is written.
    """
    parts: dict[Node, _Part] = {}
    found: list[tuple[Node, _Part, _Part]] = []
    for node in module.graph.nodes:
        if node.op != "call_function":
            continue
        over = _quotient(module, node, parts)
        if over is not None and precision_of(node) is not None:
            found.append((node, *over))
            continue
        part = _part(module, node, parts)
        if part is not None:
            parts[node] = part
    norms: dict[Node, Node] = {}  # by the node whose place it took, which the next one may read
    for node, above, below in found:
        last, norm = _replace(module, node, above, replace(below, x=norms.get(below.x, below.x)))
        norms[last] = norm
    if found:
        module.graph.eliminate_dead_code()
        module.recompile()


def _name(node: Node) -> str:
    return operator_name(node).removeprefix("aten::")


def _of(node: Any, parts: dict[Node, _Part]) -> _Part | None:
    """What a node gives; a float tensor that is nothing else is an x."""
    if not isinstance(node, Node):
        return None
    if node in parts:
        return parts[node]
    return _Part("x", node) if shape_of(node) and node.op != "get_attr" else None


def _number(module: GraphModule, node: Any) -> float | None:
    if isinstance(node, int | float) and not isinstance(node, bool):
        return float(node)
    value = Builder.value_in(module, node)
    one = value is not None and value.numel() == 1 and value.is_floating_point()
    return float(value.reshape(())) if one and value is not None else None


def _part(module: GraphModule, node: Node, parts: dict[Node, _Part]) -> _Part | None:
    name, args = _name(node), node.args
    if node.target is getitem:
        return _one_of_two(node, parts)
    source = _of(args[0], parts) if args else None
    if source is None:
        return _product(module, node, parts) if name == "mul" else None
    if name in _SAME and shape_of(node) == shape_of(args[0]):
        return source
    if name in _SHAPED or name in ("expand", "expand_as"):
        if source.is_element or source.kind == "square":
            return None
        spread = name.startswith("expand")
        return (
            replace(source, expanded=True)
            if spread and _fits(args[0], source)
            else (None if spread else source)
        )
    if name in ("mean", "sum"):
        return _averaged(node, source, mean=name == "mean")
    if name in (*_SPREADS, *_NORMS):
        return _spread(node, source)
    if name == "sub" and len(args) == 2:
        return _centred(args[1], source, parts)
    if name == "square" or (name == "pow" and args[1] == 2):
        return _squared(source)
    if name in ("mul", "div", "add", "clamp_min", "clamp", "sqrt", "rsqrt", "reciprocal", "pow"):
        return _arithmetic(module, node, source, parts)
    return None


def _arithmetic(
    module: GraphModule, node: Node, source: _Part, parts: dict[Node, _Part]
) -> _Part | None:
    name, args = _name(node), node.args
    if name == "sqrt" or (name == "pow" and args[1] == 0.5):
        return replace(source, kind="root") if source.kind == "power" else None
    if name == "rsqrt" or (name == "pow" and args[1] == -0.5):
        return replace(source, kind="inverse") if source.kind == "power" else None
    if name == "reciprocal" or (name == "pow" and args[1] == -1):
        return replace(source, kind="inverse") if source.kind == "root" else None
    by = _number(module, args[1]) if len(args) == 2 and not node.kwargs else None
    if by is None:
        return _product(module, node, parts) if name == "mul" else None
    if name in ("mul", "div"):
        return _multiplied(source, by if name == "mul" else 1 / by if by else 0.0)
    if source.kind == "power" and name == "add" and by >= 0:
        return replace(source, epsilon=source.epsilon + by)
    if source.kind == "root" and name != "pow" and 0 <= by <= _MOST_ADDED and not source.added:
        return replace(source, added=by)
    return None


def _multiplied(part: _Part, by: float) -> _Part | None:
    if by <= 0 or not math.isfinite(by):
        return None
    if part.kind == "power":
        return replace(part, factor=part.factor * by, epsilon=part.epsilon * by)
    if part.kind == "root":
        square = by * by
        return replace(
            part,
            factor=part.factor * square,
            epsilon=part.epsilon * square,
            added=part.added * by,
        )
    if part.kind == "inverse":
        return _multiplied(replace(part, kind="root"), 1 / by) and replace(
            part,
            factor=part.factor / by**2,
            epsilon=part.epsilon / by**2,
            added=part.added / by,
        )
    return None


def _product(module: GraphModule, node: Node, parts: dict[Node, _Part]) -> _Part | None:
    """A square, or x less its mean times a constant."""
    if len(node.args) != 2 or node.kwargs:
        return None
    left, right = (_of(each, parts) for each in node.args)
    if left is not None and left == right and left.is_element:
        return _squared(left)
    for part, other in ((left, node.args[1]), (right, node.args[0])):
        if part is None or part.kind != "centred" or part.weight is not None:
            continue
        if Builder.value_in(module, other) is not None and shape_of(node) == shape_of(part.x):
            return replace(part, weight=other)  # type: ignore[arg-type]
    return None


def _squared(part: _Part) -> _Part | None:
    if not part.is_element or part.weight is not None:
        return None
    return _Part("square", part.x, part.dims, part.kind == "centred")


def _dims(node: Node, rank: int) -> tuple[int, ...]:
    """The dimensions that a call reduces."""
    given = Builder(node.graph.owning_module, node).arguments().get("dim")  # type: ignore[arg-type]
    if given is None or given == []:
        return tuple(range(rank))
    return tuple(sorted({d % rank for d in numbers(given, 1)}))


def _averaged(node: Node, source: _Part, mean: bool) -> _Part | None:
    """A mean or sum, over dimensions of x."""
    shape = shape_of(source.x)
    if not shape or node.kwargs.get("dtype") not in (None, torch.float32):
        return None
    if source.kind not in ("x", "square") or source.weight is not None:
        return None
    dims = _dims(node, len(shape))
    count = math.prod(shape[d] for d in dims)
    factor = 1.0 if mean else float(count)
    if source.kind == "x":
        return _Part("mean", source.x, dims) if mean else None
    if source.centred and source.dims != dims:
        return None
    return _Part("power", source.x, dims, source.centred, factor)


def _spread(node: Node, source: _Part) -> _Part | None:
    """A variance, a standard deviation or a norm of x."""
    name = _name(node)
    shape = shape_of(source.x)
    if source.kind not in ("x", "centred") or source.weight is not None or not shape:
        return None
    args = Builder(node.graph.owning_module, node).arguments()  # type: ignore[arg-type]
    dims = _dims(node, len(shape))
    count = math.prod(shape[d] for d in dims)
    if name in _NORMS:
        order = args.get("ord", args.get("p", 2))
        if order not in (None, 2) or source.kind == "centred" and source.dims != dims:
            return None
        return _Part("root", source.x, dims, source.kind == "centred", float(count))
    correction = args.get("correction")
    if correction is None:
        correction = 1 if args.get("unbiased", True) else 0
    if count <= correction or source.kind == "centred" and source.dims != dims:
        return None
    kind = "power" if name.startswith("var") else "root"
    return _Part(kind, source.x, dims, True, count / (count - correction))


def _one_of_two(node: Node, parts: dict[Node, _Part]) -> _Part | None:
    """The variance or deviation, or the mean, of a call that gives both."""
    both: Any = node.args[0]
    source = _of(both.args[0], parts) if _name(both) in _BOTH else None
    spread = None if source is None else _spread(both, source)
    if spread is None or node.args[1] == 0:
        return spread
    return _Part("mean", spread.x, spread.dims)


def _centred(mean: Any, source: _Part, parts: dict[Node, _Part]) -> _Part | None:
    part = parts.get(mean)
    if source.kind != "x" or source.weight is not None or part is None or part.kind != "mean":
        return None
    return (
        _Part("centred", source.x, part.dims) if part.x is source.x and _fits(mean, part) else None
    )


def _fits(node: Any, part: _Part) -> bool:
    """Whether a value for each row of x is broadcast along the rows."""
    shape, own = shape_of(part.x), node.meta["val"].shape
    if part.expanded:
        return tuple(own) == shape
    if not shape or len(own) > len(shape):
        return False
    kept = [1 if d in part.dims else n for d, n in enumerate(shape)]
    return [1] * (len(shape) - len(own)) + [int(n) for n in own] == kept


def _quotient(
    module: GraphModule, node: Node, parts: dict[Node, _Part]
) -> tuple[_Part, _Part] | None:
    """x, or x less its mean, and the root that it is divided by."""
    name = _name(node)
    if name not in ("mul", "div") or len(node.args) != 2 or node.kwargs:
        return None
    pairs = [node.args] if name == "div" else [node.args, node.args[::-1]]
    for element, scale in pairs:
        below = parts.get(scale)  # type: ignore[arg-type]
        if below is None or below.kind != ("root" if name == "div" else "inverse"):
            continue
        above = _of(element, parts)
        if above is None or not above.is_element or above.x is not below.x:
            continue
        if (above.kind == "centred") != below.centred or not _fits(scale, below):
            continue
        if above.kind == "centred" and above.dims != below.dims:
            continue
        shape = shape_of(below.x) or ()
        if not 1 < math.prod(shape[d] for d in below.dims) <= _MOST_ELEMENTS:
            continue
        if shape_of(node) == shape:
            return above, below
    return None


def _replace(module: GraphModule, node: Node, above: _Part, below: _Part) -> tuple[Node, Node]:
    """The last node of what is written out, and the norm that took its place."""
    build = Builder(module, node)
    x, dims, shape = below.x, below.dims, shape_of(below.x) or ()
    epsilon = (below.epsilon + below.added**2) / below.factor
    gain = below.factor**-0.5
    count = math.prod(shape[d] for d in dims)
    # Images keep their layout in a group norm, whose weights are those of channels.
    channels = len(shape) == 4 and dims in ((2, 3), (1, 2, 3)) and below.centred
    axes = (1,) if channels else dims
    weight: torch.Tensor | None = None
    first = _spread_over(module, above.weight, shape, axes)
    if first is not None:
        weight = first
    last = node
    bias: torch.Tensor | None = None
    while bias is None and (taken := _next(module, last, shape, axes)) is not None:
        after, values = taken
        if _name(after) == "mul":
            weight = values if weight is None else weight * values
        elif below.centred and (above.weight is None or first is not None):
            bias = values
        else:
            break
        last = after
    if gain != 1.0:
        ones = torch.ones(shape[1] if channels else count)
        weight = (ones if weight is None else weight) * gain
    result: Node
    order = [d for d in range(len(shape)) if d not in dims] + list(dims)
    constants = [None if each is None else build.constant(each) for each in (weight, bias)]
    if channels:
        groups = shape[1] if dims == (2, 3) else 1
        result = build(_aten.group_norm.default, x, groups, *constants, epsilon, False)
        result.meta["val"] = node.meta["val"]
    else:
        result = _over_rows(build, x, shape, order, count, constants, epsilon, below.centred)
    if above.weight is not None and first is None:
        result = build(_aten.mul.Tensor, result, above.weight)
        result.meta["val"] = node.meta["val"]
    last.replace_all_uses_with(result)
    return last, result


def _over_rows(
    build: Builder,
    x: Node,
    shape: tuple[int, ...],
    order: list[int],
    count: int,
    constants: list[Node | None],
    epsilon: float,
    centred: bool,
) -> Node:
    """The norm over the last dimensions of x in `order`, `count` elements."""
    value = x.meta["val"]

    def step(target: Any, *args: Any) -> Node:
        nonlocal value
        made = build(target, *args)
        value = target(value, *args[1:])
        made.meta["val"] = value
        return made

    moved = order != list(range(len(shape)))
    rows = step(_aten.permute.default, x, order) if moved else x
    wide = list(value.shape)
    if wide[-1] != count:
        rows = step(_aten.reshape.default, rows, [-1, count])
    weight, bias = constants
    if centred:
        made = build(_aten.layer_norm.default, rows, [count], weight, bias, epsilon, False)
    else:
        made = build(_aten.rms_norm.default, rows, [count], weight, epsilon)
    made.meta["val"] = value
    if wide[-1] != count:
        made = step(_aten.reshape.default, made, wide)
    return (
        step(_aten.permute.default, made, [order.index(d) for d in range(len(shape))])
        if moved
        else made
    )


def _next(
    module: GraphModule, node: Node, shape: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[Node, torch.Tensor] | None:
    """A product with, or sum of, values along `axes` that alone reads `node`, and these values."""
    after = _only_reader(node)
    if after is None or _name(after) not in ("mul", "add") or shape_of(after) != shape:
        return None
    if len(after.args) != 2 or after.kwargs:
        return None
    other = after.args[1] if after.args[0] is _source(node, after) else after.args[0]
    values = _spread_over(module, other, shape, axes)
    return None if values is None else (after, values)


def _only_reader(node: Node) -> Node | None:
    """What alone reads a node, behind what only gives it another name."""
    while len(node.users) == 1:
        (user,) = node.users
        if user.op != "call_function" or _name(user) not in _SAME:
            return user if user.op == "call_function" else None
        node = user
    return None


def _source(node: Node, after: Node) -> Node:
    """The operand of `after` that is `node` by another name."""
    while after not in node.users:
        (node,) = node.users
    return node


def _spread_over(
    module: GraphModule, node: Any, shape: tuple[int, ...], axes: tuple[int, ...]
) -> torch.Tensor | None:
    """A constant that is broadcast to `shape` and differs along `axes` only: a value for each of them."""
    value = Builder.value_in(module, node)
    if value is None and isinstance(node, int | float):
        value = torch.tensor(float(node))
    if value is None or value.dtype is not torch.float32 or value.dim() > len(shape):
        return None
    padded = value.reshape([1] * (len(shape) - value.dim()) + list(value.shape))
    if any(n != 1 for d, n in enumerate(padded.shape) if d not in axes):
        return None
    wanted = [shape[d] if d in axes else 1 for d in range(len(shape))]
    return padded.expand(wanted).reshape(-1)
