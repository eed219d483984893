# SPDX-License-Identifier: Apache-2.0
"""Image classifiers for phones and smaller devices: depthwise convolutions, gates, shuffles."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ..corpus import network
from ..signals import picture


def same(x: torch.Tensor, kernel: int, stride: int) -> torch.Tensor:
    """Pads as TensorFlow's SAME: what is odd goes behind."""
    h, w = x.shape[-2:]
    pad_h = max((-(-h // stride) - 1) * stride + kernel - h, 0)
    pad_w = max((-(-w // stride) - 1) * stride + kernel - w, 0)
    return F.pad(x, (pad_w // 2, pad_w - pad_w // 2, pad_h // 2, pad_h - pad_h // 2))


class SameConv(nn.Conv2d):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(same(x, self.kernel_size[0], self.stride[0]))


@network(lambda: picture(1, 48, 48))
class PersonDetection(nn.Module):
    """MobileNetV1 on grey images, ported from TensorFlow."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [SameConv(1, 8, 3, 2, bias=False), nn.BatchNorm2d(8), nn.ReLU6()]
        cin = 8
        for cout, stride in ((16, 1), (24, 2), (24, 1), (32, 2)):
            layers += [
                SameConv(cin, cin, 3, stride, groups=cin, bias=False),
                nn.BatchNorm2d(cin),
                nn.ReLU6(),
                nn.Conv2d(cin, cout, 1, bias=False),
                nn.BatchNorm2d(cout),
                nn.ReLU6(),
            ]
            cin = cout
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Conv2d(cin, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x)
        x = F.avg_pool2d(x, 6)
        return torch.softmax(self.classifier(x).flatten(1), dim=-1)


@network(lambda: picture(1, 25, 25))
class ColumnPadding(nn.Module):
    """Explicit padding behind convolutions of one channel, on both sides and on one."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 2)
        self.pad1 = nn.ZeroPad2d((0, 1, 0, 1))
        self.conv2 = nn.Conv2d(8, 8, 3, 2, groups=8)
        self.pad2 = nn.ConstantPad2d((1, 1, 0, 0), 0.5)
        self.conv3 = nn.Conv2d(8, 4, 3)
        self.fc = nn.Linear(4 * 4 * 6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(self.pad1(x)))
        x = torch.relu(self.conv3(self.pad2(x)))
        return self.fc(x.flatten(1))


class InvertedResidual(nn.Module):
    def __init__(self, cin: int, cout: int, stride: int, expand: int) -> None:
        super().__init__()
        hidden = cin * expand
        self.use_res_connect = stride == 1 and cin == cout
        self.conv = nn.Sequential(
            nn.Conv2d(cin, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, cout, 1, bias=False),
            nn.BatchNorm2d(cout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


@network(lambda: picture(3, 32, 32))
class MobileNetV2(nn.Module):
    """Inverted residuals with linear bottlenecks."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU6(inplace=True),
            InvertedResidual(8, 12, 2, 4),
            InvertedResidual(12, 12, 1, 4),
            InvertedResidual(12, 20, 2, 4),
            nn.Conv2d(20, 48, 1, bias=False),
            nn.BatchNorm2d(48),
            nn.ReLU6(inplace=True),
        )
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(48, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(x, 1))


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int, reduce: int = 4) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, channels // reduce, 1)
        self.fc2 = nn.Conv2d(channels // reduce, channels, 1)

    def forward(self, x: torch.Tensor, gate: type[nn.Module] = nn.Hardsigmoid) -> torch.Tensor:
        scale = F.adaptive_avg_pool2d(x, 1)
        scale = self.fc2(F.relu(self.fc1(scale)))
        return F.hardsigmoid(scale) * x


@network(lambda: picture(3, 32, 32))
class MobileNetV3(nn.Module):
    """Hard swish and squeeze-and-excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish()
        )
        self.expand = nn.Sequential(
            nn.Conv2d(8, 24, 1, bias=False), nn.BatchNorm2d(24), nn.Hardswish()
        )
        self.depthwise = nn.Sequential(
            nn.Conv2d(24, 24, 5, 2, 2, groups=24, bias=False), nn.BatchNorm2d(24), nn.Hardswish()
        )
        self.se = SqueezeExcite(24)
        self.project = nn.Sequential(nn.Conv2d(24, 16, 1, bias=False), nn.BatchNorm2d(16))
        self.head = nn.Sequential(nn.Linear(16, 32), nn.Hardswish(), nn.Linear(32, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.depthwise(self.expand(self.stem(x)))
        x = self.project(self.se(x))
        return self.head(x.mean([2, 3]))


class Swish(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


@network(lambda: picture(3, 28, 28))
class EfficientNet(nn.Module):
    """An MBConv block with Swish written out and a sigmoid gate."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), Swish())
        self.depthwise = nn.Sequential(
            nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), Swish()
        )
        self.reduce = nn.Conv2d(8, 4, 1)
        self.expand = nn.Conv2d(4, 8, 1)
        self.project = nn.Sequential(nn.Conv2d(8, 8, 1, bias=False), nn.BatchNorm2d(8))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8, 10)
        self.swish = Swish()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        y = self.depthwise(x)
        gate = torch.sigmoid(self.expand(self.swish(self.reduce(self.pool(y)))))
        x = x + self.project(y * gate)
        return self.fc(self.pool(x).squeeze(-1).squeeze(-1))


def channel_shuffle(x: torch.Tensor, groups: int) -> torch.Tensor:
    n, c, h, w = x.size()
    x = x.view(n, groups, c // groups, h, w)
    x = torch.transpose(x, 1, 2).contiguous()
    return x.view(n, -1, h, w)


class ShuffleUnit(nn.Module):
    """The unit of the first ShuffleNet: grouped 1x1 convolutions, an average-pooled shortcut."""

    def __init__(self, cin: int, cout: int, groups: int = 2, stride: int = 2) -> None:
        super().__init__()
        self.groups, self.stride = groups, stride
        branch = cout - cin if stride == 2 else cout
        self.compress = nn.Sequential(
            nn.Conv2d(cin, cout // 4, 1, groups=groups, bias=False),
            nn.BatchNorm2d(cout // 4),
            nn.ReLU(inplace=True),
        )
        self.depthwise = nn.Sequential(
            nn.Conv2d(cout // 4, cout // 4, 3, stride, 1, groups=cout // 4, bias=False),
            nn.BatchNorm2d(cout // 4),
        )
        self.expand = nn.Sequential(
            nn.Conv2d(cout // 4, branch, 1, groups=groups, bias=False), nn.BatchNorm2d(branch)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = channel_shuffle(self.compress(x), self.groups)
        y = self.expand(self.depthwise(y))
        if self.stride == 2:
            x = F.avg_pool2d(x, 3, 2, 1)
            return F.relu(torch.cat((x, y), dim=1))
        return F.relu(x + y)


@network(lambda: picture(1, 32, 32))
class ShuffleNet(nn.Module):
    """ShuffleNet units on grey images."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.stage = nn.Sequential(ShuffleUnit(8, 24), ShuffleUnit(24, 24, stride=1))
        self.fc = nn.Linear(24, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.stage(x)
        x = F.avg_pool2d(x, kernel_size=x.size()[2:])
        return self.fc(x.flatten(1))


class ShuffleV2Unit(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.branch = nn.Sequential(
            nn.Conv2d(half, half, 1, bias=False),
            nn.BatchNorm2d(half),
            nn.ReLU(inplace=True),
            nn.Conv2d(half, half, 3, 1, 1, groups=half, bias=False),
            nn.BatchNorm2d(half),
            nn.Conv2d(half, half, 1, bias=False),
            nn.BatchNorm2d(half),
            nn.ReLU(inplace=True),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x1, x2 = x.chunk(2, dim=1)
        return channel_shuffle(torch.cat((x1, self.branch(x2)), dim=1), 2)


@network(lambda: picture(3, 24, 24))
class ShuffleNetV2(nn.Module):
    """Channel split and shuffle."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True)
        )
        self.stage = nn.Sequential(ShuffleV2Unit(16), ShuffleV2Unit(16))
        self.fc = nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.stage(self.stem(x)).mean([2, 3]))
