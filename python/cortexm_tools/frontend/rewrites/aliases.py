# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch has under a second name: torch.multiply is torch.mul, and torch.clip torch.clamp.

A capture keeps the name that the model took, and rewrites, quantizer and lowering know the other one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule

_aten: Any = torch.ops.aten

_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "fix": "trunc",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_exp2": "exp2",
    "special_expit": "sigmoid",
    "special_expm1": "expm1",
    "special_log1p": "log1p",
    "special_logit": "logit",
    "special_logsumexp": "logsumexp",
    "special_sinc": "sinc",
    "subtract": "sub",
    "true_divide": "div",
}

_ALIASES = {
    getattr(getattr(_aten, name), overload): getattr(getattr(_aten, first), overload)
    for name, first in _NAMES.items()
    for overload in getattr(_aten, name).overloads()
    if overload in getattr(_aten, first).overloads()
}
_ALIASES[_aten.special_softmax.default] = _aten.softmax.int
_ALIASES[_aten.special_log_softmax.default] = _aten.log_softmax.int


def name_plainly(module: GraphModule) -> None:
    """Gives every operator its first name, in place; its arguments are the same."""
    for node in module.graph.nodes:
        if node.target in _ALIASES:
            node.target = _ALIASES[node.target]
