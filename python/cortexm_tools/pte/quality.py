# SPDX-License-Identifier: Apache-2.0
"""How good a quantized model is, beside the float model that it was made from.

The signal-to-quantization-noise ratio (SQNR) of a tensor is 10 log10(sum (r - m)^2 / sum (r - q)^2) in
dB, with its values r in the float model, of the mean m in their channel, and q in the quantized one, over all
elements and inputs. `frontend/quantize/measure.py` measures it; docs/numerics.md says on what.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..documents import DAMAGE, json_of
from ..options.precision import Pattern, parse_patterns
from .noise import Noise
from .rounded import Rounded

WARNING_DB = 15.0
"""Below this ratio, in dB, an output is warned of."""

WARNING_SHARE = 0.9
"""Below this share of equal values an output of integers or conditions is warned of."""

COSTLY_DB = 3.0
"""A layer whose result is so many dB worse than its operands may need codes of 16 bits."""

_WORST = "worst_"
_MANY = 0.01  # of values beyond the range, to speak of them

FLOAT_MODEL = "float model"
QUANTIZED_MODEL = "quantized model"

NO_FLOAT_MODEL = "a .pte or .tflite carries no float model"
NOT_QUANTIZED = "the model was lowered as it is"


@dataclass(frozen=True)
class OutputQuality:
    """An output: its noise, or for integers and conditions the share of equal values in [0, 1].

    Attributes:
        about: the noise of the worst channel, beside what its values deviate from their mean: of all
            together where no channel is judged by itself, None if nothing deviates.
        place: the dimension of the channels and the number of that one.
        constant: the channels that are constant in the quantized model and not in the other one.
        beyond: the share of values that are more than a step beyond the range of the codes.
        channels: the noise of each channel about its mean, None of one that does not deviate; none
            where no channel is judged by itself.
    """

    noise: Noise | None
    agreement: float | None = None
    about: Noise | None = None
    place: tuple[int, int] | None = None
    constant: tuple[int, ...] = ()
    beyond: float = 0.0
    channels: tuple[Noise | None, ...] = ()

    @property
    def level(self) -> float:
        """Its ratio in dB, in the worst channel; infinite of what is no float."""
        noise = self.about or self.noise
        return math.inf if noise is None else noise.decibels

    @property
    def is_poor(self) -> bool:
        """Whether to warn of it."""
        if self.noise is None:
            return self.agreement is not None and self.agreement < WARNING_SHARE
        return self.level < WARNING_DB


@dataclass(frozen=True)
class LayerQuality:
    """The result of one operator of the float model.

    Attributes:
        operator: its name, or ``input``.
        layer: the module's path and source line.
        path: the module's path, "" outside of modules; of an input that of the module that reads it.
        reads: the path of the module whose result that operand is.
        noise: of its result.
        before: of its operand with the greatest share of noise; no noise for an input.
        beyond: the share of values that are more than a step beyond the range of the codes.
    """

    operator: str
    layer: str
    noise: Noise
    before: Noise
    path: str = ""
    reads: str = ""
    beyond: float = 0.0

    @property
    def added(self) -> float:
        """By how much the share of noise in the signal grows from operand to result."""
        return self.noise.share - self.before.share if self.before.share < math.inf else 0.0


@dataclass(frozen=True)
class Wider:
    """What another precision would gain, int16 codes or float: `keys` of the model file's ``Quantization``,
    or "*" for the whole model, and how many dB the worst output has more with it."""

    keys: tuple[str, ...]
    gain: float
    precision: str = "a16w8"

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The precisions that they are."""
        return parse_patterns(dict.fromkeys(self.keys, self.precision))


