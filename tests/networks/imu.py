# SPDX-License-Identifier: Apache-2.0
"""Motion sensors: activities, gestures, falls, gait."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import motion


@network(lambda: motion(3, 128).transpose(1, 2).unsqueeze(1))
class MagicWand(nn.Module):
    """Gestures as grey images of 128 by 3, padded as TensorFlow's SAME."""

    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, (4, 3))
        self.conv2 = nn.Conv2d(8, 16, (4, 1))
        self.fc1 = nn.Linear(16 * 14, 16)
        self.fc2 = nn.Linear(16, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.conv1(F.pad(x, (1, 1, 1, 2))))
        x = F.max_pool2d(x, 3)
        x = F.relu(self.conv2(F.pad(x, (0, 0, 1, 2))))
        x = F.max_pool2d(x, (3, 1))
        x = F.dropout(x, 0.1, self.training).flatten(1)
        return F.softmax(self.fc2(F.relu(self.fc1(x))), dim=-1)


@network(lambda: motion(3, 50))
class FallFeatures(nn.Module):
    """Features by hand, then a small classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(17, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = torch.sqrt((x * x).sum(dim=1))
        features = [x.mean(dim=2), x.std(dim=2), x.var(dim=2, unbiased=False)]
        features += [x.amax(dim=2), x.amin(dim=2)]
        features += [size.max(dim=1, keepdim=True)[0], size.mean(dim=1, keepdim=True)]
        return self.net(torch.cat(features, dim=1))


@network(lambda: motion(6, 60))
class SlidingWindows(nn.Module):
    """Overlapping windows by unfold, a layer for each, the best one counts."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(6 * 20, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        windows = x.unfold(2, 20, 10)  # [n, 6, 5, 20]
        windows = windows.permute(0, 2, 1, 3).flatten(2)
        return self.fc2(F.relu(self.fc1(windows))).amax(dim=1)
