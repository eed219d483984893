# SPDX-License-Identifier: Apache-2.0
"""Functions of one tensor, however many operators they are written in, as one operator.

On int8 such a function has 256 results and becomes a look-up (lower/tables.py), whether it is a
multiplication by a number or ``x * tanh(softplus(x))``. Until then a stand-in, the operator
``cortexm_tools::unary``, carries the function as text, a JSON list of steps::

    [operator, arguments, keyword arguments]

in which {"v": k} is step k's result and {"v": -1} the argument. The last step gives the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .builder import Builder, shape_of

_aten = torch.ops.aten

_NAMES = (
    "add sub rsub mul div pow neg abs exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal "
    "square sin cos tan asin acos atan sinh cosh asinh acosh atanh erf erfc tanh sigmoid logit "
    "relu relu6 leaky_relu elu celu selu gelu silu mish softplus hardswish hardsigmoid hardtanh "
    "hardshrink softshrink threshold clamp clamp_min clamp_max floor ceil round trunc sign "
    "log_sigmoid log_sigmoid_forward frac sinc deg2rad rad2deg nan_to_num eq ne lt le gt ge where clone"
).split()
ELEMENTWISE = frozenset(f"aten::{name}" for name in _NAMES)

# On their own these are quantized as they are, or fused into what comes before them.
_KNOWN = frozenset(
    f"aten::{name}"
    for name in (
        "relu relu6 hardtanh hardsigmoid hardswish clamp sigmoid tanh silu gelu log log2 log10 "
        "log1p sqrt rsqrt leaky_relu elu exp neg abs clone"
    ).split()
)
_FUSED = frozenset(f"aten::{n}" for n in ("relu", "relu6", "hardtanh", "hardsigmoid", "clamp"))
_FUSING = frozenset(
    f"aten::{n}" for n in ("conv1d", "conv2d", "conv_transpose2d", "linear", "add", "sub",
                           "max_pool2d", "batch_norm")
)  # fmt: skip
_BINARY = frozenset(f"aten::{name}" for name in ("add", "sub", "mul", "div"))


def apply_steps(x: torch.Tensor, steps: str) -> torch.Tensor:
    """The function that `steps` describes of each element of `x`."""
    values: dict[int, torch.Tensor] = {-1: x}

    def resolve(argument: Any) -> Any:
        return values[argument["v"]] if isinstance(argument, dict) else argument

    for k, (name, args, kwargs) in enumerate(json.loads(steps)):
        namespace, operator, overload = name.split(".")
        target = getattr(getattr(getattr(torch.ops, namespace), operator), overload)
        values[k] = target(*map(resolve, args), **{n: resolve(v) for n, v in kwargs.items()})
    return values[len(values) - 2]


@torch.library.custom_op("cortexm_tools::unary", mutates_args=())
def unary(x: torch.Tensor, steps: str) -> torch.Tensor:
    """`apply_steps`, in memory of its own."""
    result = apply_steps(x, steps)
    return result.clone() if result is x else result


@unary.register_fake
def _(x: torch.Tensor, steps: str) -> torch.Tensor:
    return torch.empty_like(x)


STAND_IN = torch.ops.cortexm_tools.unary.default


def scaled(build: Builder, x: Node, factor: float) -> Node:
    """`x` times a number."""
    return build(STAND_IN, x, json.dumps([["aten.mul.Tensor", [{"v": -1}, factor], {}]]))


def join_unary(
    module: GraphModule, precision_of: Callable[[Node], object] = lambda node: ""
) -> None:
    """Replace every function of one float32 tensor by the stand-in, in place.

    Args:
        precision_of: of a call; those of several precisions are not joined, and those of none stay
            as they are.
    """
    roots: dict[Node, Node] = {}
    for node in module.graph.nodes:
        if (precision := precision_of(node)) is None:
            continue
        joined = [n for n in node.all_input_nodes if n in roots and precision_of(n) == precision]
        root = _root(module, node, {n: roots[n] for n in joined})
        if root is not None:
            roots[node] = root
    for node in reversed(module.graph.nodes):  # what is compared for others alone has to be there
        if node in roots and shape_of(node) is None:
            if all(roots.get(user) is not roots[node] for user in node.users):
                del roots[node]
    for node in list(module.graph.nodes):
        if node not in roots or shape_of(node) is None:
            continue
        inner = [user for user in node.users if roots.get(user) is roots[node]]
        if len(inner) == len(node.users) and node.users:
            continue  # every reader computes it itself
        steps = _steps(module, node, roots)
        if len(steps) == 1 and _is_known(node):
            continue
        text = json.dumps([step for _, step in steps])
        replacement = Builder(module, node)(STAND_IN, roots[node], text)
        replacement.meta["val"] = node.meta["val"]
        outside = [user for user in node.users if user not in inner]
        for user in outside:
            user.replace_input_with(node, replacement)
        roots |= {each: replacement for each, root in roots.items() if root is node}
    module.graph.eliminate_dead_code()
    module.recompile()


def _plain(node: Node) -> str:
    """The operator's name without the mark of in-place operators."""
    name = operator_name(node)
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def _number(module: GraphModule, argument: object) -> float | None:
    """A scalar constant of the graph as a number."""
    value = Builder.value_in(module, argument)
    if value is None or value.numel() != 1 or value.dim() > 1:
        return None
    return float(value.reshape(()).item()) if value.is_floating_point() else None


