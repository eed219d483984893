# SPDX-License-Identifier: Apache-2.0
"""In how many bits a model is quantized, and how its weights are rounded to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase

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
class Pattern:
    """A precision for some modules.

    Attributes:
        glob: of module paths; a module stands for all that is in it.
        precision: None for float.
    """

    glob: str
    precision: Precision | None

    def matches(self, path: str) -> bool:
        """Whether what a module of this path computes itself has the precision.

        ``frontend`` and ``frontend.*`` both match what ``frontend`` and the modules in it compute.
        """
        return any(fnmatchcase(each, self.glob) for each in _upwards(path))

    def names(self, path: str) -> bool:
        """Whether it is about this module alone, and not about several or one around it."""
        return bool(path) and self.glob == path

    @property
    def is_name(self) -> bool:
        """Whether it names one module, and is not "*" or another glob."""
        return bool(self.glob) and not set(self.glob) & set("*?[")


def _upwards(path: str) -> Iterator[str]:
    """Something in the module, the module, and all around it up to the model itself."""
    yield f"{path}."
    while path:
        yield path
        path = path.rpartition(".")[0]
    yield ""


@dataclass(frozen=True)
class Quantization:
    """How a model is quantized.

    Attributes:
        precision: of its layers, as far as they bear it: frontend/quantize/weight_bits.py says
            which weights stay at 8 bits.
        rounding: of its weights; None for what suits the precision.
        patterns: precisions of modules, which come before `precision`; the last one that matches
            counts.
    """

    precision: Precision = Precision()
    rounding: Rounding | None = None
    patterns: tuple[Pattern, ...] = ()

    @property
    def weights_rounded(self) -> Rounding:
        """How weights are rounded: those of 4 bits by the inputs, as the nearest code is too far."""
        if self.rounding is not None:
            return self.rounding
        found = (self.precision, *(each.precision for each in self.patterns))
        return (
            Rounding.GPTQ if any(each and each.weights < 8 for each in found) else Rounding.NEAREST
        )

    def pattern_of(self, path: str) -> Pattern | None:
        """The pattern that counts for a module; None if `precision` does."""
        found = (each for each in reversed(self.patterns) if each.matches(path))
        return next(found, None)

    def precision_of(self, path: str) -> Precision | None:
        """The precision of what a module computes itself; None for float."""
        pattern = self.pattern_of(path)
        return self.precision if pattern is None else pattern.precision


INT8 = Quantization()

PRECISIONS: dict[str, Precision | None] = {
    "int8": Precision(),
    "a16w8": Precision(activations=16),
    "a8w4": Precision(weights=4),
    "a16w4": Precision(activations=16, weights=4),
    "none": None,
}
"""By the word that users write; None is a model that is lowered as it is."""

LAYER_PRECISIONS: dict[str, Precision | None] = {
    **{word: precision for word, precision in PRECISIONS.items() if precision is not None},
    "float": None,
    "none": None,
}
"""By the word for a layer in a model file's ``Quantization``; None is a layer in float."""

_EXAMPLE = 'as in Quantization = {"*": "int8", "features.*": "a8w4", "classifier": "a16w8"}'


def parse_patterns(value: object, where: str = "") -> tuple[Pattern, ...]:
    """What a model file's ``Quantization`` says: precisions by globs of module paths, in order.

    Args:
        where: the place, for messages.

    Raises:
        CortexMError: it is no dict of words, or a word is unknown.
    """
    if not isinstance(value, Mapping):
        raise CortexMError(
            f"Quantization must be a dict from module paths to precisions, not {_type(value)}",
            where=where,
            hint=_EXAMPLE,
        )
    result = []
    for glob, word in value.items():
        if not isinstance(glob, str):
            raise CortexMError(
                f"Quantization: a module path must be a str, not {_type(glob)}",
                where=where,
                hint=_EXAMPLE,
            )
        if not isinstance(word, str):
            raise CortexMError(
                f"Quantization: the precision of {printable(glob)!r} must be a str, not {_type(word)}",
                where=where,
                hint="a layer can be " + ", ".join(LAYER_PRECISIONS),
            )
        if word not in LAYER_PRECISIONS:
            raise CortexMError(
                f"Quantization: unknown precision {printable(word)!r} of {printable(glob)!r}",
                where=where,
                hint="a layer can be " + ", ".join(LAYER_PRECISIONS),
            )
        result.append(Pattern(glob, LAYER_PRECISIONS[word]))
    return tuple(result)


def precision_word(precision: Precision | None) -> str:
    """The word that users write for the precision of a layer."""
    words = (word for word, each in LAYER_PRECISIONS.items() if each == precision)
    return next(words)


def _type(value: object) -> str:
    return "None" if value is None else f"{type(value).__name__}"


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
