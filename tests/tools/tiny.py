# SPDX-License-Identifier: Apache-2.0
"""A small model file in the form that ExecuTorch's aot_arm_compiler takes: plain values."""

from __future__ import annotations

import torch
from torch import nn

torch.manual_seed(0)


class Tiny(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.linear = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.depthwise(torch.relu(self.conv(x))))
        return self.linear(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


ModelUnderTest = Tiny()
ModelInputs = (torch.randn(1, 3, 12, 12),)
