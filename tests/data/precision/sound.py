# SPDX-License-Identifier: Apache-2.0
"""Sound in, scores out: logarithms of bands of a spectrum and a network over a window of 24 frames."""

from __future__ import annotations

import torch
from torch import nn

HOP, POINTS, BANDS, FRAMES = 80, 128, 12, 24
WINDOW = (FRAMES - 1) * HOP + POINTS


class Sound(nn.Module):
    """Samples [1, WINDOW] to three scores."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(POINTS))
        self.register_buffer("bank", torch.rand(BANDS, POINTS // 2 + 1).pow(8))
        self.body = nn.Sequential(
            nn.Conv1d(BANDS, 8, 3), nn.ReLU(), nn.Conv1d(8, 8, 5, dilation=2, groups=8), nn.ReLU()
        )
        self.head = nn.Linear(8, 3)

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        spectrum = torch.stft(
            sound, POINTS, HOP, window=self.window, center=False, return_complex=True
        )
        bands = torch.log(self.bank @ spectrum.abs() ** 2 + 1e-3)
        return self.head(self.body(bands).mean(-1))


def CalibrationInputs() -> list[tuple[torch.Tensor]]:
    time = torch.arange(WINDOW)
    return [
        (
            0.5**n * torch.sin(0.02 * n * time + 1e-4 * time**2)[None]
            + 1e-3 * torch.randn(1, WINDOW),
        )
        for n in range(8)
    ]


def ModelUnderTest() -> nn.Module:
    torch.manual_seed(5)
    return Sound().eval()


ModelInputs = (torch.zeros(1, WINDOW),)
