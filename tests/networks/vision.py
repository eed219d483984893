# SPDX-License-Identifier: Apache-2.0
"""Image classifiers, each the small sibling of a known network."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import picture


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


class MixerBlock(nn.Module):
    def __init__(self, patches: int, dim: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.tokens = nn.Sequential(nn.Linear(patches, 24), nn.GELU(), nn.Linear(24, patches))
        self.channels = nn.Sequential(nn.Linear(dim, 48), nn.GELU(), nn.Linear(48, dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


@network(lambda: picture(3, 24, 24))
class MlpMixer(nn.Module):
    """Layers across patches and across channels in turn."""

    def __init__(self, dim: int = 24) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, dim, 6, stride=6)
        self.blocks = nn.Sequential(MixerBlock(16, dim), MixerBlock(16, dim))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(dim=1))


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) * self.scale
        x = (attn.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x)


@network(lambda: picture(3, 24, 24))
class VisionTransformer(nn.Module):
    """Patches, a class token, attention written out."""

    def __init__(self, dim: int = 24) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 8, stride=8)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, 10, dim) * 0.02)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, 3)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.head = nn.Linear(dim, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(x[:, 0])
