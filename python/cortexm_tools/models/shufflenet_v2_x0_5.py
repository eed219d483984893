# SPDX-License-Identifier: Apache-2.0
"""ShuffleNetV2 0.5 (Ma et al., 2018, table 5), at 96x96; CORTEXM_IMAGE_SIZE changes that."""

from __future__ import annotations

import os

import torch
from seeded import CALIBRATION_SAMPLES, seeded_model, seeded_samples
from torch import nn

IMAGE_SIZE = int(os.environ.get("CORTEXM_IMAGE_SIZE", "96"))
INPUT_SHAPE = (1, 3, IMAGE_SIZE, IMAGE_SIZE)

# The paper's table 5, column 0.5x: output channels and units of the stages 2 to 4.
STAGES = ((48, 4), (96, 8), (192, 4))
STEM_CHANNELS, HEAD_CHANNELS = 24, 1024


def conv_bn(c_in: int, c_out: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution and batch normalization, padded so that stride 1 keeps the size."""
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(c_out),
    )


def channel_shuffle(x: torch.Tensor, groups: int) -> torch.Tensor:
    """Channel i of group g goes to position i * groups + g."""
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).contiguous().view(n, c, h, w)


def branch(c_in: int, c_out: int, stride: int) -> nn.Sequential:
    """1x1, depthwise 3x3, 1x1."""
    return nn.Sequential(
        conv_bn(c_in, c_out, 1),
        nn.ReLU(),
        conv_bn(c_out, c_out, 3, stride, groups=c_out),
        conv_bn(c_out, c_out, 1),
        nn.ReLU(),
    )


class Unit(nn.Module):
    """Half of the channels pass by, the other half goes through the branch (figure 3c)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.branch = branch(channels // 2, channels // 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept, changed = x.chunk(2, dim=1)
        return channel_shuffle(torch.cat((kept, self.branch(changed)), dim=1), 2)


class DownUnit(nn.Module):
    """Both branches see all channels and halve the size (figure 3d)."""

    def __init__(self, c_in: int, c_out: int) -> None:
        super().__init__()
        self.shortcut = nn.Sequential(
            conv_bn(c_in, c_in, 3, 2, groups=c_in), conv_bn(c_in, c_out // 2, 1), nn.ReLU()
        )
        self.branch = branch(c_in, c_out // 2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return channel_shuffle(torch.cat((self.shortcut(x), self.branch(x)), dim=1), 2)


class ShuffleNetV2(nn.Module):
    """The network of table 5."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            conv_bn(3, STEM_CHANNELS, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2, padding=1)
        )
        units: list[nn.Module] = []
        channels = STEM_CHANNELS
        for c_out, repetitions in STAGES:
            units.append(DownUnit(channels, c_out))
            units += [Unit(c_out) for _ in range(repetitions - 1)]
            channels = c_out
        self.features = nn.Sequential(*units)
        self.head = nn.Sequential(conv_bn(channels, HEAD_CHANNELS, 1), nn.ReLU())
        self.classifier = nn.Linear(HEAD_CHANNELS, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.head(self.features(self.stem(x)))
        return self.classifier(x.mean([2, 3]))


def ModelUnderTest() -> nn.Module:
    return seeded_model(ShuffleNetV2, INPUT_SHAPE)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, CALIBRATION_SAMPLES)]
