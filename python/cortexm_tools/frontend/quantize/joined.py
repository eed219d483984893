# SPDX-License-Identifier: Apache-2.0
"""Results that join values of very different size, as boxes in pixels and the scores of what is in them.

A concatenation has one scale, in which the codes of the smaller values may be but a few. One that gives a
result of the model is left to float then, so that every part keeps codes of its own and is dequantized to
its place in the result.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Interpreter, Node

from ..capture.runner import ModuleRunner
from ..capture.state import State
from ..load.samples import Sample
from .borders import Widths

_FEW = 16  # codes: a part that would have no more keeps codes of its own


def joined_apart(
    model: GraphModule,
    widths: Widths,
    moving: Container[Any],
    samples: Sequence[Sample],
    which: tuple[bool, ...],
    states: tuple[State, ...],
) -> set[Node]:
    """The calls of `model` that join such values, and those that join their results with others.

    Args:
        widths: the codes of every tensor with one scale for each such call.
        moving: operators that have the codes of what they read.
        samples, which, states: as `quantize` has them.
    """
    joins = list(_joins_of_results(model, moving, len(states)))
    if not joins:
        return set()
    peaks = _Peaks(model, {part for join in joins for part in join.all_input_nodes})
    run = ModuleRunner(peaks.run, which, states)
    for sample in samples:
        run.step(sample)
    found: set[Node] = set()
    reached: set[Node] = set()  # what comes from one of them
    for node in model.graph.nodes:
        follows = not reached.isdisjoint(node.all_input_nodes)
        if node in joins and (follows or _leaves_few(node, peaks.found, widths[node])):
            found.add(node)
        if follows or node in found:
            reached.add(node)
    return found


def _leaves_few(join: Node, peaks: dict[Node, float], bits: int) -> bool:
    """Whether a part of `join` would have few codes in the scale of the largest one."""
    sizes = [size for part in join.all_input_nodes if (size := peaks.get(part))]
    return bool(sizes) and bits > 0 and min(sizes) / max(sizes) * 2**bits <= _FEW


def _joins_of_results(model: GraphModule, moving: Container[Any], states: int) -> Iterator[Node]:
    """The calls that join values which do nothing from there on but move to a result."""
    (output,) = model.graph.find_nodes(op="output")
    results: Any = output.args[0]
    kept = set(results[:states])
    ends: set[Node] = {output}
    for node in reversed(list(model.graph.nodes)):
        if node.op != "call_function" or node.target not in moving or node in kept:
            continue
        if node.users and ends.issuperset(node.users):
            ends.add(node)
            if len(node.all_input_nodes) > 1:
                yield node


class _Peaks(Interpreter):
    """Runs a model.

    Attributes:
        found: the largest absolute value of each of `parts` in all runs.
    """

    def __init__(self, model: GraphModule, parts: Container[Node]) -> None:
        super().__init__(model)
        self.found: dict[Node, float] = {}
        self._parts = parts

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n in self._parts and isinstance(value, torch.Tensor) and value.is_floating_point():
            peak = float(value.abs().max()) if value.numel() else 0.0
            self.found[n] = max(self.found.get(n, 0.0), peak)
        return value
