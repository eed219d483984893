# SPDX-License-Identifier: Apache-2.0
"""Heart, brain, muscle and pulse."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import eeg, waveform


@network(lambda: eeg(8, 128).unsqueeze(1))
class EegNet(nn.Module):
    """EEGNet: temporal filters, one spatial filter for each, separable convolution."""

    def __init__(self, electrodes: int = 8, f1: int = 4, depth: int = 2, classes: int = 4) -> None:
        super().__init__()
        f2 = f1 * depth
        self.block1 = nn.Sequential(
            nn.ZeroPad2d((15, 16, 0, 0)),
            nn.Conv2d(1, f1, (1, 32), bias=False),
            nn.BatchNorm2d(f1),
            nn.Conv2d(f1, f2, (electrodes, 1), groups=f1, bias=False),
            nn.BatchNorm2d(f2),
            nn.ELU(),
            nn.AvgPool2d((1, 4)),
            nn.Dropout(0.25),
        )
        self.block2 = nn.Sequential(
            nn.ZeroPad2d((7, 8, 0, 0)),
            nn.Conv2d(f2, f2, (1, 16), groups=f2, bias=False),
            nn.Conv2d(f2, f2, 1, bias=False),
            nn.BatchNorm2d(f2),
            nn.ELU(),
            nn.AvgPool2d((1, 8)),
            nn.Dropout(0.25),
        )
        self.classify = nn.Linear(f2 * 4, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classify(self.block2(self.block1(x)).flatten(1))


@network(lambda: eeg(8, 160).unsqueeze(1))
class ShallowConvNet(nn.Module):
    """Band power: square, mean, logarithm."""

    def __init__(self, electrodes: int = 8, classes: int = 4) -> None:
        super().__init__()
        self.temporal = nn.Conv2d(1, 12, (1, 13))
        self.spatial = nn.Conv2d(12, 12, (electrodes, 1), bias=False)
        self.bn = nn.BatchNorm2d(12)
        self.pool = nn.AvgPool2d((1, 35), stride=(1, 7))
        self.fc = nn.Conv2d(12, classes, (1, 17))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.bn(self.spatial(self.temporal(x)))
        x = torch.log(torch.clamp(self.pool(x**2), min=1e-6))
        return self.fc(x).squeeze(3).squeeze(2)


class Block1d(nn.Module):
    def __init__(self, cin: int, cout: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(cin, cout, 7, stride, 3, bias=False)
        self.bn1 = nn.BatchNorm1d(cout)
        self.conv2 = nn.Conv1d(cout, cout, 7, 1, 3, bias=False)
        self.bn2 = nn.BatchNorm1d(cout)
        self.shortcut = nn.Sequential(
            nn.AvgPool1d(stride, stride), nn.Conv1d(cin, cout, 1, bias=False), nn.BatchNorm1d(cout)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class Chomp1d(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, :, : -self.size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, cin: int, cout: int, dilation: int) -> None:
        super().__init__()
        pad = 2 * dilation
        self.net = nn.Sequential(
            nn.utils.parametrizations.weight_norm(
                nn.Conv1d(cin, cout, 3, padding=pad, dilation=dilation)
            ),
            Chomp1d(pad),
            nn.ReLU(),
            nn.Dropout(0.2),
            nn.Conv1d(cout, cout, 3, padding=pad, dilation=dilation),
            Chomp1d(pad),
            nn.ReLU(),
        )
        self.downsample = nn.Conv1d(cin, cout, 1) if cin != cout else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        res = x if self.downsample is None else self.downsample(x)
        return F.relu(self.net(x) + res)


@network(lambda: waveform(64, 8) * 3)
class EmgTcn(nn.Module):
    """Gestures from eight muscles: the usual TCN with its chomps and weight norm."""

    def __init__(self, classes: int = 6) -> None:
        super().__init__()
        self.tcn = nn.Sequential(*(TemporalBlock(8 if d == 1 else 16, 16, d) for d in (1, 2, 4, 8)))
        self.fc = nn.Linear(16, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.tcn(x)[:, :, -1])
