# SPDX-License-Identifier: Apache-2.0
"""A small network that reads handwritten digits: scans of 8x8 pixels from scikit-learn.

train.py makes the weights in model.safetensors. This file is what `cortexm_add_model` takes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from sklearn.datasets import load_digits
from torch import nn

WEIGHTS = Path(__file__).with_name("model.safetensors")
HELD_OUT = 5  # every fifth scan is kept from training: 360 of 1,797


class Digits(nn.Module):
    """8x8 pixels in [0, 1] to the probabilities of the ten digits."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1, groups=32, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 48, 1, bias=False),
            nn.BatchNorm2d(48),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(48, 48, 3, padding=1, groups=48, bias=False),
            nn.BatchNorm2d(48),
            nn.ReLU(),
            nn.Conv2d(48, 64, 1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.AvgPool2d(2),
        )
        self.dropout = nn.Dropout(0.2)
        self.classifier = nn.Linear(64 * 2 * 2, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.dropout(torch.flatten(self.features(x), 1))
        return torch.softmax(self.classifier(x), dim=1)


def scans(held_out: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The scans for testing or for training, [n, 1, 8, 8], and their digits, [n]."""
    digits = load_digits()
    wanted = (np.arange(len(digits.target)) % HELD_OUT == 0) == held_out
    images = (digits.images[wanted, None] / 16).astype(np.float32)
    return torch.from_numpy(images), torch.from_numpy(digits.target[wanted])


def ModelUnderTest() -> nn.Module:
    model = Digits()
    model.load_state_dict(load_file(WEIGHTS))
    return model.eval()


def CalibrationInputs() -> torch.Tensor:
    return scans(held_out=False)[0][::15]


def EvaluationInputs() -> tuple[torch.Tensor, torch.Tensor]:
    return scans(held_out=True)


ModelInputs = (torch.zeros(1, 1, 8, 8),)
