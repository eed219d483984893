# SPDX-License-Identifier: Apache-2.0
"""SqueezeNet 1.1 (Iandola et al., 2016, and its authors' release 1.1), at 64x64.

CORTEXM_IMAGE_SIZE changes the size. The max pools round their output sizes up, as in Caffe, where
the network comes from.
"""

from __future__ import annotations

import os

import torch
from seeded import CALIBRATION_SAMPLES, seeded_model, seeded_samples
from torch import nn

IMAGE_SIZE = int(os.environ.get("CORTEXM_IMAGE_SIZE", "64"))
INPUT_SHAPE = (1, 3, IMAGE_SIZE, IMAGE_SIZE)

# Squeezed channels and channels of each expanding half; None is a max pool.
FIRES = ((16, 64), (16, 64), None, (32, 128), (32, 128), None, (48, 192), (48, 192), (64, 256),
         (64, 256))  # fmt: skip


def conv(c_in: int, c_out: int, kernel: int, stride: int = 1, padding: int = 0) -> nn.Conv2d:
    """A convolution whose weights keep the variance through a ReLU (He et al., 2015)."""
    result = nn.Conv2d(c_in, c_out, kernel, stride, padding)
    nn.init.kaiming_normal_(result.weight, nonlinearity="relu")
    return result


class Fire(nn.Module):
    """Squeeze 1x1, then expand 1x1 and 3x3 side by side."""

    def __init__(self, c_in: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = conv(c_in, squeezed, 1)
        self.expand1x1 = conv(squeezed, expanded, 1)
        self.expand3x3 = conv(squeezed, expanded, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.squeeze(x))
        return torch.cat([self.relu(self.expand1x1(x)), self.relu(self.expand3x3(x))], 1)


class SqueezeNet(nn.Module):
    """Release 1.1 of the network."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            conv(3, 64, 3, stride=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, ceil_mode=True),
        ]
        channels = 64
        for fire in FIRES:
            if fire is None:
                layers.append(nn.MaxPool2d(3, 2, ceil_mode=True))
                continue
            layers.append(Fire(channels, *fire))
            channels = 2 * fire[1]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Dropout(0.5), conv(channels, classes, 1), nn.ReLU(inplace=True)
        )
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.flatten(self.pool(self.classifier(self.features(x))), 1)


def ModelUnderTest() -> nn.Module:
    return seeded_model(SqueezeNet, INPUT_SHAPE)


ModelInputs = (seeded_samples(INPUT_SHAPE, 1)[0],)


def CalibrationInputs() -> list[tuple[torch.Tensor, ...]]:
    return [(x,) for x in seeded_samples(INPUT_SHAPE, CALIBRATION_SAMPLES)]
