# SPDX-License-Identifier: Apache-2.0
"""Which of ten words was just spoken, from a second of sound: what `cortexm_add_model` takes.

Samples go in as a microphone gives them. The logarithms of mel bands are part of the model, the
network behind them is causal and pads nothing, so that with STREAM a call takes the samples of 20 ms and
computes one frame. train.py makes the weights in keyword_spotting.safetensors, and the sound.
"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

HERE = Path(__file__).parent
WEIGHTS = HERE / "keyword_spotting.safetensors"
SPOKEN = HERE / "words.wav"  # by voices that training did not hear
CALIBRATION = HERE / "calibration.wav"  # by some that it did

WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
CLASSES = ("silence", "unknown", *WORDS)
SAID = ("yes", "left", "unknown", "stop", "go", "right", "off", "down")  # in both recordings

RATE = 16000  # Hz
HOP = 320  # samples from one frame to the next, 20 ms
POINTS = 512  # samples of a frame
BANDS = 40
FRAMES = 49
WINDOW = (FRAMES - 1) * HOP + POINTS  # samples that the network looks back at


def mel_bank() -> torch.Tensor:
    """Triangles [bands, bins] that are equally wide in mel (O'Shaughnessy's formula), 60 Hz to 7.6 kHz."""
    low, high = (2595 * np.log10(1 + edge / 700) for edge in (60.0, 7600.0))
    edges = 700 * (10 ** (np.linspace(low, high, BANDS + 2) / 2595) - 1)
    at = np.arange(POINTS // 2 + 1) * RATE / POINTS
    rising = (at - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - at) / np.diff(edges)[1:, None]
    return torch.from_numpy(np.clip(np.minimum(rising, falling), 0, None).astype(np.float32))


class LogMel(nn.Module):
    """Sound [n, samples] in [-1, 1] to the logarithm of the power in each band, [n, 40, frames]."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(POINTS), persistent=False)
        self.register_buffer("bank", mel_bank(), persistent=False)

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        spectrum = torch.stft(
            sound, POINTS, HOP, window=self.window, center=False, return_complex=True
        )
        return torch.log(self.bank @ spectrum.abs() ** 2 + 1e-3) / 4


class Block(nn.Module):
    """A depthwise convolution along time and one across channels, beside the frame they end at."""

    def __init__(self, channels: int, taps: int, apart: int) -> None:
        super().__init__()
        self.back = (taps - 1) * apart
        self.body = nn.Sequential(
            nn.Conv1d(channels, channels, taps, dilation=apart, groups=channels, bias=False),
            nn.BatchNorm1d(channels),
            nn.ReLU(),
            nn.Conv1d(channels, channels, 1, bias=False),
            nn.BatchNorm1d(channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + x[..., self.back :])


class KeywordSpotting(nn.Module):
    """Sound [n, WINDOW] to the probability of each class, [n, 12]."""

    def __init__(self, channels: int = 56) -> None:
        super().__init__()
        self.log_mel = LogMel()
        self.first = nn.Sequential(
            nn.Conv1d(BANDS, channels, 3, bias=False), nn.BatchNorm1d(channels), nn.ReLU()
        )
        # 2 + 4 * (1 + 1.5 + 4 + 5) = 48 frames before the last one.
        self.blocks = nn.Sequential(
            *(Block(channels, *shape) for shape in ((5, 1), (4, 2), (5, 4), (6, 4)))
        )
        self.last = nn.Conv1d(channels, len(CLASSES), 1)

    def scores(self, features: torch.Tensor) -> torch.Tensor:
        """Features [n, 40, frames] to the scores of the classes at each frame but the first 48."""
        return self.last(self.blocks(self.first(features)))

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.scores(self.log_mel(sound))[..., 0], dim=1)


def read_wav(path: Path) -> torch.Tensor:
    """The samples of a file, in [-1, 1]."""
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        codes = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return torch.from_numpy(codes.astype(np.float32) / 2**15)


def windows(sound: torch.Tensor, hop: int) -> torch.Tensor:
    """Windows of a recording, [n, WINDOW]."""
    return sound.unfold(0, WINDOW, hop)


def ModelUnderTest() -> nn.Module:
    model = KeywordSpotting()
    model.load_state_dict(load_file(WEIGHTS))
    return model.eval()


def CalibrationInputs() -> torch.Tensor:
    return windows(read_wav(CALIBRATION), WINDOW // 2)


def EvaluationInputs() -> tuple[torch.Tensor, torch.Tensor]:
    return windows(read_wav(SPOKEN), WINDOW), torch.tensor([CLASSES.index(name) for name in SAID])


ModelInputs = (torch.zeros(1, WINDOW),)
