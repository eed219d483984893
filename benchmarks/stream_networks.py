# SPDX-License-Identifier: Apache-2.0
"""Networks over windows of a stream, without padding that a result depends on; seeded weights."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    """Two convolutions, and the middle of what they read."""

    def __init__(self, inputs: int, outputs: int, taps: int = 5) -> None:
        super().__init__()
        self.first, self.second = (
            nn.Conv1d(inputs, outputs, taps),
            nn.Conv1d(outputs, outputs, taps),
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(outputs) for _ in range(2))
        self.short = nn.Conv1d(inputs, outputs, 1)
        self.cut = taps - 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norms[0](self.first(x)))
        return torch.relu(self.norms[1](self.second(y)) + self.short(x)[..., self.cut : -self.cut])


class TcResNet(nn.Module):
    """TC-ResNet8's widths (Choi et al. 2019) with 5 taps and no strides: 49 frames of 40 bands."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(40, 16, 3)
        self.blocks = nn.Sequential(Residual(16, 24), Residual(24, 32), Residual(32, 48))
        self.head = nn.Linear(48, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(torch.relu(self.first(x))).mean(-1))


class DsCnn(nn.Module):
    """MLPerf Tiny's DS-CNN with valid convolutions: 49 frames of 10 coefficients."""

    def __init__(self, channels: int = 64) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            nn.Conv2d(1, channels, (10, 2)),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
        ]
        for _ in range(4):
            layers += [nn.Conv2d(channels, channels, 3, groups=channels), nn.BatchNorm2d(channels)]
            layers += [
                nn.ReLU(),
                nn.Conv2d(channels, channels, 1),
                nn.BatchNorm2d(channels),
                nn.ReLU(),
            ]
        self.body, self.head = nn.Sequential(*layers), nn.Linear(channels, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x).mean((2, 3)))


class CausalLayer(nn.Module):
    """A dilated convolution, padded in front, and a residual."""

    def __init__(self, inputs: int, outputs: int, apart: int) -> None:
        super().__init__()
        self.pad = 2 * apart
        self.conv = nn.Conv1d(inputs, outputs, 3, dilation=apart)
        self.out = nn.Conv1d(outputs, outputs, 1)
        self.short = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.conv(F.pad(x, (self.pad, 0))))
        return torch.relu(self.out(y) + self.short(x))


class Tcn(nn.Module):
    """A causal TCN (Bai et al. 2018) of which the last step is read: 64 samples of 4 sensors."""

    def __init__(self) -> None:
        super().__init__()
        widths = (4, 16, 16, 16, 16)
        self.layers = nn.Sequential(
            *(CausalLayer(widths[n], widths[n + 1], 2**n) for n in range(4))
        )
        self.head = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x)[..., -1])


class Gated(nn.Module):
    """A gated, dilated convolution of two taps."""

    def __init__(self, channels: int, apart: int) -> None:
        super().__init__()
        self.apart = apart
        self.filter, self.gate = (
            nn.Conv1d(channels, channels, 2, dilation=apart) for _ in range(2)
        )
        self.out = nn.Conv1d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        z = self.out(torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x)))
        return x[..., self.apart :] + z, z


class WaveNet(nn.Module):
    """Eight layers of WaveNet (van den Oord et al. 2016), which look back at 256 samples."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.layers = nn.ModuleList(Gated(channels, 2**n) for n in range(8))
        self.last = nn.Conv1d(channels, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = x.shape[-1] - 255
        x, total = self.first(x), torch.zeros(())
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip[..., -count:]
        return self.last(torch.relu(total))


NETWORKS: dict[str, tuple[type[nn.Module], tuple[int, ...], str]] = {
    "TC-ResNet8-like": (TcResNet, (1, 40, 49), "2:1"),
    "DS-CNN, valid": (DsCnn, (1, 1, 49, 10), "2:1"),
    "TCN": (Tcn, (1, 4, 64), "2:1"),
    "WaveNet": (WaveNet, (1, 1, 256), "2:1"),
}
"""What there is, the shape of its windows, and how it is streamed."""
