# SPDX-License-Identifier: Apache-2.0
"""Parts that vision people put into their networks: attention, warping, comparing two images."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import picture


@network(lambda: picture(3, 20, 20))
class EcaNet(nn.Module):
    """Channel attention by a 1-D convolution across channels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()
        )
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.eca = nn.Conv1d(1, 1, kernel_size=3, padding=1, bias=False)
        self.fc = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv(x)
        y = self.avg_pool(x)
        y = self.eca(y.squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
        x = x * torch.sigmoid(y).expand_as(x)
        return self.fc(self.avg_pool(x).flatten(1))


@network(lambda: (picture(1, 24, 24), picture(1, 24, 24)))
class Siamese(nn.Module):
    """Two images through the same layers, and the cosine between what comes out."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Sequential(
            nn.Conv2d(1, 8, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(8, 16, 3, 2, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 36, 16),
        )

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.cosine_similarity(self.embed(a), self.embed(b))


@network(lambda: picture(1, 20, 20))
class Prototypes(nn.Module):
    """Few-shot classification by distance to prototypes."""

    def __init__(self, classes: int = 6, dim: int = 12) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 2, 1)
        self.conv2 = nn.Conv2d(8, dim, 3, 2, 1)
        self.register_buffer("prototypes", torch.randn(classes, dim) * 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.conv1(x))
        x = self.conv2(x).mean(dim=(2, 3))
        return -torch.cdist(x, self.prototypes)


@network(lambda: picture(1, 16, 16))
class SpatialTransformer(nn.Module):
    """Straightens its input with an affine warp that a small network predicts."""

    def __init__(self) -> None:
        super().__init__()
        self.localization = nn.Sequential(
            nn.Conv2d(1, 4, 5), nn.MaxPool2d(2, 2), nn.ReLU(True), nn.Flatten(), nn.Linear(144, 6)
        )
        self.localization[4].weight.data.mul_(0.05)
        self.localization[4].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))
        self.conv = nn.Conv2d(1, 8, 3, 2)
        self.fc = nn.Linear(8 * 49, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        theta = self.localization(x).view(-1, 2, 3)
        grid = F.affine_grid(theta, list(x.size()), align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False)
        return self.fc(F.relu(self.conv(x)).flatten(1))


@network(lambda: picture(3, 16, 16))
class ShiftedWindows(nn.Module):
    """A block of a Swin transformer: patches rolled, cut into windows, rolled back."""

    def __init__(self, dim: int = 12) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, dim, 2, stride=2)
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x).permute(0, 2, 3, 1)  # [n, 8, 8, dim]
        shortcut = x
        x = torch.roll(self.norm(x), shifts=(-2, -2), dims=(1, 2))
        b, h, w, c = x.shape
        x = x.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        x = F.scaled_dot_product_attention(q, k, v)
        x = self.proj(x).view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5)
        x = torch.roll(x.reshape(b, h, w, c), shifts=(2, 2), dims=(1, 2))
        return self.head((shortcut + x).mean(dim=(1, 2)))


@network(lambda: picture(1, 18, 18))
class UnfoldedPatches(nn.Module):
    """Local patches by unfold, one matrix for all of them, folded into maps again."""

    def __init__(self) -> None:
        super().__init__()
        self.unfold = nn.Unfold(3, stride=3)
        self.first = nn.Linear(9, 16)
        self.second = nn.Linear(16, 8)
        self.head = nn.Conv2d(8, 3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.unfold(x).transpose(1, 2)
        x = self.second(F.relu(self.first(x))).transpose(1, 2)
        return self.head(x.reshape(x.shape[0], 8, 6, 6)).flatten(1)


@network(lambda: picture(1, 20, 20))
class CoordinateConv(nn.Module):
    """Coordinates as two more channels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.fc = nn.Linear(8 * 25, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, _, h, w = x.shape
        ys = torch.linspace(-1, 1, h).view(1, 1, h, 1).expand(n, 1, h, w)
        xs = torch.linspace(-1, 1, w).view(1, 1, 1, w).expand(n, 1, h, w)
        x = torch.cat([x, ys, xs], dim=1)
        return torch.tanh(self.fc(F.relu(self.conv2(F.relu(self.conv1(x)))).flatten(1)))


@network(lambda: picture(3, 20, 20))
class RepVgg(nn.Module):
    """Three branches that training leaves: 3x3, 1x1 and a batch norm alone."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 2, 1)
        self.dense = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        )
        self.point = nn.Sequential(nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width))
        self.identity = nn.BatchNorm2d(width)
        self.fc = nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.stem(x))
        x = F.relu(self.dense(x) + self.point(x) + self.identity(x))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Residual(nn.Module):
    """ConvNeXt's block, in channels-last order inside."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 2 * dim)
        self.pwconv2 = nn.Linear(2 * dim, dim)
        self.gamma = nn.Parameter(torch.full((dim,), 0.3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.dwconv(x).permute(0, 2, 3, 1)
        y = self.pwconv2(F.gelu(self.pwconv1(self.norm(y))))
        return x + (self.gamma * y).permute(0, 3, 1, 2)


@network(lambda: picture(3, 24, 24))
class ConvNext(nn.Module):
    """Layer norm over channels of an image, and a learned scale."""

    def __init__(self, dim: int = 12) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 4, stride=4)
        self.block = Residual(dim)
        self.head = nn.Linear(dim, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.block(self.stem(x)).mean([-2, -1]))
