# SPDX-License-Identifier: Apache-2.0
"""What sensors give, made up: inputs whose statistics are those of the real thing.

All functions draw from torch's generator, give float32 with a batch of one in front, and scale as
the usual preprocessing does.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F


def _uniform(low: float, high: float) -> float:
    return float(torch.empty(1).uniform_(low, high))


def picture(channels: int, height: int, width: int) -> torch.Tensor:
    """A smooth scene with an edge and sensor noise, normalized to about [-2, 2]."""
    size = (height, width)
    coarse = torch.rand(1, channels, max(2, height // 8), max(2, width // 8))
    scene = F.interpolate(coarse, size, mode="bilinear", align_corners=False)
    column = int(_uniform(0.2, 0.8) * width)
    scene[..., column:] = scene[..., column:] * _uniform(0.2, 1.0)
    return ((scene + 0.03 * torch.randn(scene.shape)).clamp(0, 1) - 0.45) / 0.225


def low_resolution(channels: int, height: int, width: int) -> torch.Tensor:
    """The same as values in [0, 1], as image-to-image networks take it."""
    return (picture(channels, height, width) * 0.225 + 0.45).clamp(0, 1)


def spectrogram(bands: int, frames: int) -> torch.Tensor:
    """Log-mel energies [1, 1, bands, frames], normalized: a gliding voice over noise."""
    time = torch.arange(frames) / frames
    band = torch.arange(bands)[:, None]
    pitch = bands * (_uniform(0.1, 0.3) + _uniform(-0.1, 0.1) * time)
    loud = torch.sigmoid(12 * (time - _uniform(0.1, 0.4))) * torch.sigmoid(
        12 * (_uniform(0.6, 0.9) - time)
    )
    voice = sum(torch.exp(-((band - k * pitch) ** 2) / 3) / k for k in (1, 2, 3))
    energy = voice * loud + 0.02 + 0.02 * torch.rand(bands, frames)
    return ((energy.log() + 2.5) / 1.5)[None, None]


def waveform(length: int, channels: int = 1) -> torch.Tensor:
    """Sound in [-1, 1], [1, channels, length]: harmonics with an envelope and some noise."""
    time = torch.arange(length)[None]
    base = _uniform(0.01, 0.05)
    tone = sum(torch.sin(2 * math.pi * base * k * time) / k for k in (1, 2, 3, 5))
    envelope = torch.exp(-(((time - _uniform(0.2, 0.8) * length) / (0.3 * length)) ** 2))
    mix = torch.empty(channels, 1).uniform_(0.5, 1.0)
    return (0.4 * mix * tone * envelope + 0.02 * torch.randn(channels, length))[None]


def eeg(electrodes: int, length: int) -> torch.Tensor:
    """Brain waves [1, electrodes, length] in tens of microvolts: alpha over brown noise."""
    time = torch.arange(length)
    alpha = torch.sin(2 * math.pi * (_uniform(8, 12) / 128 * time + _uniform(0, 1)))
    brown = torch.randn(electrodes, length).cumsum(1) * 0.05
    mix = torch.empty(electrodes, 1).uniform_(0.2, 1.0)
    return (mix * alpha + brown - brown.mean(1, keepdim=True))[None]


def motion(channels: int, length: int) -> torch.Tensor:
    """Accelerometer and gyroscope [1, channels, length]: gravity, steps, noise, in g and rad/s."""
    time = torch.arange(length)
    step = 2 * math.pi * _uniform(0.03, 0.08) * time
    gravity = F.normalize(torch.randn(channels, 1), dim=0)
    swing = torch.randn(channels, 1) * torch.sin(step) + torch.randn(channels, 1) * 0.3 * torch.cos(
        2 * step
    )
    return (gravity + 0.5 * swing + 0.05 * torch.randn(channels, length))[None]


def tokens(vocabulary: int, length: int) -> torch.Tensor:
    """Words by rank [1, length] int64, frequent ones more often."""
    return (vocabulary ** torch.rand(1, length) - 1).long().clamp(0, vocabulary - 1)


def readings(count: int) -> torch.Tensor:
    """Standardized columns of a table [1, count], some with long tails."""
    row = torch.randn(1, count)
    row[:, ::3] = row[:, ::3].exp() - 1.6
    return row


def categories(*counts: int) -> torch.Tensor:
    """One category of each column [1, columns] int64."""
    return torch.tensor([[int(torch.randint(count, ())) for count in counts]])
