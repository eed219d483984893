# SPDX-License-Identifier: Apache-2.0
"""Energies of spectra that are computed on, as PCEN does: by their logarithms, with int16 codes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType
from cortexm_tools.ir.interpreter import run_graph, run_sequence

from tests.frontend.test_spectrum import HOP, N, Net, decibels, joined, lowered, operators, sound
from tests.support.front_ends import WRITTEN, TrainedPcen

Tensor = torch.Tensor
Function = Callable[[Net, Tensor], Tensor]
ALPHA = torch.linspace(0.9, 0.98, 20)[:, None]
DELTA = torch.linspace(1.0, 3.0, 20)[:, None]
POWER = torch.linspace(0.4, 0.6, 20)[:, None]
SMOOTH = torch.linspace(0.02, 0.1, 20)


def mel(m: Net, x: Tensor) -> Tensor:
    return m.mel @ m.stft(x).abs() ** 2


def averages(energies: Tensor, s: float | Tensor) -> Tensor:
    """Over the frames, from the first on."""
    last = energies[..., 0]
    found = [last]
    for frame in energies.unbind(-1)[1:]:
        last = (1 - s) * last + s * frame
        found.append(last)
    return torch.stack(found, -1)


def pcen(m: Net, x: Tensor) -> Tensor:
    energies = mel(m, x)
    gained = energies / (1e-6 + averages(energies, 0.025)) ** 0.98
    return (gained + 2.0) ** 0.5 - 2.0**0.5


def of_channels(m: Net, x: Tensor) -> Tensor:
    """Every band has its own constants."""
    energies = mel(m, x)
    gained = energies / (1e-6 + averages(energies, SMOOTH)).pow(ALPHA)
    return (gained + DELTA).pow(POWER) - DELTA.pow(POWER)


def by_exponential(m: Net, x: Tensor) -> Tensor:
    """As libraries write it that fear small numbers; the average starts at zero."""
    energies = 2.0**10 * mel(m, x).transpose(1, 2)
    last, found = torch.zeros(1, 20), []
    for t in range(energies.shape[1]):
        last = last + 0.1 * (energies[:, t] - last)
        found.append(last.unsqueeze(1))
    smooth = torch.exp(-0.8 * (math.log(1e-3) + torch.log1p(torch.cat(found, 1) / 1e-3)))
    return torch.sqrt(energies * smooth + 10.0) - math.sqrt(10.0)


# Bands are computed of powers on which something else is computed first, or are written twice.
TWICE = ("ratio", "inverse", "cubes")

FORMS: dict[str, Function] = {
    "pcen": pcen,
    "channels": of_channels,
    "exponential": by_exponential,
    "bands": mel,
    "cube root": lambda m, x: mel(m, x).clamp_min(1e-9) ** (1 / 3),
    "magnitudes": lambda m, x: torch.sqrt(m.stft(x).real ** 2 + m.stft(x).imag ** 2 + 1e-9),
    "cubes": lambda m, x: m.bands(m.stft(x).abs() ** 3),
    "ratio": lambda m, x: torch.log2(mel(m, x)[:, :10] / (mel(m, x)[:, 10:] + 1e-4)),
    "inverse": lambda m, x: 1.0 / (1e-2 + mel(m, x)).sqrt() + mel(m, x).rsqrt() / 100,
}


FRONT_ENDS: dict[str, Function | nn.Module] = {
    **FORMS,
    **{kind.__name__: kind() for kind in WRITTEN if kind is not TrainedPcen},
}


@pytest.mark.parametrize("form", FRONT_ENDS)
def test_one_transform_of_integers_and_no_complex_number(form: str) -> None:
    """The same numbers, but for what lies below the rounding of samples to 16 bits."""
    graph, net = joined(FRONT_ENDS[form])
    names = operators(graph)
    assert not [name for name in names if "fft" in name or "stft" in name or "conv" in name]
    assert names.count("cortexm_tools.log_mel.default") in ((1, 2) if form in TWICE else (1,))
    for seed in (1, 2):
        x = sound(seed)
        wanted, got = net(x), graph(x)
        assert got.shape == wanted.shape
        assert float((got - wanted).square().sum() / wanted.square().sum()) < 1e-7


class Listener(nn.Module):
    """A front end, and a layer of int8 behind it."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.front = Net(function)
        self.conv = nn.Conv1d(20, 8, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        found = self.front(x)
        return found, torch.relu(self.conv(found))


def test_pcen_is_computed_with_int16_codes() -> None:
    samples = [sound(seed, 2000) for seed in range(6)]
    result, graph = lowered(Listener(of_channels), samples)
    assert result.quality is not None
    energies, layer = (each.noise for each in result.quality.outputs)
    assert energies and energies.decibels > 50
    assert layer and layer.decibels > 30
    assert [op.kind for op in graph.ops].count("log_mel") == 1
    x = samples[1].numpy()
    for got, want in zip(run_graph(graph, [x]), result.reference([x]), strict=True):
        np.testing.assert_array_equal(got, want)


class Streamed(nn.Module):
    """A frame of PCEN per call; the average is a state."""

    def __init__(self) -> None:
        super().__init__()
        self.front = Net(mel)
        self.past: Tensor
        self.average: Tensor
        self.register_buffer("past", torch.zeros(1, N - HOP))
        self.register_buffer("average", torch.zeros(1, 20, 1))

    def forward(self, x: Tensor) -> Tensor:
        heard = torch.cat([self.past, x], 1)
        self.past.copy_(heard[:, HOP:])
        energies = self.front(heard)
        self.average.lerp_(energies, 0.025)
        return (energies / (1e-6 + self.average) ** 0.98 + 2.0) ** 0.5 - 2.0**0.5


def test_an_average_is_kept_as_its_logarithm() -> None:
    whole = sound(3, 60 * HOP)
    calls = [whole[:, n : n + HOP] for n in range(0, 60 * HOP, HOP)]
    result, graph = lowered(Streamed(), calls)
    assert decibels(result) > 50
    types = {state.name: graph.tensors[state.before] for state in graph.states}
    assert types["average"].dtype is types["past"].dtype is DType.S16
    quant = types["average"].quant
    assert quant is not None
    (initial,) = (state.initial for state in graph.states if state.name == "average")
    assert initial is not None and (initial * quant.scale < -15).all()
    got = run_sequence(graph, [[x.numpy()] for x in calls])
    want = result.reference
    want.reset()
    for outputs, x in zip(got, calls, strict=True):
        np.testing.assert_array_equal(outputs[0], want.step([x])[0])
    # Another sound, that begins softly, which no calibration input did.
    other = 0.01 * sound(11, 40 * HOP)
    result.float_module.reset()
    want.reset()
    power = noise = 0.0
    for at in range(0, other.shape[-1], HOP):
        x = other[:, at : at + HOP]
        wanted = result.float_module.step([x])[0]
        power += float(wanted.square().sum())
        noise += float((torch.as_tensor(want.step([x])[0]) - wanted).square().sum())
    assert 10 * math.log10(power / noise) > 30


def test_what_is_no_function_of_energies_is_refused() -> None:
    with pytest.raises(CortexMError, match="torch.stft gives complex numbers") as error:
        lowered(Net(lambda m, x: m.mel @ (m.stft(x) * m.stft(x)).real), [sound(0)])
    assert "docs/sound.md" in error.value.hint
