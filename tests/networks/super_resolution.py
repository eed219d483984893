# SPDX-License-Identifier: Apache-2.0
"""Images in, images out: larger, cleaner, restyled."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import low_resolution, waveform


@network(lambda: low_resolution(1, 20, 20))
class Espcn(nn.Module):
    """Sub-pixel convolution: tanh, tanh, pixel shuffle."""

    def __init__(self, upscale: int = 2) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, padding=2)
        self.conv2 = nn.Conv2d(16, 8, 3, padding=1)
        self.conv3 = nn.Conv2d(8, upscale**2, 3, padding=1)
        self.pixel_shuffle = nn.PixelShuffle(upscale)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.conv1(x))
        x = torch.tanh(self.conv2(x))
        return torch.sigmoid(self.pixel_shuffle(self.conv3(x)))


class ResBlock(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, padding_mode="reflect"),
            nn.ReLU(True),
            nn.Conv2d(channels, channels, 3, padding=1, padding_mode="reflect"),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x).mul(0.5)


@network(lambda: low_resolution(1, 16, 16))
class LaplacianUpscaler(nn.Module):
    """A bilinear image plus details that a network adds."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.Conv2d(8, 8, 3, padding=1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(8, 1, 3, padding=1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        base = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return base + self.features(x)


@network(lambda: waveform(96))
class AudioUpsampler(nn.Module):
    """Sound at twice the rate: linear interpolation, corrected."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="linear", align_corners=True)
        self.conv1 = nn.Conv1d(1, 12, 9, padding=4)
        self.conv2 = nn.Conv1d(12, 1, 9, padding=4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.up(x)
        return x + self.conv2(F.relu(self.conv1(x)))


@network(lambda: low_resolution(1, 24, 24))
class DnCnn(nn.Module):
    """The noise of an image, taken off it."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(1, width, 3, padding=1), nn.ReLU(inplace=True)]
        for _ in range(2):
            layers += [
                nn.Conv2d(width, width, 3, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(inplace=True),
            ]
        layers.append(nn.Conv2d(width, 1, 3, padding=1))
        self.dncnn = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.dncnn(x)