@dataclass(frozen=True)
class Quality:
    """What was measured, on `inputs` of the `available` inputs of the kind `source`.

    `rounded` says what rounding the weights by the inputs gained, where that was done, and `wider`
    which modules should have int16 codes, if that gains much. A model that came quantized is measured
    against itself (`beside`), and by its outputs alone.
    """

    inputs: int
    available: int
    source: str
    outputs: tuple[OutputQuality, ...]
    layers: tuple[LayerQuality, ...]
    rounded: Rounded | None = None
    wider: Wider | None = None
    beside: str = FLOAT_MODEL

    @property
    def worst(self) -> LayerQuality | None:
        """The layer that adds the greatest share of noise: the first of equal ones."""
        noisy = [layer for layer in self.layers if layer.added > 0.0]
        return max(noisy, key=lambda layer: layer.added, default=None)

    @property
    def level(self) -> float:
        """The ratio of the worst output, in dB; infinite without an output of floats."""
        return min((output.level for output in self.outputs), default=math.inf)

    @property
    def losing(self) -> tuple[str, ...]:
        """The paths of the modules with layers that lose much, "" for calls outside of modules, and then of
        those whose results they read; those that add most come first."""
        losing = [
            layer
            for layer in self.layers
            if layer.added > 0.0
            and math.isfinite(layer.noise.decibels)
            and layer.before.decibels - layer.noise.decibels > COSTLY_DB
        ]
        losing.sort(key=lambda layer: -layer.added)
        paths = (*(layer.path for layer in losing), *(layer.reads for layer in losing))
        return tuple(dict.fromkeys(paths))

    def warnings(self, name: str) -> list[str]:
        """A sentence if outputs are poor."""
        poor = [number for number, output in enumerate(self.outputs) if output.is_poor]
        if not poor:
            return []
        data = self.data()
        listed = ", ".join(output_text(data["outputs"][number], True) for number in poor)
        where = f"; most is lost in {worst_text(data)}" if data["worst_layer"] else ""
        model = "the quantized model" if self.beside == FLOAT_MODEL else "the program"
        what = better_text(data, "build with ")
        if self.wider is None or self.level + self.wider.gain < WARNING_DB:  # not tried
            what = (
                f"calibrate on typical inputs, {what}{', ' * bool(what)}keep values of very different "
                "size out of one tensor, or compute this layer outside the model"
            )
        return [f"{name}: {model} is far from the {self.beside}: {listed}{where}; {what}"]

    def data(self) -> dict[str, Any]:
        """For NAME.report.json; numbers rounded to what they are worth."""
        worst = self.worst
        return {
            "inputs": self.inputs,
            "available": self.available,
            "source": self.source,
            **({"beside": self.beside} if self.beside != FLOAT_MODEL else {}),
            "outputs": [_output(number, output) for number, output in enumerate(self.outputs)],
            "worst_layer": None if worst is None else _layer(worst),
            "layers": [_layer(layer) for layer in self.layers],
            **(_wider_data(self.wider) if self.wider is not None else {}),
            **({"weights": self.rounded.data()} if self.rounded is not None else {}),
        }


def quality_line(data: dict[str, Any]) -> str:
    """The line of a build, from ``Quality.data()`` or a reason why nothing was measured."""
    if "not_measured" in data:
        return f"not measured: {data['not_measured']}"
    several = len(data["outputs"]) > 1
    outputs = ", ".join(output_text(output, several) for output in data["outputs"])
    count = data["inputs"]
    of = "" if count == data["available"] else f" of {data['available']}"
    worst = f"; most is lost in {worst_text(data)}" if data["worst_layer"] else ""
    plural = "s" if data["available"] != 1 else ""
    return (
        f"{outputs} against the {data.get('beside', FLOAT_MODEL)}, {count}{of} {data['source']} input{plural}"
        f"{worst}{better_text(data, '; better with ')}"
    )


def accuracy_text(accuracy: dict[str, Any]) -> str:
    """``99.2 % (float: 99.4 %), 360 labelled inputs``."""
    firmware = f", firmware: {accuracy['firmware']:.2%}" if "firmware" in accuracy else ""
    return (
        f"{accuracy['quantized']:.2%} (float: {accuracy['float']:.2%}{firmware}), "
        f"{accuracy['samples']:,} labelled inputs"
    )


def layer_rows(data: dict[str, Any]) -> list[tuple[object, ...]]:
    """Operator, layer, and the dB of operand and result of each layer, as text."""
    return [
        (
            entry["operator"],
            entry["layer"] or "-",
            decibels_text(entry, "before_"),
            decibels_text(entry),
        )
        for entry in data.get("layers", ())
    ]


def _output(number: int, output: OutputQuality) -> dict[str, Any]:
    if output.noise is None:
        share = None if output.agreement is None else round(output.agreement, 6)
        return {"output": number, "agreement": share}
    found: dict[str, Any] = {"output": number, **_entry(output.noise)}
    if output.about is not None:
        found |= _entry(output.about, _WORST)
    if output.place is not None:
        found["dimension"], found["channel"] = output.place
    if output.constant:
        found["constant"] = list(output.constant)
    if output.beyond:
        found["beyond"] = round(output.beyond, 6)
    told = [(k, noise) for k, noise in enumerate(output.channels) if noise is not None]
    if told:
        told.sort(key=lambda each: -each[1].share)
        found["channels"] = [{"channel": k, **_entry(noise)} for k, noise in told]
    return found


def _layer(layer: LayerQuality) -> dict[str, Any]:
    return {
        "operator": layer.operator,
        "layer": layer.layer,
        **_entry(layer.before, "before_"),
        **_entry(layer.noise),
        **({"beyond": round(layer.beyond, 6)} if layer.beyond else {}),
    }


