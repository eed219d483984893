# SPDX-License-Identifier: Apache-2.0
"""Ranges too small for the observers of PyTorch, or for a bias.

The scales of observers are at least 2^-23, lest zeros have a scale of zero. Values that are all smaller
than 255 times that (of 16 bits: 0.0078) would have fewer codes than their type, and far smaller ones none
at all.

A bias has the scale of its output's weights times that of the input. Where weights are far smaller than
the bias, as those of an output that training gave up, its code would not fit its type.

Results have steps of their own, however small. Where these are about a unit of the sums that results come
from, or less, as behind an input whose range a few large values take, kernels would have to multiply by 1/2
or more, for which there are only the slowest. Such steps say nothing: that an input's code is off by up
to 1/2 moves a sum by up to half of a weight's code, 63 of these units.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..nodes import operator_name
from ..rewrites.builder import Builder
from .columns import WEIGHTED
from .simulate import grid_of, is_observer

_SOFTMAX = ("aten::softmax", "aten::_softmax", "aten::_safe_softmax")
_PRECISION = float(torch.finfo(torch.float32).eps)
_LEAST_STEP = {torch.int8: 2.0, torch.int16: 4.0}  # of a result in units of its sums, above this


def lower_floors(prepared: GraphModule) -> None:
    """Let every observer in `prepared`, a model of prepare_pt2e after calibration, give its range a scale.

    Where the widest of its ranges has one that is large enough, as nearly always, nothing changes: the
    weights of a dead output stay zero. Nor does it for what a softmax reads: scores that differ by less
    have one share.
    """
    scores = {
        prepared.get_submodule(str(source.target))
        for node in prepared.graph.nodes
        if operator_name(node) in _SOFTMAX
        for source in node.all_input_nodes
        if source.op == "call_module"
    }
    for module in prepared.modules():
        if module in scores:
            continue
        eps = getattr(module, "eps", None)
        if isinstance(eps, torch.Tensor) and hasattr(module, "max_val"):
            widest = _widest(module)
            if 0.0 < widest < float(eps.max()):
                module.register_buffer("eps", torch.full_like(eps, widest * _PRECISION))


def let_biases_fit(prepared: GraphModule) -> None:
    """Let weights in `prepared`, as above, have scales with which the codes of biases leave half of
    their type to the sum of products."""
    modules = dict(prepared.named_modules())
    for node in prepared.graph.nodes:
        derived = modules.get(str(node.target)) if node.op == "call_module" else None
        bias = Builder.value_in(prepared, node.args[0]) if node.args else None
        sources = getattr(derived, "obs_or_fqs", [])
        if derived is None or bias is None or len(sources) != 2:
            continue
        scale, own = derived.calculate_qparams()[0], sources[1].calculate_qparams()[0]
        most = float(torch.iinfo(derived.dtype).max) / 2
        size = bias.abs() if bias.numel() == own.numel() else bias.abs().max()
        excess = size / most / scale
        if bool((excess > 1.0).any()):
            floor = torch.maximum(sources[1].eps, own * excess)
            sources[1].register_buffer("eps", floor)


def coarsen_results(prepared: GraphModule) -> None:
    """Let results of convolutions and linear layers in `prepared`, as above, have no steps so small that
    sums would be multiplied by 1/2 or more, or 1/4 of 16 bits (greatest_shift in kernels.json).

    Where weights of outputs differ that much that these steps would be more than a quarter of the noise
    that the input's rounding adds to one of them, they stay.
    """
    for node in prepared.graph.nodes:
        result = _result(prepared, node) if node.target in WEIGHTED else None
        if result is None or not all(
            isinstance(source, Node) and is_observer(prepared, source) for source in node.args[:2]
        ):
            continue
        least = _LEAST_STEP.get(result.dtype)
        inputs, weights = (grid_of(prepared, source) for source in node.args[:2])
        weight = Builder.value_in(prepared, node.args[1].args[0])
        if inputs is None or weights is None or weight is None or least is None:
            continue
        if prepared.get_submodule(str(node.args[0].target)) is result:  # both would grow
            continue
        step = inputs.step.max()
        floor = step * weights.step.max() * least * (1.0 + 4.0 * _PRECISION)
        size = weight.movedim(weights.axis, 0).flatten(1).norm(dim=1)
        heard = step * size[size > 0.0] / 4.0
        if bool((result.calculate_qparams()[0] < floor).all() and (floor <= heard).all()):
            result.register_buffer("eps", floor.reshape(result.eps.shape).to(result.eps.dtype))


def _result(prepared: GraphModule, node: Node) -> Any:
    """The observer of what `node` gives, as it is or behind a function of one tensor; None without."""
    while len(node.users) == 1:
        node = next(iter(node.users))
        if is_observer(prepared, node):
            observer = prepared.get_submodule(str(node.target))
            return observer if isinstance(getattr(observer, "eps", None), torch.Tensor) else None
        if len(node.all_input_nodes) != 1:
            return None
    return None


def _widest(observer: Any) -> float:
    """The scale with which the codes cover the widest of an observer's ranges; 0 if it saw none."""
    low, high = observer.min_val, observer.max_val
    if low.numel() == 0 or not bool(torch.isfinite(low).all() and torch.isfinite(high).all()):
        return 0.0
    width = high.clamp(min=0.0) - low.clamp(max=0.0)
    return float(width.max()) / float(observer.quant_max - observer.quant_min)
