# SPDX-License-Identifier: Apache-2.0
"""What is said of a quantized model's quality is what an independent comparison gives."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.frontend.capture.capture import Captured, capture
from cortexm_tools.frontend.capture.runner import ModuleRunner
from cortexm_tools.frontend.capture.state import Stateless
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.load.samples import Sample
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quantize.measure import MAX_INPUTS, measure
from cortexm_tools.frontend.quantize.quantize import quantize
from cortexm_tools.frontend.quantize.tags import tag_nodes
from cortexm_tools.frontend.quantize.wider import choose_keys, key_of
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.options.precision import parse_patterns
from cortexm_tools.pte.noise import Noise
from cortexm_tools.pte.quality import (
    NO_FLOAT_MODEL,
    LayerQuality,
    OutputQuality,
    Quality,
    Wider,
    layer_rows,
    quality_line,
    stored_quality,
)
from cortexm_tools.target import Target


class Classifier(nn.Module):
    """A float and an integer output."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(12, 16), nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> Any:
        scores = self.last(torch.relu(self.first(x)))
        return scores, scores.argmax(-1)


class LogMel(nn.Module):
    """A spectrum of a wide range, quantized to int8 before the logarithm."""

    def __init__(self) -> None:
        super().__init__()
        self.mel, self.last = nn.Linear(12, 8, bias=False), nn.Linear(8, 4)
        self.mel.weight.data.abs_()

    def forward(self, x: torch.Tensor) -> Any:
        energies = self.mel(x * x)
        levels = torch.log(energies + 1e-5)
        return self.last(levels)


