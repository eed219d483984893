# SPDX-License-Identifier: Apache-2.0
"""Operators that nothing behind the capture knows, written in others that have kernels.

formulas.py says them as functions of tensors. Each is traced on the shapes of the call, and its
operators take the call's place; they have its line and its name in messages. What such a formula
computes from shapes alone (indices, weights) is constant and folded afterwards. Operators on
constants are folded, not decomposed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_unflatten

from .algebra import COMPUTED_KERNELS
from .builder import Builder
from .constants import fold_constants
from .formulas import CODED_FORMULAS, DIVIDED, FLOAT_FORMULAS, FORMULAS, TYPES, Formula
from .places import PLACES, gives_places
from .unary import STAND_IN, apply_steps

_aten: Any = torch.ops.aten

# A formula may have another one's operator.
_MAX_ROUNDS = 4


def decompose(module: GraphModule) -> None:
    """Replace the calls in FORMULAS, in place, and fold the constants. The new calls have their
    shapes."""
    fold_constants(module)
    _replace(module, COMPUTED_KERNELS, lambda call: _of_an_input(call.args[1]))
    _replace(module, PLACES, gives_places)
    for _ in range(_MAX_ROUNDS):
        if not _replace(module, FORMULAS):
            break
        fold_constants(module)


def _of_an_input(value: Any) -> bool:
    """Whether an input has a part in it: the weights of a quantized model are dequantized constants."""
    behind, seen = [value], {value}
    while behind:
        node = behind.pop()
        if node.op == "placeholder":
            return True
        behind += set(node.all_input_nodes) - seen
        seen.update(node.all_input_nodes)
    return False


def decompose_coded(module: GraphModule, precision_of: Callable[[Node], object]) -> None:
    """Replace the calls in CODED_FORMULAS that are not to compute in float, in place. The logarithm of a
    softmax is one of them: codes of small shares tell little of their logarithms.

    Args:
        precision_of: of a call; None for float.
    """
    for log in module.graph.find_nodes(op="call_function", target=_aten.log.default):
        shares: Any = log.args[0]
        if shares.target is _aten.softmax.int:
            log.target, log.args, log.kwargs = _aten.log_softmax.int, shares.args, shares.kwargs
    _replace(module, CODED_FORMULAS, lambda call: precision_of(call) is not None)


def decompose_floats(module: GraphModule) -> bool:
    """Replace the calls in FLOAT_FORMULAS, in place; whether there were any."""
    changed = _replace(module, FLOAT_FORMULAS) > 0
    if changed:
        fold_constants(module)
    return changed


def decompose_unary(module: GraphModule, chosen: Callable[[Node], bool]) -> None:
    """Replace the chosen stand-ins of unary.py by what they stand for, in place."""
    _replace(module, {STAND_IN: apply_steps}, chosen)


def _replace(
    module: GraphModule,
    formulas: dict[Any, Formula],
    chosen: Callable[[Node], bool] = lambda node: True,
) -> int:
    """How many calls were replaced, of the chosen ones."""
    values = [n.meta["val"] for n in module.graph.nodes if n.meta.get("val") is not None]
    mode = detect_fake_mode(values)
    if mode is None:
        return 0
    count = 0
    for node in list(module.graph.nodes):
        target: Any = node.target
        formula = formulas.get(target) if node.op == "call_function" else None
        if formula is None or not chosen(node):
            continue
        traced, inputs = _trace(module, node, formula, mode)
        if traced is not None:
            _inline(module, node, traced, inputs)
            count += 1
    module.graph.eliminate_dead_code()
    module.recompile()
    return count


def _fake(module: GraphModule, node: Node, mode: Any) -> Any:
    value = node.meta.get("val")
    if value is None:
        constant = Builder.value_in(module, node)
        value = None if constant is None else mode.from_tensor(constant, static_shapes=True)
    return value


def _trace(
    module: GraphModule, node: Node, formula: Formula, mode: Any
) -> tuple[GraphModule | None, list[Node]]:
    """The formula's graph on the call's shapes, and what it takes; (None, …) where it declines."""
    leaves, spec = tree_flatten(Builder(module, node).arguments())
    inputs = list(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, Node)))
    fakes = [_fake(module, source, mode) for source in inputs]
    types = TYPES.get(node.target, {torch.float32})
    if not all(isinstance(fake, torch.Tensor) and fake.dtype in types for fake in fakes):
        return None, inputs
    declined = False

    def function(*tensors: torch.Tensor) -> Any:
        nonlocal declined
        given = dict(zip(inputs, tensors, strict=True))
        arguments = tree_unflatten(
            [given[leaf] if isinstance(leaf, Node) else leaf for leaf in leaves], spec
        )
        result = formula(**arguments)
        declined = result is None or not _has_all(node, result)
        return tensors if declined else result

    whole = node.target not in DIVIDED
    try:
        with mode, torch.no_grad():
            traced = make_fx(function, pre_dispatch=whole)(*fakes)
    except Exception:  # of operands that a formula does not foresee: the operator stays
        return None, inputs
    return (None if declined else traced), inputs


def _has_all(node: Node, result: Any) -> bool:
    """Whether `result` has all results of the call that are read."""
    if not isinstance(result, tuple):
        return True
    return all(_number(user) < len(result) for user in node.users)


def _number(user: Node) -> int:
    """Which result a getitem takes."""
    number: Any = user.args[1]
    return int(number)


def _inline(module: GraphModule, node: Node, traced: GraphModule, inputs: list[Node]) -> None:
    build = Builder(module, node)
    placeholders = traced.graph.find_nodes(op="placeholder")
    made: dict[Node, Any] = dict(zip(placeholders, inputs, strict=True))
    result: Any = None
    for inner in traced.graph.nodes:
        if inner.op == "output":
            result = torch.fx.map_arg(inner.args[0], lambda n: made[n])
        elif inner.op == "get_attr":
            value = getattr(traced, str(inner.target))
            made[inner] = build.constant(value)
            made[inner].meta = {**node.meta, "val": inner.meta.get("val", value)}
        elif inner.op == "call_function":
            args, kwargs = torch.fx.map_arg((inner.args, inner.kwargs), lambda n: made[n])
            made[inner] = build(inner.target, *args, **kwargs)
            made[inner].meta["val"] = inner.meta.get("val")
    if isinstance(result, (tuple, list)):
        for user in list(node.users):  # getitem
            user.replace_all_uses_with(result[_number(user)])
            user.graph.erase_node(user)
    else:
        node.replace_all_uses_with(result)
    module.graph.erase_node(node)
