# SPDX-License-Identifier: Apache-2.0
"""Keywords, events, speakers, speech enhancement."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .corpus import network
from .signals import spectrogram, waveform


@network(lambda: spectrogram(49, 10))
class DsCnn(nn.Module):
    """Keyword spotting of depthwise separable convolutions, padded as TensorFlow's SAME."""

    def __init__(self, classes: int = 12, width: int = 32) -> None:
        super().__init__()
        self.pad = nn.ZeroPad2d((1, 1, 4, 5))
        self.stem = nn.Sequential(
            nn.Conv2d(1, width, (10, 4), stride=2, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        blocks = []
        for _ in range(3):
            blocks += [
                nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(),
                nn.Conv2d(width, width, 1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(),
            ]
        self.blocks = nn.Sequential(*blocks)
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.stem(self.pad(x)))
        x = F.avg_pool2d(x, x.shape[2:]).flatten(1)
        return F.softmax(self.fc(self.dropout(x)), dim=1)


@network(lambda: spectrogram(40, 50).squeeze(1))
class MatchboxNet(nn.Module):
    """1-D time-channel separable convolutions over MFCCs, the last ones dilated."""

    def __init__(self, mels: int = 40, width: int = 32, classes: int = 10) -> None:
        super().__init__()
        self.prologue = self.block(mels, width, 11, stride=2)
        self.b1 = self.block(width, width, 13)
        self.b2 = self.block(width, width, 15)
        self.skip = nn.Sequential(nn.Conv1d(width, width, 1, bias=False), nn.BatchNorm1d(width))
        self.epilogue = self.block(width, width, 29, dilation=2)
        self.head = nn.Conv1d(width, classes, 1)

    @staticmethod
    def block(cin: int, cout: int, kernel: int, stride: int = 1, dilation: int = 1) -> nn.Module:
        padding = dilation * (kernel - 1) // 2
        return nn.Sequential(
            nn.Conv1d(cin, cin, kernel, stride, padding, dilation, groups=cin, bias=False),
            nn.Conv1d(cin, cout, 1, bias=False),
            nn.BatchNorm1d(cout),
            nn.ReLU(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.prologue(x)
        x = F.relu(self.b2(self.b1(x)) + self.skip(x))
        x = self.epilogue(x)
        return self.head(x).mean(dim=-1)


class SubSpectralNorm(nn.Module):
    """Batch norm for each of some bands of frequencies."""

    def __init__(self, channels: int, bands: int) -> None:
        super().__init__()
        self.bands = bands
        self.bn = nn.BatchNorm2d(channels * bands)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, c, f, t = x.shape
        x = self.bn(x.reshape(n, c * self.bands, f // self.bands, t))
        return x.reshape(n, c, f, t)


class BroadcastedBlock(nn.Module):
    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.freq = nn.Conv2d(channels, channels, (3, 1), padding=(1, 0), groups=channels)
        self.ssn = SubSpectralNorm(channels, 4)
        self.temporal = nn.Conv2d(
            channels,
            channels,
            (1, 3),
            padding=(0, dilation),
            dilation=(1, dilation),
            groups=channels,
            bias=False,
        )
        self.bn = nn.BatchNorm2d(channels)
        self.mix = nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        aux = self.ssn(self.freq(x))
        y = aux.mean(dim=2, keepdim=True)
        y = self.mix(F.silu(self.bn(self.temporal(y))))
        return F.relu(x + aux + y)


@network(lambda: spectrogram(40, 32))
class BcResNet(nn.Module):
    """Broadcasted residual learning: means over frequency added back, dilated in time."""

    def __init__(self, width: int = 12, classes: int = 12) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, width, 5, stride=(2, 1), padding=2), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.blocks = nn.Sequential(*(BroadcastedBlock(width, d) for d in (1, 2, 4)))
        self.depthwise = nn.Conv2d(width, width, (5, 5), padding=(0, 2), groups=width)
        self.head = nn.Conv2d(width, 24, 1)
        self.classifier = nn.Conv2d(24, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.stem(x))
        x = self.head(self.depthwise(x)).mean(dim=(2, 3), keepdim=True)
        return self.classifier(x).reshape(-1, 12)


class TemporalBlock(nn.Module):
    def __init__(self, cin: int, cout: int, kernel: int = 9) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, (kernel, 1), stride=(2, 1), padding=(kernel // 2, 0))
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, (kernel, 1), padding=(kernel // 2, 0))
        self.bn2 = nn.BatchNorm2d(cout)
        self.down = nn.Conv2d(cin, cout, 1, stride=(2, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.down(x))


@network(lambda: spectrogram(40, 64))
class TcResNet(nn.Module):
    """Temporal convolutions over frequencies turned into channels."""

    def __init__(self, classes: int = 12) -> None:
        super().__init__()
        self.conv0 = nn.Conv2d(40, 16, (3, 1), padding=(1, 0), bias=False)
        self.blocks = nn.Sequential(TemporalBlock(16, 24), TemporalBlock(24, 32))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(32, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.transpose(1, 2).transpose(2, 3)  # [n, bands, frames, 1]
        return self.fc(torch.flatten(self.pool(self.blocks(self.conv0(x))), 1))


class GatedResidual(nn.Module):
    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.left = dilation
        self.filter = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.gate = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.residual = nn.Conv1d(channels, channels, 1)
        self.skip = nn.Conv1d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        padded = F.pad(x, (self.left, 0))
        y = torch.tanh(self.filter(padded)) * torch.sigmoid(self.gate(padded))
        return x + self.residual(y), self.skip(y)


@network(lambda: waveform(128))
class WaveNet(nn.Module):
    """Causal dilated convolutions with gates and skip connections, on samples."""

    def __init__(self, channels: int = 16) -> None:
        super().__init__()
        self.start = nn.Conv1d(1, channels, 1)
        self.layers = nn.ModuleList(GatedResidual(channels, 2**k) for k in range(5))
        self.end1 = nn.Conv1d(channels, channels, 1)
        self.end2 = nn.Conv1d(channels, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.start(x)
        total = 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.end2(F.relu(self.end1(F.relu(total))))


def mel_matrix(mels: int, bins: int) -> torch.Tensor:
    """Triangular filters [mels, bins] that widen with frequency."""
    edges = torch.linspace(0, 1, mels + 2) ** 1.6 * (bins - 1)
    low, mid, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    at = torch.arange(bins)[None].float()
    up, down = (at - low) / (mid - low).clamp(min=1), (high - at) / (high - mid).clamp(min=1)
    return torch.minimum(up, down).clamp(min=0)


def power_spectrum() -> torch.Tensor:
    spectrum = torch.stft(
        waveform(32 * 24)[0], 64, 32, window=torch.hann_window(64), return_complex=True
    )
    return spectrum[:, :, :24].abs() ** 2


@network(power_spectrum)
class MelFrontEnd(nn.Module):
    """The mel filters and the logarithm inside the network, in front of a small CNN."""

    def __init__(self, mels: int = 16, classes: int = 6) -> None:
        super().__init__()
        self.register_buffer("mel", mel_matrix(mels, 33))
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.fc = nn.Linear(16 * 4 * 6, classes)

    def forward(self, power: torch.Tensor) -> torch.Tensor:
        x = torch.log(self.mel @ power + 1e-4)
        x = F.relu(self.conv1(x.unsqueeze(1)))
        x = F.relu(self.conv2(x))
        return self.fc(x.flatten(1))


@network(lambda: spectrogram(32, 5).flatten(1))
class MachineSound(nn.Module):
    """Anomalous sound detection: an autoencoder and the squared error of what it gives back."""

    def __init__(self, inputs: int = 160, width: int = 32) -> None:
        super().__init__()
        sizes = [inputs, width, width, 8, width, width]
        layers: list[nn.Module] = []
        for a, b in zip(sizes, sizes[1:], strict=False):
            layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Linear(width, inputs))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.net(x)
        return y, F.mse_loss(y, x)


class SeparatorBlock(nn.Module):
    def __init__(self, channels: int, hidden: int, dilation: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(channels, hidden, 1),
            nn.PReLU(),
            nn.GroupNorm(1, hidden),
            nn.Conv1d(hidden, hidden, 3, padding=dilation, dilation=dilation, groups=hidden),
            nn.PReLU(),
            nn.GroupNorm(1, hidden),
            nn.Conv1d(hidden, channels, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.net(x)


@network(lambda: spectrogram(20, 1).squeeze(1))
class StreamingKeyword(nn.Module):
    """Keyword spotting frame by frame: causal convolutions that keep their past in buffers."""

    def __init__(self, bands: int = 20, width: int = 16, classes: int = 4) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(bands, width, 3)
        self.conv2 = nn.Conv1d(width, width, 3)
        self.fc = nn.Linear(width, classes)
        self.register_buffer("past1", torch.zeros(1, bands, 2))
        self.register_buffer("past2", torch.zeros(1, width, 2))

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.past1, frame], dim=2)
        self.past1.copy_(x[:, :, 1:])
        x = F.relu(self.conv1(x))
        x = torch.cat([self.past2, x], dim=2)
        self.past2.copy_(x[:, :, 1:])
        x = F.relu(self.conv2(x))
        return self.fc(x.squeeze(2))


class Squeeze1d(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(channels, channels // 4)
        self.fc2 = nn.Linear(channels // 4, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        w = torch.sigmoid(self.fc2(F.relu(self.fc1(x.mean(-1)))))
        return x * w.unsqueeze(-1)