class Running(nn.Module):
    """A mean that goes on from call to call."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(12, 6)
        self.register_buffer("mean", torch.zeros(1, 6))

    def forward(self, x: torch.Tensor) -> Any:
        self.mean.copy_(0.7 * self.mean + 0.3 * self.layer(x))
        return torch.relu(self.mean)


def spread(count: int) -> list[Sample]:
    """Inputs over four orders of magnitude."""
    return [(torch.randn(1, 12) * 10 ** (4 * k / count - 3),) for k in range(count)]


def plain(count: int) -> list[Sample]:
    return [(torch.randn(1, 12),) for _ in range(count)]


def measured(
    build: Callable[[], nn.Module], samples: Callable[[int], list[Sample]], count: int
) -> tuple[Quality, LoadedModel, Captured, ModuleRunner, ModuleRunner]:
    """The quality, and what was compared."""
    import_executorch()
    torch.manual_seed(0)
    calibration = tuple(samples(count))
    loaded = LoadedModel(
        Path(__file__).absolute(), build().eval(), calibration[0], calibration, None
    )
    captured = capture(loaded)
    tag_nodes(captured.graph)
    states, which = captured.states, captured.which
    graph = quantize(
        copy.deepcopy(captured.graph), calibration, which, states, base=loaded.path.parent
    ).graph
    module = Stateless(loaded.module, states) if states else loaded.module
    real = ModuleRunner(module, tuple(False for _ in which), states)
    quality = measure(loaded, captured, graph, real)
    return quality, loaded, captured, real, ModuleRunner(graph, which, states)


def oracle(runs: tuple[ModuleRunner, ModuleRunner], rows: list[Sample], output: int) -> float:
    """The ratio in dB, in numpy."""
    sides = []
    for run in runs:
        run.reset()
        sides.append(np.concatenate([run.step(row)[output].numpy().ravel() for row in rows]))
    real, coded = (side.astype(np.float64) for side in sides)
    return float(10 * np.log10(np.sum(real**2) / np.sum((real - coded) ** 2)))


def test_outputs() -> None:
    quality, loaded, _, *runs = measured(Classifier, plain, 100)
    assert (quality.inputs, quality.available, quality.source) == (MAX_INPUTS, 100, "calibration")
    rows = [loaded.calibration[k * 100 // MAX_INPUTS] for k in range(MAX_INPUTS)]
    scores, choice = quality.outputs
    assert scores.noise is not None and scores.noise.decibels > 25
    assert scores.noise.decibels == pytest.approx(oracle(tuple(runs), rows, 0), abs=1e-3)
    picks = [[int(run.step(row)[1]) for row in rows] for run in runs]
    equal = np.mean(np.equal(*picks))
    assert choice.noise is None and choice.agreement == pytest.approx(equal)
    assert [layer.operator for layer in quality.layers] == ["input 0", "linear", "relu", "linear"]
    assert "test_measure.py" in quality.layers[1].layer and "first" in quality.layers[1].layer
    assert quality.warnings("net") == []


def test_a_logarithm_of_codes_is_the_worst_layer() -> None:
    quality, loaded, _, *runs = measured(LogMel, spread, 20)
    (output,) = quality.outputs
    assert output.noise is not None and output.is_poor
    rows = list(loaded.calibration)
    assert output.noise.decibels == pytest.approx(oracle(tuple(runs), rows, 0), abs=1e-3)
    worst = quality.worst
    assert worst is not None and worst.operator == "element-wise function"
    line = [n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1)
            if "torch.log(energies" in text][0]  # fmt: skip
    assert worst.layer.endswith(f"test_measure.py:{line}")
    assert worst.before.decibels > 25 > 15 > worst.noise.decibels
    (warning,) = quality.warnings("net")
    assert "element-wise function of" in warning and "net:" in warning
    assert quality_line(quality.data()).startswith(f"{output.level:.1f} dB in channel ")


class Tiny(Classifier):
    """All values, or all weights of a layer, far below what the observers of PyTorch have codes for."""

    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.first.bias.zero_()
            self.first.weight[3] = 0.0
            self.first.weight *= 1e-8

    def forward(self, x: torch.Tensor) -> Any:
        return torch.relu(self.first(x)), self.first(x * 1e6)


def test_small_values_have_codes() -> None:
    quality = measured(Tiny, plain, 20)[0]
    assert all(each.noise is not None and each.noise.decibels > 30 for each in quality.outputs)


class GivenUp(Classifier):
    """Outputs that training left their biases alone, of one layer with other outputs and of one without."""

    def __init__(self) -> None:
        super().__init__()
        with torch.no_grad():
            self.first.weight[::3] *= 1e-9
            self.first.bias[::3] = torch.linspace(-30.0, 40.0, 6)
            self.last.weight *= 1e-12

    def forward(self, x: torch.Tensor) -> Any:
        first = self.first(1e-2 * x)
        return first, self.last(first)


def test_outputs_of_little_but_a_bias() -> None:
    quality = measured(GivenUp, plain, 20)[0]
    assert all(each.noise is not None and each.noise.decibels > 45 for each in quality.outputs)


class Overwritten(Classifier):
    """A sum in place of what a mask left of a result."""

    def forward(self, x: torch.Tensor) -> Any:
        first = torch.relu(self.first(x))
        rows = first.view(1, 4, 4)
        rows.add_(x.view(1, 3, 4).mean(1, keepdim=True) + 1.0)
        scores = (rows @ rows.mT).masked_fill(torch.ones(4, 4).triu(1).bool(), -1e9)
        return torch.softmax(scores, -1) @ rows


def test_layers_are_compared_as_they_were() -> None:
    quality = measured(Overwritten, plain, 20)[0]
    names = [layer.operator for layer in quality.layers]
    assert names[:3] == ["input 0", "linear", "relu"] and "masked_fill" not in names
    assert all(layer.noise.decibels > 25 for layer in quality.layers)


class Attention(Classifier):
    """Parts of a layer's results, of which one is scaled, and scores without any difference."""

    def forward(self, x: torch.Tensor) -> Any:
        first = self.first(x).view(1, 4, 4)
        keys, values = first.split(2, 2)
        scores = (keys * 0.3).transpose(1, 2) @ keys
        even = torch.softmax(self.last(self.first(x)) * 1e-18, -1)
        return torch.softmax(scores, -1) @ values.mT, even


def test_what_a_layer_reads_has_the_noise_of_what_it_came_from() -> None:
    """Also behind an operator that is said by another one; and scores that are all alike have one share."""
    quality = measured(Attention, plain, 20)[0]
    assert all(layer.before.decibels < math.inf for layer in quality.layers[1:])
    assert all(each.noise is not None and each.noise.decibels > 25 for each in quality.outputs)


def test_state_is_a_sequence_of_calls() -> None:
    quality, loaded, captured, *runs = measured(Running, plain, 12)
    assert captured.states
    (output,) = quality.outputs
    assert output.noise is not None
    rows = list(loaded.calibration)
    assert output.noise.decibels == pytest.approx(oracle(tuple(runs), rows, 0), abs=1e-3)


