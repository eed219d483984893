# SPDX-License-Identifier: Apache-2.0
"""Which layer loses, what would be better, and how good the model is on other inputs.

A layer that adds noise need not be one that loses: means and sums lose it again. So layers are put into their
float form one at a time, with all others as they are, and what the outputs gain is what the layer costs.
How many are tried is bounded by an amount of work, not of time, so that equal models give equal answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Node

from ...ir import Array
from ...progress import track
from ...pte.quality import Quality
from ..capture.capture import Captured
from ..capture.runner import ModuleRunner
from ..load.samples import Sample
from ..origin.layers import layer_of
from ..quiet import quiet
from ..rewrites.recurrent_operators import recurrent_call
from .measure import choose_samples, compare, cost_of, operator_of
from .tags import tag_of
from .wider import Trials, find_wider

# What all trials of a model may cost, in the unit of measure.cost_of: some tens of seconds.
_BUDGET = 1_500_000_000
_LEAST_TRIED = 8


@dataclass(frozen=True)
class FloatStudy:
    """A Study (pte/study.py) of `quantized`, which was made from `captured`.

    Attributes:
        quality: what was measured on `samples`.
        samples: those of the calibration.
        float_module: the user's.
        base: the folder of the model file.
    """

    quality: Quality
    samples: Sequence[Sample]
    captured: Captured
    quantized: GraphModule
    float_module: ModuleRunner
    base: Path

    def losses(self) -> dict[str, Any]:
        """See Study."""
        chosen = choose_samples(self.samples, self.captured)
        with quiet():
            trials = Trials(chosen, self.captured, self.quantized, self.float_module, {})
            parts, names = trials.layers(), self._names()
            added = {(one.operator, one.layer): one.added for one in self.quality.layers}
            order = [node for node in parts if node.name in names]
            order.sort(
                key=lambda n: (
                    -max(added.get(names.get(each.name, ("", "")), 0.0) for each in parts[n])
                )
            )
            count = max(_LEAST_TRIED, _BUDGET // (cost_of(self.captured) * trials.inputs))
            before = trials.level_without(())
            found = [
                (trials.level_without(parts[node]), names[node.name])
                for node in track(order[:count], "layers in float, one at a time")
            ]
        found.sort(key=lambda trial: -trial[0])
        return {
            "inputs": trials.inputs,
            "layers": len(order),
            "sqnr_db": _number(before),
            "tried": [
                {
                    "operator": operator,
                    "layer": layer,
                    "sqnr_db": _number(level),
                    "gain_db": _number(level - before),
                }
                for level, (operator, layer) in found
            ],
        }

    def _names(self) -> dict[str, tuple[str, str]]:
        """Operator and layer by the name of a node of the quantized model."""
        captured = self.captured.graph.graph
        count = len(self.samples[0])
        inputs = captured.find_nodes(op="placeholder")[:count]
        tagged = {tag_of(node): node for node in captured.nodes if node.op == "call_function"}
        names = {node.name: (f"input {number}", "") for number, node in enumerate(inputs)}
        for node in self.quantized.graph.nodes:
            source = tagged.get(tag_of(node)) if node.op == "call_function" else None
            if source is not None:
                layer: Node = recurrent_call(source) or source
                names[node.name] = operator_of(layer), str(layer_of(source, self.base))
        return names

    def advised(self, enough: float) -> Quality:
        """See Study."""
        if self.quality.level >= enough:
            return replace(self.quality, wider=None)
        if (
            self.quality.wider is not None
            and self.quality.level + self.quality.wider.gain >= enough
        ):
            return self.quality
        chosen = choose_samples(self.samples, self.captured)
        parts = (self.captured, self.quantized, self.float_module, self.base)
        with quiet():
            wider = find_wider(self.quality, chosen, *parts, enough)
        return replace(self.quality, wider=wider or self.quality.wider)

    def quality_on(self, rows: Sequence[tuple[Array, ...]]) -> Quality:
        """See Study."""
        samples = [tuple(torch.from_numpy(each.copy()) for each in row) for row in rows]
        parts = (self.captured, self.quantized, self.float_module, self.base)
        with quiet():
            return compare(samples, "evaluation", *parts)


def _number(value: float) -> float | None:
    return round(value, 2) if math.isfinite(value) else None
