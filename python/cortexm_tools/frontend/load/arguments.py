# SPDX-License-Identifier: Apache-2.0
"""Inputs by name and in nests, as ``{"image": x}`` or ``(x, (h, c))``: the model takes their tensors.

What else stands there, as None or a number, is the same in every call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

_FIXED = (type(None), bool, int, float, str)


@dataclass(frozen=True)
class Form:
    """How a model's inputs are given.

    Attributes:
        spec: of the arguments in order and those by name; None if all are tensors in order.
        leaves: what stands at its ends, None in the place of each tensor.
        tensors: at which ends tensors stand.
    """

    spec: TreeSpec | None = None
    leaves: tuple[Any, ...] = field(default=(), repr=False)
    tensors: tuple[int, ...] = ()

    def tensors_of(self, value: Any) -> Any:
        """A sample's tensors in order; `value` itself if it has another form."""
        if self.spec is None:
            return value
        args, named = _arguments(value)
        fixed = self.spec.unflatten(self.leaves)[1]
        # A data set may have labels beside the inputs, and need not say what is always the same.
        named = {name: named.get(name, value) for name, value in fixed.items()} if named else {}
        try:
            leaves = self.spec.flatten_up_to((args, named))
        except ValueError:
            return value
        found = tuple(leaves[i] for i in self.tensors)
        return value if any(leaf is None for leaf in found) else found

    def taken_by(self, model: torch.nn.Module) -> torch.nn.Module:
        """`model`, changed to take the tensors of such inputs in order."""
        return model if self.spec is None else _taking(model, self)

    def samples(self, value: Any) -> Any:
        """CalibrationInputs with every sample's tensors in order."""
        if self.spec is None or not _is_series(value):
            return value
        return map(self.tensors_of, value)

    def labelled(self, value: Any) -> Any:
        """EvaluationInputs likewise."""
        if self.spec is None or not _is_series(value):
            return value
        return (
            (self.tensors_of(v[0]), v[1]) if isinstance(v, (tuple, list)) and len(v) == 2 else v
            for v in value
        )


def form_of(inputs: Any) -> tuple[Form, Any]:
    """What `inputs` are like, and the tensors of them in order.

    `inputs` that are tensors in order already, or no inputs at all, stay as they are.
    """
    if not isinstance(inputs, (tuple, list, Mapping)):
        return Form(), inputs
    leaves, spec = tree_flatten(_arguments(inputs))
    tensors = tuple(i for i, leaf in enumerate(leaves) if not isinstance(leaf, _FIXED))
    is_plain = not isinstance(inputs, Mapping) and len(leaves) == len(inputs) == len(tensors)
    if is_plain or not any(isinstance(leaf, torch.Tensor) for leaf in leaves):
        return Form(), inputs
    fixed = tuple(None if i in tensors else leaf for i, leaf in enumerate(leaves))
    return Form(spec, fixed, tensors), tuple(leaves[i] for i in tensors)


def _arguments(value: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments in order and those by name."""
    if isinstance(value, Mapping):
        return (), dict(value)
    return tuple(value) if isinstance(value, (tuple, list)) else (value,), {}


def _is_series(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(
        value, (torch.Tensor, np.ndarray, str, bytes, Mapping)
    )


def _spread(form: Form, tensors: tuple[torch.Tensor, ...]) -> Any:
    leaves = list(form.leaves)
    for place, tensor in zip(form.tensors, tensors, strict=True):
        leaves[place] = tensor
    assert form.spec is not None
    return tree_unflatten(leaves, form.spec)


class _Spread(torch.nn.Module):
    """`module`, with one argument for each tensor of its inputs."""

    def __init__(self, module: torch.nn.Module, form: Form) -> None:
        super().__init__()
        self.module = module
        self._form = form

    def forward(self, *tensors: torch.Tensor) -> Any:
        args, named = _spread(self._form, tensors)
        return self.module(*args, **named)


def _taking(model: torch.nn.Module, form: Form) -> torch.nn.Module:
    """`model` with one argument for each tensor of its inputs.

    It stays the module that it is, so that its parts keep their paths, but gets another class; one whose
    instances bring a forward of their own, as graphs do, is wrapped.
    """
    kind: Any = type(model)
    if "forward" in model.__dict__ or isinstance(model, torch.fx.GraphModule):
        return _Spread(model, form).eval()

    def forward(self: Any, *tensors: torch.Tensor) -> Any:
        args, named = _spread(form, tensors)
        return kind.forward(self, *args, **named)

    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "forward": forward}
    model.__class__ = type(kind.__name__, (kind,), names)
    return model
