# SPDX-License-Identifier: Apache-2.0
"""In how many bits a model is quantized, and how its weights are rounded to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..errors import CortexMError, did_you_mean, printable


class Rounding(Enum):
    """How weights become codes."""

    NEAREST = "nearest"
    GPTQ = "gptq"


@dataclass(frozen=True)
class Precision:
    """Bits of the codes of activations and of weights.

    Attributes:
        activations: 8 or 16.
        weights: 8 or 4.
    """

    activations: int = 8
    weights: int = 8


@dataclass(frozen=True)
class Quantization:
    """How a model is quantized.

    Attributes:
        precision: of its layers, as far as they bear it: frontend/quantize/weight_bits.py says
            which weights stay at 8 bits.
        rounding: of its weights; None for what suits the precision.
    """

    precision: Precision = Precision()
    rounding: Rounding | None = None

    @property
    def weights_rounded(self) -> Rounding:
        """How weights are rounded: those of 4 bits by the inputs, as the nearest code is too far."""
        if self.rounding is not None:
            return self.rounding
        return Rounding.GPTQ if self.precision.weights < 8 else Rounding.NEAREST


INT8 = Quantization()

PRECISIONS: dict[str, Precision | None] = {
    "int8": Precision(),
    "a16w8": Precision(activations=16),
    "a8w4": Precision(weights=4),
    "a16w4": Precision(activations=16, weights=4),
    "none": None,
}
"""By the word that users write; None is a model that is lowered as it is."""


def parse_quantization(precision: str, calibrate: str = "") -> Quantization | None:
    """What ``QUANTIZE precision CALIBRATE calibrate`` says; None for a model as it is.

    Args:
        precision: one of PRECISIONS.
        calibrate: ``weights=gptq`` or ``weights=nearest``; empty for what suits the precision.

    Raises:
        CortexMError: either is unknown, or there are no weights to round.
    """
    if precision not in PRECISIONS:
        raise CortexMError(
            f"unknown precision {printable(precision)!r}", hint=did_you_mean(precision, PRECISIONS)
        )
    words = [f"weights={each.value}" for each in Rounding]
    if calibrate and calibrate not in words:
        raise CortexMError(
            f"cannot calibrate by {printable(calibrate)!r}", hint=did_you_mean(calibrate, words)
        )
    found = PRECISIONS[precision]
    if found is None:
        if calibrate:
            raise CortexMError(
                f"{calibrate} is for a model that is quantized here, and this one is not",
                hint="leave it out, or choose a precision: " + ", ".join(PRECISIONS),
            )
        return None
    return Quantization(found, Rounding(calibrate.partition("=")[2]) if calibrate else None)
