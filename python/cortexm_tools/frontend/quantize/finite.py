# SPDX-License-Identifier: Apache-2.0
"""Which of the user's calls gives no number, or an infinite one, for a calibration input.

An observer that sees such a value fails, or measures no range, without saying where the value is from.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from ...errors import CortexMError
from ...ir.types import Layer
from ..capture.runner import ModuleRunner
from ..capture.state import State
from ..load.samples import Sample
from ..nodes import operator_name
from ..origin.layers import layers_of_graph
from .simulate import is_observer

_LOWEST, _NO_NUMBER = "minus infinity", "NaN (not a number)"
_MASKS = ("aten::masked_fill", "aten::where")
_HINT = (
    "quantization needs the range of every value: a logarithm or root of what may be negative or zero, "
    "a quotient by what may be zero, and a softmax over scores that a mask leaves out altogether have "
    "none; clamp what they read, add a small number, or let the mask keep one score"
)


def require_finite(
    prepared: GraphModule,
    samples: Sequence[Sample],
    which: tuple[bool, ...],
    states: tuple[State, ...],
    base: Path,
) -> None:
    """Run the samples until an observer sees a value that is not finite.

    Args:
        prepared: a model of prepare_pt2e.
        which, states: as `quantize` has them.
        base: the folder of the model file, for messages.

    Raises:
        CortexMError: one does; it names the first call that gives such a value.
    """
    watch = _Watch(prepared)
    run = ModuleRunner(watch.run, which, states)
    for number, sample in enumerate(samples):
        with suppress(Exception):  # an operator that fails did so when calibration ran
            run.step(sample)
        if watch.found is not None:
            node, kind = watch.found
            layer = layers_of_graph(prepared.graph, base)[node]
            call = layer.call or "the model"
            raise CortexMError(
                f"a constant of {call} contains {kind}"
                if node.op == "get_attr"
                else f"{call} gives {kind} for calibration input {number}",
                where=str(layer) if layer != Layer() else "",
                hint=_HINT,
            )


def require_finite_weights(captured: GraphModule, base: Path) -> None:
    """Raises a CortexMError if something learnt is not finite, or another constant no number. A mask may hold
    minus infinity.

    Args:
        base: the folder of the model file, for messages.
    """
    for node in captured.graph.find_nodes(op="get_attr"):
        value: Any = attrgetter(str(node.target))(captured)
        kind = _not_finite(value)
        if kind and node.users and (isinstance(value, torch.nn.Parameter) or kind == _NO_NUMBER):
            layer = layers_of_graph(captured.graph, base)[next(iter(node.users))]
            raise CortexMError(
                f"a constant of {layer.call or 'the model'} contains {kind}",
                where=str(layer) if layer != Layer() else "",
                hint="codes have no such value: train the model again from where its weights are finite, or "
                "load others",
            )


class _Watch(Interpreter):
    """Runs a prepared model without its observers.

    Attributes:
        found: what the first value that is not finite where an observer looks at it comes from, and what
            it is there. Minus infinity may stand for scores that a mask leaves out, which some observers
            take.
    """

    def __init__(self, prepared: GraphModule) -> None:
        super().__init__(prepared)
        self.found: tuple[Node, str] | None = None
        self._masks: set[Node] = set()  # what minus infinity is in on purpose
        self._origins: dict[Node, tuple[Node, str]] = {}

    def run_node(self, n: Node) -> Any:
        sources = [self._origins[each] for each in n.all_input_nodes if each in self._origins]
        value = (
            self.env[n.all_input_nodes[0]] if is_observer(self.module, n) else super().run_node(n)
        )
        kind = _not_finite(value)
        if not kind:
            return value
        if kind == _LOWEST and (
            n.op == "get_attr"
            or operator_name(n) in _MASKS
            or not self._masks.isdisjoint(n.all_input_nodes)
        ):
            self._masks.add(n)
        else:
            self._origins[n] = sources[0] if sources else (n, kind)
        if self.found is None and n.op == "call_module" and (kind != _LOWEST or self._fails(n)):
            self.found = self._origins.get(n.all_input_nodes[0], (n.all_input_nodes[0], kind))
        return value

    def _fails(self, observer: Node) -> bool:
        try:
            super().run_node(observer)
        except RuntimeError:
            return True
        return False


def _not_finite(value: Any) -> str:
    """What kind of value that is not finite `value` contains; "" for none."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return ""
    if bool(value.isnan().any()):
        return _NO_NUMBER
    if bool((value == torch.inf).any()):
        return "infinity"
    return _LOWEST if bool(value.isinf().any()) else ""
