# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 1.0 (Sandler et al., 2018, table 2), at 96x96; CORTEXM_IMAGE_SIZE changes that."""

from __future__ import annotations

import os

import torch
from seeded import CALIBRATION_SAMPLES, seeded_model, seeded_samples
from torch import nn

IMAGE_SIZE = int(os.environ.get("CORTEXM_IMAGE_SIZE", "96"))
INPUT_SHAPE = (1, 3, IMAGE_SIZE, IMAGE_SIZE)

# The paper's table 2: expansion, output channels, repetitions, stride of the first repetition.
BLOCKS = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def conv_bn(c_in: int, c_out: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution and batch normalization, padded so that stride 1 keeps the size."""
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(c_out),
    )


class InvertedResidual(nn.Module):
    """Expand 1x1, filter depthwise 3x3, project 1x1 without activation."""

    def __init__(self, c_in: int, c_out: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = c_in * expansion
        self.residual = stride == 1 and c_in == c_out
        layers: list[nn.Module] = []
        if expansion != 1:
            layers += [conv_bn(c_in, hidden, 1), nn.ReLU6()]
        layers += [conv_bn(hidden, hidden, 3, stride, groups=hidden), nn.ReLU6()]
        layers += [conv_bn(hidden, c_out, 1)]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    """The network of table 2 with a linear classifier behind a global average pool."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, 32, 3, 2), nn.ReLU6())
        blocks: list[nn.Module] = []
        channels = 32
        for expansion, c_out, repetitions, stride in BLOCKS:
            for i in range(repetitions):
                blocks.append(InvertedResidual(channels, c_out, stride if i == 0 else 1, expansion))
                channels = c_out
        self.features = nn.Sequential(*blocks)
        self.head = nn.Sequential(conv_bn(channels, 1280, 1), nn.ReLU6())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(1280, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.head(self.features(self.stem(x)))
        return self.classifier(torch.flatten(self.pool(x), 1))


def ModelUnderTest() -> nn.Module:
    return seeded_model(MobileNetV2, INPUT_SHAPE)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, CALIBRATION_SAMPLES)]