def test_noise() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        real, coded = random.normal(size=(2, 30))
        parts = [Noise(np.sum(r**2), np.sum((r - c) ** 2))
                 for r, c in zip(np.split(real, 3), np.split(coded, 3), strict=True)]  # fmt: skip
        whole = 10 * math.log10(np.sum(real**2) / np.sum((real - coded) ** 2))
        assert sum(parts, Noise()).decibels == pytest.approx(whole)
    assert Noise(2.0, 0.0).decibels == Noise().decibels == math.inf
    assert Noise(0.0, 1.0).decibels == -math.inf
    assert (Noise(1.0, 1.0, 2) + Noise(0.0, 0.0, 3)).left_out == 5


def test_text_of_every_kind_of_value() -> None:
    layers = (LayerQuality("input 0", "", Noise(1.0, 1e-4), Noise()),
              LayerQuality("add", "a (m.py:3)", Noise(0.0, 1.0), Noise(1.0, 1e-4)),
              LayerQuality("mul", "", Noise(1.0, 0.0), Noise(0.0, 1.0)))  # fmt: skip
    outputs = (OutputQuality(Noise(100.0, 1.0)), OutputQuality(Noise(1.0, 0.0)),
               OutputQuality(Noise(0.0, 1.0, 7)), OutputQuality(None, 0.875),
               OutputQuality(None))  # fmt: skip
    quality = Quality(3, 5, "calibration", outputs, layers)
    assert quality_line(quality.data()) == (
        "output 0 20.0 dB, output 1 exact, output 2 noise only (7 values not finite), output 3 "
        "87.5 % equal, output 4 empty against the float model, 3 of 5 calibration inputs; most is "
        "lost in add of a (m.py:3): 40.0 dB before, noise only behind it"
    )
    assert layer_rows(quality.data()) == [
        ("input 0", "-", "exact", "40.0 dB"),
        ("add", "a (m.py:3)", "40.0 dB", "noise only"),
        ("mul", "-", "noise only", "exact"),
    ]
    assert [output.is_poor for output in outputs] == [False, False, True, True, False]
    none = {"not_measured": NO_FLOAT_MODEL}
    assert quality_line(none) == "not measured: a .pte or .tflite carries no float model"
    assert layer_rows(none) == []
    one = Quality(1, 1, "example", outputs[:1], ())
    assert quality_line(one.data()) == "20.0 dB against the float model, 1 example input"


def test_modules_that_lose_much() -> None:
    names = (
        ("input 0", "", 1e-4),
        ("linear", "a (m.py:3)", 1.1e-4),
        ("layer_norm", "b.norm (m.py:4)", 1e-2),
        ("mul", "m.py:6", 0.9),
    )
    layers, before = [], Noise()
    for operator, layer, loss in names:
        path = layer.partition(" ")[0] if "(" in layer else ""
        layers.append(LayerQuality(operator, layer, Noise(1.0, loss), before, path, "norm"))
        before = layers[-1].noise
    outputs = tuple(OutputQuality(Noise(1.0, noise)) for noise in (0.1, 1e-3))
    quality = Quality(1, 1, "example", (*outputs, OutputQuality(None, 0.5)), tuple(layers))
    assert quality.losing == ("", "b.norm", "norm")
    assert quality.level == pytest.approx(10.0)
    assert Quality(1, 1, "example", (OutputQuality(None, 0.5),), ()).level == math.inf


def test_text_of_what_gains() -> None:
    outputs = (OutputQuality(Noise(1.0, 0.1)),)
    quality = Quality(1, 1, "example", outputs, (), wider=Wider(("b.norm", "c."), 6.24))
    written = (
        'Quantization = {"b.norm": "a16w8", "c.": "a16w8"} in the model file (about 6 dB more)'
    )
    assert quality_line(quality.data()).endswith(f"1 example input; better with {written}")
    (warning,) = quality.warnings("net")
    assert warning.endswith(f"; build with {written}")  # as that is enough
    little = Quality(1, 1, "example", outputs, (), wider=Wider(("b.norm", "c."), 4.0))
    (warning,) = little.warnings("net")
    assert "typical inputs, build with Quant" in warning and "more), keep values" in warning
    assert quality.data()["a16w8_gain_db"] == 6.2
    whole = Quality(1, 1, "example", outputs, (), wider=Wider(("*",), 30.0)).data()
    assert quality_line(whole).endswith("; better with QUANTIZE a16w8 (about 30 dB more)")
    exact = Quality(1, 1, "example", outputs, (), wider=Wider(("norm",), 40.0, "float")).data()
    assert 'Quantization = {"norm": "float"} in' in quality_line(exact)
    assert "a16w8" not in Quality(1, 1, "example", outputs, ()).data()


