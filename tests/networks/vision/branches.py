# SPDX-License-Identifier: Apache-2.0
"""Image classifiers: branches side by side, and plain networks between them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ..corpus import network
from ..signals import picture


class Fire(nn.Module):
    def __init__(self, cin: int, squeeze: int, expand: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(cin, squeeze, 1)
        self.expand1x1 = nn.Conv2d(squeeze, expand, 1)
        self.expand3x3 = nn.Conv2d(squeeze, expand, 3, padding=1)
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.activation(self.squeeze(x))
        return torch.cat(
            [self.activation(self.expand1x1(x)), self.activation(self.expand3x3(x))], 1
        )


@network(lambda: picture(3, 32, 32))
class SqueezeNet(nn.Module):
    """Fire modules, pools with ceil_mode, a convolution as classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2, ceil_mode=True),
            Fire(16, 8, 12),
            nn.MaxPool2d(3, stride=2, ceil_mode=True),
            Fire(24, 8, 16),
        )
        self.classifier = nn.Sequential(
            nn.Dropout(0.5), nn.Conv2d(32, 10, 1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.flatten(self.classifier(self.features(x)), 1)


class DenseLayer(nn.Module):
    def __init__(self, cin: int, growth: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(cin)
        self.conv1 = nn.Conv2d(cin, 2 * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(2 * growth)
        self.conv2 = nn.Conv2d(2 * growth, growth, 3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv1(F.relu(self.norm1(x)))
        y = self.conv2(F.relu(self.norm2(y)))
        return torch.cat([x, y], 1)


@network(lambda: picture(3, 31, 31))
class Vgg(nn.Module):
    """Plain convolutions, and an adaptive pool whose windows do not divide the image."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2, 2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((3, 3))
        self.classifier = nn.Sequential(
            nn.Linear(16 * 9, 32), nn.ReLU(True), nn.Dropout(), nn.Linear(32, 10)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


@network(lambda: picture(3, 28, 28))
class Inception(nn.Module):
    """Four branches side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 3, 2, 1)
        self.branch1 = nn.Conv2d(12, 8, 1)
        self.branch2 = nn.Sequential(nn.Conv2d(12, 6, 1), nn.ReLU(), nn.Conv2d(6, 8, 3, padding=1))
        self.branch3 = nn.Sequential(
            nn.Conv2d(12, 4, 1), nn.ReLU(), nn.Conv2d(4, 8, (1, 5), padding=(0, 2))
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1, ceil_mode=True), nn.Conv2d(12, 8, 1)
        )
        self.fc = nn.Linear(32, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.stem(x))
        x = torch.cat([b(x) for b in (self.branch1, self.branch2, self.branch3, self.branch4)], 1)
        x = F.avg_pool2d(F.relu(x), 5, ceil_mode=True)
        return self.fc(x.amax(dim=(2, 3)))


class Ghost(nn.Module):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.cout = cout
        self.primary = nn.Sequential(
            nn.Conv2d(cin, (cout + 1) // 2, 1, bias=False),
            nn.BatchNorm2d((cout + 1) // 2),
            nn.ReLU(),
        )
        self.cheap = nn.Sequential(
            nn.Conv2d(
                (cout + 1) // 2, (cout + 1) // 2, 3, padding=1, groups=(cout + 1) // 2, bias=False
            ),
            nn.BatchNorm2d((cout + 1) // 2),
            nn.ReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.primary(x)
        return torch.cat([a, self.cheap(a)], dim=1)[:, : self.cout]


@network(lambda: picture(3, 24, 24))
class GhostNet(nn.Module):
    """Half of the channels from cheap depthwise convolutions, an odd number kept."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.ghost1 = Ghost(8, 15)
        self.ghost2 = Ghost(15, 20)
        self.pool = nn.AdaptiveMaxPool2d(1)
        self.fc = nn.Linear(20, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.ghost2(self.ghost1(F.relu(self.stem(x))))
        return self.fc(self.pool(x).view(-1, 20))


@network(lambda: picture(3, 24, 24))
class NetworkInNetwork(nn.Module):
    """1x1 convolutions between larger ones, a global pool for each class."""

    def __init__(self) -> None:
        super().__init__()
        self.classifier = nn.Sequential(
            nn.Conv2d(3, 16, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.Conv2d(16, 12, 1),
            nn.ReLU(inplace=True),
            nn.AvgPool2d(3, stride=2, padding=1),
            nn.Dropout(0.5),
            nn.Conv2d(12, 16, 3, padding=1),
            nn.ELU(inplace=True),
            nn.Conv2d(16, 10, 1),
            nn.ReLU(inplace=True),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.classifier(x)
        return F.avg_pool2d(x, x.size(-1)).view(x.size(0), 10)
