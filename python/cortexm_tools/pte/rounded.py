# SPDX-License-Identifier: Apache-2.0
"""What rounding the weights by their layers' inputs gained over the nearest codes.

`frontend/quantize/rounding.py` measures it; docs/numerics.md says how.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .noise import Noise

POOR_DB = 25.0
"""Below this ratio, in dB, rounding its weights alone leaves a layer poor."""

_NAMED = 3


@dataclass(frozen=True)
class RoundedLayer:
    """A layer's weights. The noise is what rounding them adds to the layer's results.

    Attributes:
        operator: its name.
        layer: the module's path and source line.
        bits: of a weight.
        nearest: with the nearest codes.
        chosen: with the codes that were taken.
        by_inputs: whether these are the codes that were chosen by the inputs.
    """

    operator: str
    layer: str
    bits: int
    nearest: Noise
    chosen: Noise
    by_inputs: bool

    def data(self) -> dict[str, Any]:
        """For NAME.report.json."""
        return {
            "operator": self.operator,
            "layer": self.layer,
            "bits": self.bits,
            "nearest_db": _rounded(self.nearest.decibels),
            "sqnr_db": _rounded(self.chosen.decibels),
            "by_inputs": self.by_inputs,
        }


@dataclass(frozen=True)
class Rounded:
    """A model's weights.

    Attributes:
        held_back: on how many samples that the codes were not chosen by it was measured; 0 if there
            were too few to hold any back, and it was measured on those that they were chosen by.
        nearest: the share of noise in the model's results with the nearest codes, the mean of all
            outputs.
        chosen: the same with the codes that were taken.
        layers: the layers in the order of the graph.
    """

    held_back: int
    nearest: float
    chosen: float
    layers: tuple[RoundedLayer, ...]

    def data(self) -> dict[str, Any]:
        """For NAME.report.json; an SQNR without noise is null."""
        return {
            "held_back": self.held_back,
            "nearest_db": _rounded(decibels(self.nearest)),
            "sqnr_db": _rounded(decibels(self.chosen)),
            "layers": [layer.data() for layer in self.layers],
        }


def rounded_line(quality: dict[str, Any]) -> str:
    """The line of a build, from ``Quality.data()``; empty where no weights were rounded so."""
    if "weights" not in quality:
        return ""
    data = quality["weights"]
    layers = data["layers"]
    taken = sum(layer["by_inputs"] for layer in layers)
    on = "held-back samples" if data["held_back"] else "the samples they were chosen by"
    return (
        f"weights rounded by GPTQ: {_text(data['nearest_db'])} -> {_text(data['sqnr_db'])} dB on "
        f"{on}, {taken} of {len(layers)} layer{'s' if len(layers) != 1 else ''}{_poor(layers)}"
    )


def _poor(layers: list[dict[str, Any]]) -> str:
    """The layers with weights of 4 bits whose own results suffer most from it."""
    poor = [each for each in layers if each["bits"] < 8 and (each["sqnr_db"] or POOR_DB) < POOR_DB]
    poor.sort(key=lambda each: each["sqnr_db"])
    named = [f"{each['operator']} of {each['layer']} {each['sqnr_db']:.1f} dB" for each in poor]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"; poor in 4 bits: {', '.join(named[:_NAMED])}{more}" if named else ""


def decibels(share: float) -> float:
    """The SQNR of a share of noise."""
    if share == 0.0:
        return math.inf
    return -10.0 * math.log10(share) if share < math.inf else -math.inf


def mean_share(shares: Sequence[float]) -> float:
    """The mean over outputs; 0 of none."""
    return sum(shares) / len(shares) if shares else 0.0


def _rounded(value: float) -> float | None:
    return round(value, 2) if math.isfinite(value) else None


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