def test_keys_that_gain_enough() -> None:
    """Each module gains its own, in dB, and what gains little is left out, the last first."""

    def chosen(
        gains: dict[str, float], is_poor: bool = False, before: float = 20.0
    ) -> Wider | None:
        def level(keys: Collection[str]) -> float:
            return before + sum(gains[key] for key in keys)

        keys = [key for key in gains if key != "*"]
        return choose_keys(keys, level, is_poor)

    assert chosen({"a": 5.0, "b": 0.1, "c": 2.0, "d": 0.7}) == Wider(("a", "c"), 7.0)
    assert chosen({"a": 2.5, "b": 0.5, "*": 9.0}) is None
    assert chosen({"a": 2.5, "b": 0.5, "*": 9.0}, is_poor=True) == Wider(("*",), 9.0)
    assert chosen({"a": 2.5, "*": 2.9}, is_poor=True) is None
    assert chosen({"a": 0.5, "b": 5.0}) == Wider(("b",), 5.0)
    assert chosen({"a": math.inf}) == Wider(("a",), 90.0)
    assert chosen({"a": 5.0}, before=-math.inf) is None
    assert choose_keys(("a",), lambda keys: 5.0 * len(keys), False, 9.0) is None
    paths = ("", "a", "ab", "c.d")
    assert [key_of(path, paths) for path in paths] == [".", "a", "ab", "c.d"]
    assert key_of("c", paths) == "c."


class Residual(nn.Module):
    """A stream of large values, of which the first layers see the sum and the last ones a difference."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(12, 12), nn.Linear(12, 12)
        self.last = nn.Linear(12, 4)

    def forward(self, x: torch.Tensor) -> Any:
        stream = 30 * x + self.first(x)
        return self.last(self.second(stream - 30 * x))


class Barometer(Classifier):
    """A level far from zero, which 16 bits do not tell exactly either."""

    def forward(self, x: torch.Tensor) -> Any:
        return self.last(torch.relu(self.first(x))) + 1013.0


class Sensors(Classifier):
    """Scaling as the model's own first step."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(12)
        self.norm.running_mean, self.norm.running_var = torch.full((12,), 1e4), torch.ones(12)

    def forward(self, x: torch.Tensor) -> Any:
        return self.last(torch.relu(self.first(self.norm(x))))


class Thresholds(Classifier):
    """The first step of a forest: what is compared, and with what."""

    def forward(self, x: torch.Tensor) -> Any:
        return self.first(((x - 1e4) * 2.0 > torch.linspace(-1.0, 1.0, 12)).float())


def raw(count: int) -> list[Sample]:
    return [(1e4 + torch.randn(4, 12),) for _ in range(count)]


@pytest.mark.parametrize(
    ("build", "samples", "precision"),
    [
        (Residual, plain, "a16w8"),
        (LogMel, spread, "float"),
        (Barometer, plain, "a16w8"),
        (Sensors, raw, "float"),
        (Thresholds, raw, "float"),
    ],
)
def test_what_is_recommended_gains_what_it_says(
    build: Callable[[], nn.Module], samples: Callable[[int], list[Sample]], precision: str
) -> None:
    quality, loaded, *_ = measured(build, samples, 20)
    wider = quality.wider
    assert quality.level < 20 and wider is not None and wider.precision == precision
    patterns = parse_patterns(dict.fromkeys(wider.keys, precision))
    better = lower(
        replace(loaded, patterns=patterns), target=Target.parse("cortex-m55"), name="net"
    ).quality
    assert better is not None and better.level > 25
    assert -3.0 < better.level - quality.level - wider.gain < 8.0
    (warning,) = quality.warnings("net") or [""]
    assert f'"{wider.keys[0]}": "{precision}"' in warning


def test_stored_beside_the_program() -> None:
    quality = Quality(1, 1, "example", (OutputQuality(Noise(9.0, 1.0)),), ()).data()
    report = {"program_sha256": "ab", "quality": quality}
    assert stored_quality(json.dumps(report), "ab") == quality
    assert stored_quality(json.dumps(report), "cd") is None
    assert stored_quality(json.dumps({"program_sha256": "ab"}), "ab") is None
    assert stored_quality(json.dumps(report)[:-9], "ab") is None
    assert stored_quality("[]", "ab") is None
    for damaged in ({"outputs": 7}, {"layers": [{}]}, {"worst_layer": {"layer": ""}}):
        assert stored_quality(json.dumps(report | {"quality": quality | damaged}), "ab") is None
    assert stored_quality(json.dumps(report | {"quality": {"not_measured": "x"}}), "ab") is None
