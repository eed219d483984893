# SPDX-License-Identifier: Apache-2.0
"""Writes one network with the weights of two trainings, which are none: two seeds.

``python -m tests.data.apart.make`` in the checkout; needs PyTorch.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from cortexm_tools.api import lower_model

HERE = Path(__file__).parent
SEEDS = {"first": 1, "second": 2}


class Small(nn.Module):
    """An image [1, 1, 8, 8] to four probabilities: convolutions, a sum, a table, a softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, padding=1, stride=2)
        self.depth = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.point = nn.Conv2d(8, 8, 1)
        self.pool = nn.AvgPool2d(2)
        self.head = nn.Linear(32, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.stem(x))
        y = torch.sigmoid(self.point(torch.relu(self.depth(x))))
        x = torch.flatten(self.pool(x + y), 1)
        return torch.softmax(self.head(x), dim=1)


def main() -> None:
    for name, seed in SEEDS.items():
        torch.manual_seed(seed)
        samples = [torch.rand(1, 1, 8, 8) * 2 - 1 for _ in range(16)]
        program = lower_model(Small().eval(), (samples[0],), name="small", calibration=samples)
        (HERE / f"{name}.pte").write_bytes(program.pte)


if __name__ == "__main__":
    main()
