# SPDX-License-Identifier: Apache-2.0
"""Ranges too small for the observers of PyTorch, or for a bias.

The scales of observers are at least 2^-23, lest zeros have a scale of zero. Values that are all smaller
than 255 times that (of 16 bits: 0.0078) would have fewer codes than their type, and far smaller ones none
at all.

A bias has the scale of its output's weights times that of the input. Where weights are far smaller than
the bias, as those of an output that training gave up, its code would not fit its type.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule

from ..nodes import operator_name
from ..rewrites.builder import Builder

_SOFTMAX = ("aten::softmax", "aten::_softmax", "aten::_safe_softmax")
_PRECISION = float(torch.finfo(torch.float32).eps)


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


def _widest(observer: Any) -> float:
    """The scale with which the codes cover the widest of an observer's ranges; 0 if it saw none."""
    low, high = observer.min_val, observer.max_val
    if low.numel() == 0 or not bool(torch.isfinite(low).all() and torch.isfinite(high).all()):
        return 0.0
    width = high.clamp(min=0.0) - low.clamp(max=0.0)
    return float(width.max()) / float(observer.quant_max - observer.quant_min)
