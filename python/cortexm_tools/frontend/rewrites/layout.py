# SPDX-License-Identifier: Apache-2.0
"""Give ExecuTorch's quantizer the shapes and memory orders that its operators demand.

* A convolution is quantized only if its result lies in channels_last order. Where a reshape or
  permutation before it, with weights whose order is ambiguous, would make PyTorch compute in
  another order, the input is copied to channels_last first. The copy moves codes; the plan, which
  chooses its own orders, drops it.
* Arithmetic on two tensors of different shapes is quantized only for one value a channel in
  channels_last order. An image that is not at once what a convolution, a pool or a function of one gives is
  copied to it: what ExecuTorch makes of a permutation, a part or an expansion is contiguous, whatever
  PyTorch's strides say. In other cases the smaller one is expanded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from .unary import ELEMENTWISE, STAND_IN

_aten = torch.ops.aten

_CONVOLUTIONS = {_aten.conv2d.default, _aten.conv_transpose2d.input}
_ARITHMETIC = {
    _aten.add.Tensor, _aten.sub.Tensor, _aten.mul.Tensor, _aten.div.Tensor,
    _aten.add_.Tensor, _aten.sub_.Tensor, _aten.mul_.Tensor, _aten.div_.Tensor,
}  # fmt: skip
_IN_ORDER = {
    *_CONVOLUTIONS, _aten.max_pool2d.default, _aten.avg_pool2d.default, _aten.upsample_bilinear2d.vec,
}  # fmt: skip
_COMMUTATIVE = {_aten.add.Tensor, _aten.mul.Tensor, _aten.add_.Tensor, _aten.mul_.Tensor}


def fit_layouts(module: GraphModule) -> None:
    """Insert the copies and expansions, in place, with renewed metadata."""
    mode = detect_fake_mode([n.meta["val"] for n in module.graph.nodes if "val" in n.meta])
    if mode is None:
        return
    changed = False
    with mode:
        for node in list(module.graph.nodes):
            if node.op != "call_function":
                continue
            if changed:
                _renew(node)
            if node.target in _CONVOLUTIONS and not _is_channels_last(node):
                changed |= _order(node, node.args[0])
            elif node.target in _ARITHMETIC and _needs_expansion(node):
                changed |= _expand(node)
            elif node.target in _ARITHMETIC and (image := _unordered(node)) is not None:
                changed |= _order(node, image)
    if changed:
        module.recompile()


def _value(node: object) -> Any:
    return node.meta.get("val") if isinstance(node, Node) else None


def _renew(node: Node) -> None:
    target: Any = node.target
    known = all("val" in n.meta for n in node.all_input_nodes)
    if known:
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
        node.meta["val"] = target(*args, **kwargs)


def _is_channels_last(node: object) -> bool:
    from executorch.backends.cortex_m.passes.passes_utils import is_channels_last

    value = _value(node)
    return isinstance(value, torch.Tensor) and bool(is_channels_last(value))


def _insert(node: Node, target: Any, *args: Any, **kwargs: Any) -> Node:
    with node.graph.inserting_before(node):
        call = node.graph.call_function(target, args, kwargs)
    call.meta = {k: v for k, v in node.meta.items() if k not in ("val", "tensor_meta", "custom")}
    _renew(call)
    return call


def _order(node: Node, source: Any) -> bool:
    """Gives `node` a copy of an input in channels_last order."""
    value = _value(source)
    if not isinstance(value, torch.Tensor) or value.dtype != torch.float32 or value.dim() != 4:
        return False
    copy = _insert(node, _aten.clone.default, source, memory_format=torch.channels_last)
    node.replace_input_with(source, copy)
    _renew(node)
    return True


def _needs_expansion(node: Node) -> bool:
    left, right = _value(node.args[0]), _value(node.args[1])
    if not isinstance(left, torch.Tensor) or not isinstance(right, torch.Tensor):
        return False
    if left.dtype != torch.float32 or right.dtype != torch.float32 or left.shape == right.shape:
        return False
    if node.target in _COMMUTATIVE and left.dim() == right.dim() == 4:
        per_channel = left.shape[1] == right.shape[1] and (
            left.numel() == left.shape[1] or right.numel() == right.shape[1]
        )
        return not (
            per_channel and _is_channels_last(node.args[0]) and _is_channels_last(node.args[1])
        )
    return True


def _unordered(node: Node) -> Node | None:
    """The image of an operator on it and one value a channel, where it may lie in another order."""
    shape = node.meta["val"].shape if _value(node) is not None else ()
    images = [each for each in node.all_input_nodes if _shape(each) == shape]
    if len(shape) != 4 or len(images) != 1 or len(node.all_input_nodes) != 2:
        return None
    waiting, seen = list(images), set(images)
    while waiting:
        each = waiting.pop()
        if each.op == "call_function" and each.target not in _IN_ORDER and not _is_ordered(each):
            if each.target is not STAND_IN and operator_name(each) not in ELEMENTWISE:
                return images[0]
            more = {n for n in each.all_input_nodes if n not in seen and _shape(n) == shape}
            seen.update(more)
            waiting += more
    return None


def _is_ordered(copy: Node) -> bool:
    return copy.kwargs.get("memory_format") is torch.channels_last


def _shape(node: Node) -> Any:
    value = _value(node)
    return value.shape if isinstance(value, torch.Tensor) else None


def _expand(node: Node) -> bool:
    shape = list(node.meta["val"].shape)
    for argument in list(node.args[:2]):
        value = _value(argument)
        if isinstance(argument, Node) and list(value.shape) != shape:
            node.replace_input_with(argument, _insert(node, _aten.expand.default, argument, shape))
    return True