def _entry(noise: Noise, prefix: str = "") -> dict[str, Any]:
    """``sqnr_db`` in dB, or null with the reason: no ``noise`` at all, or no ``signal``."""
    decibels = noise.decibels
    entry: dict[str, Any] = {
        f"{prefix}sqnr_db": round(decibels, 2) if math.isfinite(decibels) else None
    }
    if not math.isfinite(decibels):
        entry[f"{prefix}without"] = "noise" if decibels > 0 else "signal"
    if noise.left_out:
        entry[f"{prefix}not_finite"] = noise.left_out
    return entry


def decibels_text(entry: dict[str, Any], prefix: str = "") -> str:
    """A ratio, or why there is none."""
    value = entry[f"{prefix}sqnr_db"]
    if value is None:
        return "exact" if entry[f"{prefix}without"] == "noise" else "noise only"
    return f"{round(value, 1) + 0.0:.1f} dB"  # + 0.0: no -0.0


def output_text(entry: dict[str, Any], named: bool) -> str:
    """An output's ratio, and in which channel; with its number where it is `named`."""
    name = f"output {entry['output']} " if named else ""
    if "agreement" in entry:
        if entry["agreement"] is None:
            return f"{name}empty"
        return f"{name}{100 * entry['agreement']:.1f} % equal"
    notes = []
    if constant := entry.get("constant"):
        others = len(constant) - 1
        notes.append(f"constant, as are {others} more" if others else "constant")
    if entry.get("beyond", 0.0) >= _MANY:
        notes.append(f"{100 * entry['beyond']:.0f} % of values beyond the range")
    if entry.get("not_finite"):
        notes.append(f"{entry['not_finite']} values not finite")
    where = f" in channel {entry['channel']}" if "channel" in entry else ""
    if entry.get("dimension", 1) != 1:
        where += f" of dimension {entry['dimension']}"
    return f"{name}{decibels_text(entry, _prefix(entry))}{where}" + (
        f" ({'; '.join(notes)})" * bool(notes)
    )


def _prefix(entry: dict[str, Any]) -> str:
    return _WORST if f"{_WORST}sqnr_db" in entry else ""


def level_of(data: dict[str, Any]) -> float | None:
    """The ratio of the worst channel of all outputs, of ``Quality.data()``, in dB; None if none has one."""
    outputs = data.get("outputs", ())
    found = [each.get(f"{_prefix(each)}sqnr_db") for each in outputs]
    return min((each for each in found if each is not None), default=None)


def output_level(entry: dict[str, Any]) -> float:
    """The ratio in dB of the worst channel of an output of floats, of ``Quality.data()``: infinite if it is
    exact, minus infinite if there is noise without signal, or nothing finite to compare."""
    prefix = _prefix(entry)
    value = entry[f"{prefix}sqnr_db"]
    if value is not None:
        return float(value)
    is_exact = entry[f"{prefix}without"] == "noise" and not entry.get("not_finite")
    return math.inf if is_exact else -math.inf


def worst_text(data: dict[str, Any]) -> str:
    """The layer that adds most noise, with its dB."""
    worst = data["worst_layer"]
    where = f"{worst['operator']} of {worst['layer']}" if worst["layer"] else worst["operator"]
    return f"{where}: {decibels_text(worst, 'before_')} before, {decibels_text(worst)} behind it"


def _wider_data(wider: Wider) -> dict[str, Any]:
    word = wider.precision
    return {word: list(wider.keys), f"{word}_gain_db": round(wider.gain, 1)}


def gain_of(data: dict[str, Any]) -> float:
    """How many dB another precision gains, of ``Quality.data()``; 0 if none was found that does."""
    found = [data[f"{word}_gain_db"] for word in ("a16w8", "float") if data.get(word)]
    return float(found[0]) if found else 0.0


def better_text(data: dict[str, Any], before: str) -> str:
    """What to write for another precision where that gains much, and how much; "" if none does."""
    word = next((word for word in ("a16w8", "float") if data.get(word)), None)
    if word is None:
        return ""
    keys = data[word]
    entries = ", ".join(f'"{key}": "{word}"' for key in keys)
    where = f"Quantization = {{{entries}}} in the model file"
    what = "QUANTIZE a16w8" if "*" in keys else where
    return f"{before}{what} (about {gain_of(data):.0f} dB more)"


def stored_quality(text: str | bytes, digest: str) -> dict[str, Any] | None:
    """The entry ``quality`` of the NAME.report.json `text`.

    None if that belongs to another program than the one with the SHA-256 `digest`, is damaged, or
    says that nothing was measured.
    """
    try:
        report = json_of(text)
        if report["program_sha256"] != digest:
            return None
        data: dict[str, Any] = report["quality"]
        quality_line(data)
        layer_rows(data)
    except DAMAGE:
        return None
    return None if "not_measured" in data else data
