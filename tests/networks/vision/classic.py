# SPDX-License-Identifier: Apache-2.0
"""Image classifiers: the first ones, trained on digits, and a residual network."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ..corpus import network
from ..signals import picture


def _digits() -> tuple[torch.Tensor, torch.Tensor]:
    """The 8x8 scans of scikit-learn, doubled in size."""
    from sklearn.datasets import load_digits

    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32)[:, None] / 16
    return F.interpolate(images, scale_factor=2.0), torch.tensor(data.target)


def train_on_digits(module: nn.Module) -> None:
    images, labels = _digits()
    optimizer = torch.optim.Adam(module.parameters(), lr=5e-3)
    module.train()
    for _ in range(60):
        pick = torch.randint(len(images), (64,))
        loss = F.cross_entropy(module(images[pick]), labels[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def digit() -> torch.Tensor:
    images, _ = _digits()
    pick = int(torch.randint(len(images), ()))
    return images[pick : pick + 1]


@network(digit, train=train_on_digits)
class LeNet(nn.Module):
    """LeNet-5 in a modern dress, trained on handwritten digits."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 3)
        self.fc1 = nn.Linear(16 * 3 * 3, 48)
        self.fc2 = nn.Linear(48, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(x.size(0), -1)
        return self.fc2(F.relu(self.fc1(x)))


@network(digit, train=train_on_digits)
class BatchNormNet(nn.Module):
    """Convolutions with batch norm and leaky activations, trained on handwritten digits."""

    def __init__(self) -> None:
        super().__init__()
        widths = (1, 8, 16, 24)
        layers: list[nn.Module] = []
        for cin, cout in zip(widths, widths[1:], strict=False):
            layers += [
                nn.Conv2d(cin, cout, 3, padding=1, bias=False),
                nn.BatchNorm2d(cout),
                nn.LeakyReLU(0.1),
                nn.MaxPool2d(2),
            ]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(24 * 2 * 2, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x).flatten(1))


class BasicBlock(nn.Module):
    def __init__(self, cin: int, cout: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or cin != cout:
            self.downsample = nn.Sequential(
                nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


@network(lambda: picture(3, 24, 24))
class ResNet(nn.Module):
    """Residual blocks written as torchvision has them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = BasicBlock(8, 8)
        self.layer2 = BasicBlock(8, 16, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(torch.flatten(self.avgpool(x), 1))
