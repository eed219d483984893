# SPDX-License-Identifier: Apache-2.0
"""A small network with layers of every precision, which meet in sums and concatenations; make.py
lowers it."""

from __future__ import annotations

import torch
from torch import nn

torch.manual_seed(0)


class FrontEnd(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.skip = nn.Conv2d(1, 8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.conv(x)) + self.skip(x)


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.frontend = FrontEnd()
        self.body = nn.Sequential(
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1, groups=16),
            nn.ReLU(),
            nn.Conv2d(16, 8, 1),
        )
        self.fine = nn.Conv2d(8, 8, 1)
        self.classifier = nn.Linear(16 * 16, 6)
        self.decode = nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        image = torch.max_pool2d(self.frontend(x), 2)
        features = self.body(image)
        joined = torch.cat([self.fine(features), image + features], 1)
        scores = self.classifier(joined.flatten(1))
        return torch.softmax(scores, -1), self.decode(scores), torch.relu(joined)


ModelUnderTest = Network().eval()
ModelInputs = (torch.randn(1, 1, 8, 8),)
CalibrationInputs = [(torch.randn(1, 1, 8, 8),) for _ in range(8)]
Quantization = {
    "*": "int8",
    "frontend.*": "a16w8",
    "body": "a8w4",
    "body.2": "int8",
    "fine": "a16w4",
    "classifier": "a8w4",
    "decode": "float",
}