def _root(module: GraphModule, node: Node, roots: dict[Node, Node]) -> Node | None:
    """The one tensor that `node` is an element-wise function of."""
    if operator_name(node) not in ELEMENTWISE or not isinstance(node.meta.get("val"), torch.Tensor):
        return None
    if not all(_is_plain(a) for a in (*node.args, *node.kwargs.values())):
        return None
    tensors = [n for n in node.all_input_nodes if _number(module, n) is None]
    found = {roots.get(n, n) for n in tensors}
    if len(found) != 1:
        return None
    root = found.pop()
    shape = shape_of(root)
    if shape is None or Builder.value_in(module, root) is not None:
        return None
    if tuple(node.meta["val"].shape) != shape:
        return None
    alone = operator_name(node) in _FUSED and len(root.users) == 1
    return None if alone and _plain(root) in _FUSING and tensors == [root] else root


def _is_plain(argument: object) -> bool:
    if isinstance(argument, Node) or argument is None:
        return True
    return isinstance(argument, (bool, int, float, str))


def _is_known(node: Node) -> bool:
    name = operator_name(node)
    if name in _BINARY:
        return all(isinstance(a, Node) for a in node.args[:2]) and len(node.all_input_nodes) == 1
    return name in _KNOWN


def _steps(
    module: GraphModule, node: Node, roots: dict[Node, Node]
) -> list[tuple[Node, list[Any]]]:
    """The steps from the root to `node`, in order."""
    root, order = roots[node], []
    pending, wanted = [node], {node}
    while pending:
        current = pending.pop()
        for each in current.all_input_nodes:
            if roots.get(each) is root and each not in wanted:
                wanted.add(each)
                pending.append(each)
    for each in module.graph.nodes:
        if each in wanted:
            order.append(each)
    numbers = {each: k for k, each in enumerate(order)} | {root: -1}

    def argument(value: object) -> object:
        if not isinstance(value, Node):
            return value
        return {"v": numbers[value]} if value in numbers else _number(module, value)

    steps = []
    for each in order:
        args = [argument(a) for a in each.args]
        kwargs = {k: argument(v) for k, v in each.kwargs.items()}
        steps.append((each, [str(_taking_numbers(each, args)), args, kwargs]))
    return steps


def _taking_numbers(call: Node, args: list[object]) -> Any:
    """The overload of the call's operator that takes numbers where constants are in its arguments."""
    target: Any = call.target
    if operator_name(call) in _BINARY:  # take numbers for tensors
        return target

    def takes(overload: Any) -> bool:
        types = [str(each.type) for each in overload._schema.arguments[: len(args)]]
        return len(types) == len(args) and all(
            isinstance(given, dict) == ("Tensor" in kind)
            for kind, given in zip(types, args, strict=True)
        )

    packet = target.overloadpacket
    others = [getattr(packet, name) for name in packet.overloads() if "out" not in name]
    return next(filter(takes, [target, *others]), target)
