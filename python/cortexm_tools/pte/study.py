# SPDX-License-Identifier: Apache-2.0
"""What is tried with a quantized model beyond what every build measures: which layer loses, what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..ir import Array
from .quality import Quality


@dataclass(frozen=True)
class Trial:
    """A layer in its float form: without the rounding of its weights and of its result, with that of all
    others. `level` is the worst output's ratio then, in dB."""

    operator: str
    layer: str
    level: float


@dataclass(frozen=True)
class Losses:
    """What the model loses by single layers.

    Attributes:
        level: the ratio of the worst output with all layers as they are, in dB.
        inputs: how many inputs that was tried on.
        layers: how many there are.
        trials: of those that were tried; those that lose most come first.
    """

    level: float
    inputs: int
    layers: int
    trials: tuple[Trial, ...]

    def rows(self, most: int) -> list[tuple[str, str, str]]:
        """What so many layers cost, as text: dB, operator and layer."""
        return [
            (_gain(trial.level - self.level), trial.operator, trial.layer or "-")
            for trial in self.trials[:most]
        ]

    def data(self) -> dict[str, Any]:
        """As JSON; a ratio is null where nothing is lost any more."""
        return {
            "inputs": self.inputs,
            "layers": self.layers,
            "sqnr_db": _number(self.level),
            "tried": [
                {
                    "operator": each.operator,
                    "layer": each.layer,
                    "sqnr_db": _number(each.level),
                    "gain_db": _number(each.level - self.level),
                }
                for each in self.trials
            ],
        }


class Study(Protocol):
    """Tries things with the quantized model; the float model and the samples are at hand."""

    def losses(self) -> Losses:
        """Layers in float, one at a time: as many as a bounded amount of work allows, first those that add
        most noise."""

    def advised(self, enough: float) -> Quality:
        """The model's quality with the precision that was found to be better, if it has less than `enough`
        dB."""

    def quality_on(self, rows: Sequence[tuple[Array, ...]]) -> Quality:
        """The quality on some of other inputs, one row for each call."""


def _gain(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f} dB" if math.isfinite(value) else "all"


def _number(value: float) -> float | None:
    return round(value, 2) if math.isfinite(value) else None
