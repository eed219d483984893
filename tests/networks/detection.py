# SPDX-License-Identifier: Apache-2.0
"""Detection: anchors, centres, boxes, keypoints."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import picture


def conv(cin: int, cout: int, stride: int = 1, kernel: int = 3) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(cin, cout, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


@network(lambda: picture(3, 32, 32))
class YoloHead(nn.Module):
    """A YOLOv5 head with anchors and grid as 5-D constants, decoded inside."""

    def __init__(self, classes: int = 3, stride: int = 8) -> None:
        super().__init__()
        self.no, self.na, self.stride = classes + 5, 2, stride
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 6, 2, 2, bias=False),
            nn.BatchNorm2d(8),
            nn.SiLU(),
            nn.Conv2d(8, 16, 3, 2, 1, bias=False),
            nn.BatchNorm2d(16),
            nn.SiLU(),
            nn.Conv2d(16, 24, 3, 2, 1, bias=False),
            nn.BatchNorm2d(24),
            nn.SiLU(),
        )
        self.detect = nn.Conv2d(24, self.no * self.na, 1)
        anchors = torch.tensor([[10.0, 13.0], [16.0, 30.0]]).view(1, self.na, 1, 1, 2)
        self.register_buffer("anchor_grid", anchors)
        y, x = torch.meshgrid(torch.arange(4.0), torch.arange(4.0), indexing="ij")
        self.register_buffer("grid", torch.stack((x, y), 2).view(1, 1, 4, 4, 2) - 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.detect(self.backbone(x))
        b, _, ny, nx = x.shape
        x = x.view(b, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        y = x.sigmoid()
        xy = (y[..., 0:2] * 2 + self.grid) * self.stride
        wh = (y[..., 2:4] * 2) ** 2 * self.anchor_grid
        return torch.cat((xy, wh, y[..., 4:]), -1).view(b, -1, self.no)


@network(lambda: picture(3, 32, 32))
class YoloScale(nn.Module):
    """Anchors scaled where the maps are, `[1, 2, 4, 1, 1]`."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(conv(3, 8, 2), conv(8, 16, 2), nn.Conv2d(16, 8, 1))
        self.scale = nn.Parameter(torch.rand(1, 2, 4, 1, 1) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.net(x)
        n, _, h, w = x.shape
        x = torch.sigmoid(x.view(n, 2, 4, h, w)) * self.scale
        return x.flatten(1, 2)


@network(lambda: picture(3, 40, 40))
class Ssd(nn.Module):
    """Boxes and classes from maps of two sizes, joined."""

    def __init__(self, classes: int = 4, anchors: int = 3) -> None:
        super().__init__()
        self.classes = classes
        self.stem = nn.Sequential(conv(3, 8, 2), conv(8, 16, 2))
        self.extra = conv(16, 24, 2)
        self.loc = nn.ModuleList(nn.Conv2d(c, anchors * 4, 3, padding=1) for c in (16, 24))
        self.conf = nn.ModuleList(nn.Conv2d(c, anchors * classes, 3, padding=1) for c in (16, 24))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a = self.stem(x)
        maps = [a, self.extra(a)]
        loc = [
            f(m).permute(0, 2, 3, 1).reshape(1, -1, 4) for f, m in zip(self.loc, maps, strict=True)
        ]
        conf = [
            f(m).permute(0, 2, 3, 1).reshape(1, -1, self.classes)
            for f, m in zip(self.conf, maps, strict=True)
        ]
        return torch.cat(loc, 1), torch.softmax(torch.cat(conf, 1), dim=-1)


@network(lambda: picture(3, 40, 40))
class CenterNet(nn.Module):
    """A heat map whose peaks survive a 3x3 maximum, sizes and offsets beside it."""

    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        self.backbone = nn.Sequential(conv(3, 8, 2), conv(8, 16, 2), conv(16, 16))
        self.up = nn.ConvTranspose2d(16, 12, 4, stride=2, padding=1)
        self.heat = nn.Conv2d(12, classes, 1)
        self.size = nn.Conv2d(12, 2, 1)
        self.offset = nn.Conv2d(12, 2, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x = F.relu(self.up(self.backbone(x)))
        heat = torch.sigmoid(self.heat(x))
        peaks = (F.max_pool2d(heat, 3, stride=1, padding=1) == heat).float()
        return heat * peaks, F.relu(self.size(x)), self.offset(x)


@network(lambda: picture(1, 48, 48))
class Fomo(nn.Module):
    """Objects as cells of a coarse grid."""

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.features = nn.Sequential(conv(1, 8, 2), conv(8, 16, 2), conv(16, 24, 2))
        self.head = nn.Sequential(nn.Conv2d(24, 16, 1), nn.ReLU(), nn.Conv2d(16, classes, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.softmax(self.head(self.features(x)), dim=1)


@network(lambda: picture(1, 32, 32))
class HeatmapKeypoints(nn.Module):
    """Keypoints as the expected place under a softmax over each map."""

    def __init__(self, points: int = 5) -> None:
        super().__init__()
        self.net = nn.Sequential(conv(1, 8, 2), conv(8, 16), nn.Conv2d(16, points, 1))
        self.register_buffer("axis", torch.linspace(-1, 1, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heat = self.net(x)
        n, k, h, w = heat.shape
        p = torch.softmax(heat.view(n, k, -1), dim=-1).view(n, k, h, w)
        xs = (p.sum(dim=2) * self.axis).sum(dim=-1)
        ys = (p.sum(dim=3) * self.axis).sum(dim=-1)
        return torch.stack([xs, ys], dim=-1)


class BlazeBlock(nn.Module):
    def __init__(self, cin: int, cout: int, stride: int = 1) -> None:
        super().__init__()
        self.stride, self.channel_pad = stride, cout - cin
        self.convs = nn.Sequential(
            nn.Conv2d(cin, cin, 3, stride, 0 if stride == 2 else 1, groups=cin),
            nn.Conv2d(cin, cout, 1),
        )
        self.pool = nn.MaxPool2d(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.stride == 2:
            h = F.pad(x, (0, 2, 0, 2), "constant", 0)
            x = self.pool(x)
        else:
            h = x
        if self.channel_pad > 0:
            x = F.pad(x, (0, 0, 0, 0, 0, self.channel_pad), "constant", 0)
        return F.relu(self.convs(h) + x)


@network(lambda: picture(3, 48, 48))
class FeaturePyramid(nn.Module):
    """Maps of three sizes added from the top down."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.c1, self.c2, self.c3 = conv(3, 8, 2), conv(8, 16, 2), conv(16, 24, 2)
        self.lateral = nn.ModuleList(nn.Conv2d(c, width, 1) for c in (8, 16, 24))
        self.smooth = nn.ModuleList(nn.Conv2d(width, 4, 3, padding=1) for _ in range(3))

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        c1 = self.c1(x)
        c2 = self.c2(c1)
        p3 = self.lateral[2](self.c3(c2))
        p2 = self.lateral[1](c2) + F.interpolate(p3, scale_factor=2, mode="nearest")
        p1 = self.lateral[0](c1) + F.interpolate(p2, size=c1.shape[-2:], mode="nearest")
        return [layer(p) for layer, p in zip(self.smooth, (p1, p2, p3), strict=True)]


@network(lambda: picture(3, 32, 32))
class BestBoxes(nn.Module):
    """Anchor-free boxes; the five with the best scores come out."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(conv(3, 8, 2), conv(8, 16, 2))
        self.score = nn.Conv2d(16, 1, 3, padding=1)
        self.box = nn.Conv2d(16, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.net(x)
        scores = torch.sigmoid(self.score(x)).flatten(1)
        boxes = F.relu(self.box(x)).flatten(2)
        best, place = torch.topk(scores, 5, dim=1)
        return best, torch.gather(boxes, 2, place.unsqueeze(1).expand(-1, 4, -1))


@network(lambda: picture(3, 32, 32))
class HandLandmarks(nn.Module):
    """Coordinates by regression, kept in the image by bounds that are tensors."""

    def __init__(self, points: int = 6) -> None:
        super().__init__()
        self.net = nn.Sequential(conv(3, 8, 2), conv(8, 16, 2), conv(16, 16, 2))
        self.points = nn.Linear(16 * 16, 2 * points)
        self.handed = nn.Linear(16 * 16, 1)
        self.register_buffer("low", torch.zeros(2))
        self.register_buffer("high", torch.tensor([31.0, 31.0]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.net(x).flatten(1)
        points = self.points(x).view(x.shape[0], -1, 2) * 32 + 16
        return torch.clamp(points, self.low, self.high), torch.sigmoid(self.handed(x))
