# SPDX-License-Identifier: Apache-2.0
"""How much of a digit is drawn in which direction: four fixed filters, nothing to train."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

# Second derivative across a line: horizontal, vertical and the two diagonals.
LINES = (
    ((-1, -1, -1), (2, 2, 2), (-1, -1, -1)),
    ((-1, 2, -1), (-1, 2, -1), (-1, 2, -1)),
    ((-1, -1, 2), (-1, 2, -1), (2, -1, -1)),
    ((2, -1, -1), (-1, 2, -1), (-1, -1, 2)),
)


class Strokes(nn.Module):
    """8x8 pixels in [0, 1] to the mean strength of - | / and \\ in them."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = nn.Conv2d(1, 4, 3, padding=1, bias=False)
        self.lines.weight.data = torch.tensor(LINES, dtype=torch.float32).unsqueeze(1) / 6
        self.mean = nn.AvgPool2d(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.flatten(self.mean(torch.relu(self.lines(x))), 1)


def scans() -> tuple[torch.Tensor, torch.Tensor]:
    """Every fifth scan of the set, as in the other sample: [n, 1, 8, 8], and their digits, [n]."""
    digits = load_digits()
    images = (digits.images[::5, None] / 16).astype(np.float32)
    return torch.from_numpy(images), torch.from_numpy(digits.target[::5])


def ModelUnderTest() -> nn.Module:
    return Strokes().eval()


def CalibrationInputs() -> torch.Tensor:
    return scans()[0][::4]


def EvaluationInputs() -> tuple[torch.Tensor, torch.Tensor]:
    return scans()


ModelInputs = (torch.zeros(1, 1, 8, 8),)
