# SPDX-License-Identifier: Apache-2.0
"""MobileNetV3-Small 1.0 (Howard et al., 2019, table 2), at 96x96; CORTEXM_IMAGE_SIZE changes that.

Batch normalization and hard-swish come before the last pool only: the classifier is linear,
hard-swish, linear, as in the paper.
"""

from __future__ import annotations

import os

import torch
from seeded import CALIBRATION_SAMPLES, seeded_model, seeded_samples
from torch import nn

IMAGE_SIZE = int(os.environ.get("CORTEXM_IMAGE_SIZE", "96"))
INPUT_SHAPE = (1, 3, IMAGE_SIZE, IMAGE_SIZE)

# The paper's table 2: kernel, expanded channels, output channels, squeeze-and-excite, hard-swish
# (else ReLU), stride.
BLOCKS = (
    (3, 16, 16, True, False, 2),
    (3, 72, 24, False, False, 2),
    (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2),
    (5, 240, 40, True, True, 1),
    (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1),
    (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2),
    (5, 576, 96, True, True, 1),
    (5, 576, 96, True, True, 1),
)


def conv_bn(c_in: int, c_out: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution and batch normalization, padded so that stride 1 keeps the size."""
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(c_out),
    )


def round_to_8(channels: float) -> int:
    """The nearest multiple of eight, at least eight and at least nine tenths of `channels`."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded if rounded >= 0.9 * channels else rounded + 8


class SqueezeExcite(nn.Module):
    """Scale each channel by a gate in [0, 1] computed from the channel means."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        squeezed = round_to_8(channels / 4)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.relu = nn.ReLU()
        self.expand = nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.gate(self.expand(self.relu(self.reduce(self.pool(x))))) * x


class Bottleneck(nn.Module):
    """Expand 1x1, filter depthwise, gate, project 1x1 without activation."""

    def __init__(
        self, c_in: int, kernel: int, hidden: int, c_out: int, gated: bool, swish: bool, stride: int
    ) -> None:
        super().__init__()
        act = nn.Hardswish if swish else nn.ReLU
        self.residual = stride == 1 and c_in == c_out
        layers: list[nn.Module] = []
        if hidden != c_in:
            layers += [conv_bn(c_in, hidden, 1), act()]
        layers += [conv_bn(hidden, hidden, kernel, stride, groups=hidden), act()]
        if gated:
            layers.append(SqueezeExcite(hidden))
        layers.append(conv_bn(hidden, c_out, 1))
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        return x + y if self.residual else y


class MobileNetV3Small(nn.Module):
    """The network of table 2."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, 16, 3, 2), nn.Hardswish())
        blocks: list[nn.Module] = []
        channels = 16
        for kernel, hidden, c_out, gated, swish, stride in BLOCKS:
            blocks.append(Bottleneck(channels, kernel, hidden, c_out, gated, swish, stride))
            channels = c_out
        self.features = nn.Sequential(*blocks)
        self.head = nn.Sequential(conv_bn(channels, 576, 1), nn.Hardswish())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(576, 1024), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(1024, classes)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.head(self.features(self.stem(x)))
        return self.classifier(torch.flatten(self.pool(x), 1))


def ModelUnderTest() -> nn.Module:
    return seeded_model(MobileNetV3Small, INPUT_SHAPE)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, CALIBRATION_SAMPLES)]
