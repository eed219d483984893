# SPDX-License-Identifier: Apache-2.0
"""Spectra of sound in models: found however they are written, and lowered to one operator of integers."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import GraphModule

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import Lowered, lower
from cortexm_tools.frontend.quantize.sound import pcm_scale
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.frontend.rewrites import fold_constants, join_spectra
from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.options.precision import INT8, parse_quantization
from cortexm_tools.pte.reader import read_pte
from cortexm_tools.simplify import simplify
from cortexm_tools.simplify.int8_io import int8_io
from cortexm_tools.target import Target

from tests.support.sounds import mel_bank, speech

HERE = Path(__file__)
N, WINDOW, HOP = 512, 400, 160
Tensor = torch.Tensor
Function = Callable[["Net", Tensor], Tensor]


class Net(nn.Module):
    """A function of sound [1, samples], with the constants that it may want."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function
        self.window: Tensor
        self.register_buffer("window", torch.hann_window(WINDOW))
        bank = torch.tensor(mel_bank(20, N // 2 + 1), dtype=torch.float32)
        self.mel: Tensor
        self.register_buffer("mel", bank)
        angle = 2 * math.pi / N * torch.arange(N // 2 + 1)[:, None] * torch.arange(N)
        wide = F.pad(self.window, [(N - WINDOW) // 2] * 2)
        self.basis: Tensor
        self.register_buffer("basis", torch.cat([angle.cos(), -angle.sin()]) * wide)
        self.mean: Tensor
        self.register_buffer("mean", torch.linspace(-9, -5, 20))

    def stft(self, x: Tensor, center: bool = False) -> Tensor:
        return torch.stft(x, N, HOP, WINDOW, self.window, center, return_complex=True)

    def bands(self, powers: Tensor) -> Tensor:
        return torch.log(self.mel @ powers + 1e-6)

    def forward(self, x: Tensor) -> Tensor:
        return self.function(self, x)


def conv_and_chunk(m: Net, x: Tensor) -> Tensor:
    real, imaginary = F.conv1d(x[:, None], m.basis[:, None], stride=HOP).chunk(2, 1)
    return m.bands(real * real + imaginary**2)


def two_matrices(m: Net, x: Tensor) -> Tensor:
    frames = x.unfold(-1, N, HOP)
    real = frames @ m.basis[: N // 2 + 1].T
    imaginary = F.linear(frames, m.basis[N // 2 + 1 :])
    return torch.log((real.square() + imaginary.square()) @ m.mel.T + 1e-6)


def pairs(m: Net, x: Tensor) -> Tensor:
    powers = torch.view_as_real(m.stft(x)).pow(2).sum(-1)
    return ((powers.transpose(1, 2) @ m.mel.t()).clamp_min(1e-5).log() - m.mean) / 3.0


def by_hand(m: Net, x: Tensor) -> Tensor:
    """As from a converter of integers, one frame, with the window in place."""
    frame = x[:, 30 : 30 + WINDOW] / 4 * m.window
    spectrum = torch.fft.rfft(F.pad(frame, (0, N - WINDOW)))
    return 10 * torch.log10(torch.maximum((spectrum.abs() ** 2) @ m.mel.T, torch.tensor(1e-8)))


def in_turn(m: Net, x: Tensor) -> Tensor:
    """A kernel of a convolution for each cosine and sine, in turn; real and imaginary parts squared and
    added in a dimension."""
    kernels = m.basis.view(2, -1, 1, N).transpose(0, 1).reshape(-1, 1, N)
    both = F.conv1d(x.unsqueeze(1), kernels, stride=HOP)
    powers = both.square().unflatten(1, (N // 2 + 1, 2)).sum(2)
    return m.bands(powers)


def apart(m: Net, x: Tensor) -> Tensor:
    """The same as a matrix."""
    both = x.unfold(1, N, HOP) @ m.basis.view(2, -1, N).transpose(0, 1).reshape(-1, N).t()
    return torch.log(torch.hypot(both[..., ::2], both[..., 1::2]) @ m.mel.t() + 1e-3)


FORMS: dict[str, Function] = {
    "turns": in_turn,
    "matrix": apart,
    "parts of one": lambda m, x: m.bands(
        F.conv1d(x[:, None], m.basis[:, None], stride=HOP).view(1, 2, 257, -1).pow(2).sum(1)
    ),
    "einsum": lambda m, x: torch.log(torch.einsum("mf,bft->btm", m.mel, m.stft(x).abs() ** 2) + 1e-6),
    "norm": lambda m, x: torch.log(m.mel @ torch.view_as_real(m.stft(x)).norm(dim=-1) + 1e-3),
    "root": lambda m, x: torch.log10(torch.sqrt(m.stft(x).abs() ** 2 + 1e-7)),
    "loudness": lambda m, x: torch.log(m.stft(x).abs().pow(2).mean(1) + 1e-6),
    "abs": lambda m, x: m.bands(m.stft(x).abs() ** 2),
    "centered": lambda m, x: m.bands(m.stft(x, True).abs().square()),
    "parts": lambda m, x: m.bands(m.stft(x).real ** 2 + m.stft(x).imag.pow(2)),
    "pairs": pairs,
    "conjugate": lambda m, x: m.bands((m.stft(x) * m.stft(x).conj()).real),
    "magnitudes": lambda m, x: torch.log1p(m.mel @ m.stft(x).abs()) * 2 + 1,
    "roots": lambda m, x: torch.log2(m.mel @ (m.stft(x).real**2 + m.stft(x).imag**2).sqrt() + 1e-3),
    "unfold": lambda m, x: torch.log(
        torch.fft.rfft(x.unfold(1, WINDOW, HOP) * m.window, N, norm="ortho").abs() @ m.mel.T + 1e-4
    ),
    "kernels of one": lambda m, x: torch.log1p(1e4 * F.conv1d(m.stft(x).abs(), m.mel[:, :, None])),
    "bins": lambda m, x: -torch.log(m.stft(x)[:, 4:100].abs() ** 2 * 0.5 + 1e-5),
    "conv": conv_and_chunk,
    "matrices": two_matrices,
    "frame": by_hand,
    "several": lambda m, x: m.bands(m.stft(x.repeat(3, 1)).abs() ** 2),
}  # fmt: skip


def sound(seed: int, samples: int = 1000) -> Tensor:
    return torch.tensor(speech(samples, seed)[None], dtype=torch.float32)


def operators(graph: GraphModule) -> list[str]:
    return [str(n.target) for n in graph.graph.nodes if n.op == "call_function"]


def joined(function: Function | nn.Module) -> tuple[GraphModule, nn.Module]:
    net = function if isinstance(function, nn.Module) else Net(function)
    net.eval()
    program = torch.export.export(net, (sound(0),), strict=False)
    graph = copy.deepcopy(program.module(check_guards=False))
    assert isinstance(graph, GraphModule)
    fold_constants(graph)
    join_spectra(graph)
    return graph, net


@pytest.mark.parametrize("form", FORMS)
def test_found_however_it_is_written(form: str) -> None:
    graph, net = joined(FORMS[form])
    names = operators(graph)
    assert names.count("cortexm_tools.log_mel.default") == 1
    assert not [name for name in names if "fft" in name or "stft" in name or "matmul" in name]
    for seed in (1, 2):
        x = sound(seed)
        wanted, got = net(x), graph(x)
        assert got.shape == wanted.shape
        assert float((got - wanted).square().sum() / wanted.square().sum()) < 1e-7


def overwritten(m: Net, x: Tensor) -> Tensor:
    powers = m.stft(x).real
    return m.bands(powers.pow_(2) + powers)


OTHERS: dict[str, Function] = {
    "overwritten": overwritten,
    "phase": lambda m, x: torch.log(m.mel @ m.stft(x).real.abs() + 1e-6),
    "no transform": lambda m, x: torch.log(m.mel @ x.unfold(1, 257, 9).transpose(1, 2) ** 2 + 1e-6),
    "another matrix": lambda m, x: torch.log(
        (x.unfold(1, N, HOP) @ (m.basis[:257].T + 0.01)) ** 2 @ m.mel.T + 1e-6
    ),
    "two frames mixed": lambda m, x: m.bands(m.stft(x).real ** 2 + m.stft(x.flip(1)).imag ** 2),
}


@pytest.mark.parametrize("form", OTHERS)
def test_what_is_something_else_stays(form: str) -> None:
    graph, _ = joined(OTHERS[form])
    assert "cortexm_tools.log_mel.default" not in operators(graph)


def lowered(module: nn.Module, samples: list[Tensor], words: str = "int8") -> tuple[Lowered, Graph]:
    import_executorch()
    calibration = tuple((x,) for x in samples)
    loaded = LoadedModel(HERE, module.eval(), calibration[0], calibration, None)
    quantization = INT8 if words == "int8" else parse_quantization(words)
    result = lower(loaded, target=Target.parse("cortex-m55"), quantization=quantization, name="net")
    return result, simplify(read_pte(result.pte, name="net"))


def decibels(result: Lowered) -> float:
    """The only output's ratio of signal to noise."""
    assert result.quality is not None
    ((noise,),) = ([each.noise] for each in result.quality.outputs)
    assert noise is not None
    return noise.decibels


class Listener(nn.Module):
    """A front end and a small network behind it."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.front = Net(function)
        self.conv = nn.Conv1d(20, 8, 3)
        self.fc = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(F.relu(self.conv(0.1 * self.front(x))).mean(-1))


@pytest.mark.parametrize(
    ("form", "words"), [("abs", "int8"), ("centered", "a16w8"), ("conv", "int8")]
)
def test_models_are_lowered(form: str, words: str) -> None:
    """Byte for byte as ExecuTorch computes the program, and near the float model; PCM goes in."""
    samples = [sound(seed, 2000) for seed in range(8)]
    result, graph = lowered(Listener(FORMS[form]), samples, words)
    kinds = [op.kind for op in graph.ops]
    assert kinds.count("log_mel") == 1 and "requantize" not in kinds[: kinds.index("log_mel")]
    assert decibels(result) > 34
    x = samples[1].numpy()
    np.testing.assert_array_equal(run_graph(graph, [x])[0], result.reference([x])[0])
    (quantize,) = (op for op in graph.ops if op.inputs[0] == graph.inputs[0])
    assert isinstance(quantize.attrs, ops.Quantize) and quantize.attrs.scale == 2**-15
    assert graph.tensors[quantize.outputs[0]].dtype is DType.S16
    codes = int8_io(graph, None)
    borders = [codes.tensors[index].dtype for index in (*codes.inputs, *codes.outputs)]
    assert borders == [DType.S16, DType.S16 if words == "a16w8" else DType.S8]
    pcm = np.round(x * 2**15).clip(-(2**15), 2**15 - 1).astype(np.int16)
    scale = codes.tensors[codes.outputs[0]].quant
    assert scale is not None
    values = (run_graph(codes, [pcm])[0] - np.float32(scale.zero_point)) * np.float32(scale.scale)
    np.testing.assert_array_equal(values, run_graph(graph, [x])[0])
    if words == "int8":
        with pytest.raises(CortexMError) as error:
            int8_io(graph, DType.S8)
        assert error.value.hint == "build with IO codes"


class Streamed(nn.Module):
    """One hop per call; the samples of the frame before are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.front = Net(FORMS["abs"])
        self.past: Tensor
        self.register_buffer("past", torch.zeros(1, N - HOP))

    def forward(self, x: Tensor) -> Tensor:
        heard = torch.cat([self.past, x], 1)
        self.past.copy_(heard[:, HOP:])
        return self.front(heard)


def test_a_state_of_samples() -> None:
    whole = sound(3, 40 * HOP)
    result, graph = lowered(Streamed(), [whole[:, n : n + HOP] for n in range(0, 40 * HOP, HOP)])
    (state,) = graph.states
    assert graph.tensors[state.before].dtype is DType.S16
    assert [op.kind for op in graph.ops].count("log_mel") == 1
    assert decibels(result) > 38


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda m, x: m.mel @ m.stft(x).real.abs(), "torch.stft gives complex numbers"),
        (
            lambda m, x: torch.log(torch.fft.rfft(x[:, :400]).abs() + 1e-6),
            "torch.fft.rfft gives complex numbers",
        ),
    ],
)
def test_other_complex_numbers_are_refused(function: Function, words: str) -> None:
    with pytest.raises(CortexMError, match=words) as error:
        lowered(Net(function), [sound(0)])
    assert HERE.name in error.value.where
    assert "docs/sound.md" in error.value.hint


@pytest.mark.parametrize(
    ("loudest", "scale"),
    [(0.0, 2**-15), (0.3, 2**-15), (1.0, 2**-15), (1.5, 2**-14), (9, 1), (32768, 1), (40000, 2)],
)
def test_scales_of_pcm(loudest: float, scale: float) -> None:
    assert pcm_scale(loudest) == scale
