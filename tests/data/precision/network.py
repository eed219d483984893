# SPDX-License-Identifier: Apache-2.0
"""A small network with every operator that has int16 activations; make.py lowers it."""

from __future__ import annotations

import torch
from torch import nn

torch.manual_seed(0)


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6())
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.pointwise = nn.Conv2d(8, 16, 1)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.classes = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.stem(x)
        x = nn.functional.hardswish(self.pointwise(torch.relu(self.depthwise(x))))
        x = nn.functional.max_pool2d(nn.functional.gelu(self.up(x)), 2)
        x = x - torch.cat([x[:, :4] * 0.5, x[:, 4:]], 1)
        x = torch.clamp(x, -0.3, 0.4).mean((2, 3))
        scores = torch.softmax(self.classes(x), -1)
        return scores, torch.tanh(x) / (torch.sigmoid(x) + 1.0)


ModelUnderTest = Network().eval()
ModelInputs = (torch.randn(1, 1, 16, 16),)
CalibrationInputs = [(torch.randn(1, 1, 16, 16),) for _ in range(8)]
