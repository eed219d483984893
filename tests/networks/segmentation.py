# SPDX-License-Identifier: Apache-2.0
"""Masks."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import picture


class DoubleConv(nn.Module):
    def __init__(self, cin: int, cout: int) -> None:
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(cin, cout, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(inplace=True),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.double_conv(x)


@network(lambda: picture(1, 24, 24))
class UNetBilinear(nn.Module):
    """A grey U-Net with bilinear upsampling; the mask of the likeliest class comes out."""

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(8, 12, 3, padding=1), nn.ReLU())
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.dec = nn.Sequential(nn.Conv2d(20, 8, 3, padding=1), nn.ReLU())
        self.out = nn.Conv2d(8, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        x = self.out(self.dec(torch.cat([a, self.up(b)], dim=1)))
        return torch.argmax(x, dim=1)


@network(lambda: picture(3, 32, 32))
class DeepLab(nn.Module):
    """Atrous spatial pyramid pooling, with the image's mean as one of the branches."""

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU()
        )
        self.point = nn.Conv2d(16, 8, 1)
        self.atrous = nn.ModuleList(nn.Conv2d(16, 8, 3, padding=r, dilation=r) for r in (2, 4))
        self.image = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 8, 1), nn.ReLU())
        self.project = nn.Sequential(nn.Conv2d(32, 8, 1), nn.ReLU())
        self.classifier = nn.Conv2d(8, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[-2:]
        x = self.backbone(x)
        branches = [F.relu(self.point(x))] + [F.relu(layer(x)) for layer in self.atrous]
        pooled = F.interpolate(self.image(x), size=x.shape[-2:], mode="bilinear")
        x = self.classifier(self.project(torch.cat([*branches, pooled], dim=1)))
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class Bottleneck(nn.Module):
    """ENet's: 1x1, asymmetric 5x1 and 1x5, 1x1, with PReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        inner = channels // 2
        self.ext = nn.Sequential(
            nn.Conv2d(channels, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.PReLU(),
            nn.Conv2d(inner, inner, (5, 1), padding=(2, 0), bias=False),
            nn.Conv2d(inner, inner, (1, 5), padding=(0, 2), bias=False),
            nn.BatchNorm2d(inner),
            nn.PReLU(),
            nn.Conv2d(inner, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
            nn.Dropout2d(0.1),
        )
        self.out = nn.PReLU(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(x + self.ext(x))


@network(lambda: picture(3, 24, 24))
class PortraitMatte(nn.Module):
    """Attention refinement, reflected borders, an alpha mask."""

    def __init__(self) -> None:
        super().__init__()
        self.pad = nn.ReflectionPad2d(1)
        self.conv1 = nn.Conv2d(3, 8, 3, 2)
        self.conv2 = nn.Conv2d(8, 16, 3, 2)
        self.attention = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 16, 1), nn.BatchNorm2d(16), nn.Sigmoid()
        )
        self.head = nn.Conv2d(16, 4, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.conv1(self.pad(x)))
        x = F.relu(self.conv2(self.pad(x)))
        x = x * self.attention(x)
        return torch.clamp(self.shuffle(self.head(x)), 0, 1)
