# SPDX-License-Identifier: Apache-2.0
"""Front ends for sound as people write them: in the manner of several libraries, and by hand.

Each takes sound at 16 kHz, [1, samples], or a hop of it where it keeps what was before. The first
sentence of each is its name in docs/sound.md.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.support.sounds import RATE, mel_bank

Tensor = torch.Tensor
BANDS = 40


class Spectrogram(nn.Module):
    """What several have: a window of `length` samples, in the middle of `points`, and bands of mel."""

    def __init__(self, points: int = 512, hop: int = 160, length: int = 400) -> None:
        super().__init__()
        self.points, self.hop, self.length = points, hop, length
        self.window: Tensor
        self.mel: Tensor
        self.register_buffer("window", torch.hann_window(length))
        bank = torch.tensor(mel_bank(BANDS, points // 2 + 1), dtype=torch.float32)
        self.register_buffer("mel", bank)

    def stft(self, x: Tensor, center: bool = True) -> Tensor:
        return torch.stft(
            x, self.points, self.hop, self.length, self.window, center, return_complex=True
        )


class Decibels(Spectrogram):
    """As in torchaudio: MelSpectrogram, AmplitudeToDB."""

    def forward(self, x: Tensor) -> Tensor:
        shape = x.size()
        spectrum = self.stft(x.reshape(-1, shape[-1]))
        powers = spectrum.reshape(shape[:-1] + spectrum.shape[-2:]).abs().pow(2.0)
        bands = torch.matmul(powers.transpose(-1, -2), self.mel.t()).transpose(-1, -2)
        return 10.0 * torch.log10(torch.clamp(bands, min=1e-10))


class BelowTheLoudest(Spectrogram):
    """As in librosa: `power_to_db`, 80 dB below the maximum. That is 0 dB."""

    def forward(self, x: Tensor) -> Tensor:
        powers = torch.abs(self.stft(x)) ** 2.0
        bands = torch.einsum("...ft,mf->...mt", powers, self.mel)
        decibels = 10.0 * torch.log10(torch.maximum(torch.tensor(1e-10), bands))
        decibels = decibels - 10.0 * torch.log10(torch.clamp(bands.max(), min=1e-10))
        return torch.maximum(decibels, decibels.max() - 80.0)


class Recognizer(Spectrogram):
    """As in Whisper: log10, 8 below the maximum. The last frame is left out."""

    def forward(self, x: Tensor) -> Tensor:
        magnitudes = self.stft(x)[..., :-1].abs() ** 2
        logs = torch.clamp(self.mel @ magnitudes, min=1e-10).log10()
        return (torch.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0


class Synthesis(Spectrogram):
    """As in vocoders: `sqrt(power + 1e-9)`, bands, logarithm. Padded by hand."""

    def forward(self, x: Tensor) -> Tensor:
        before = (self.points - self.hop) // 2
        x = F.pad(x.unsqueeze(1), (before, before), mode="reflect").squeeze(1)
        spectrum = torch.view_as_real(self.stft(x, center=False))
        magnitudes = torch.sqrt(spectrum.pow(2).sum(-1) + 1e-9)
        return torch.log(torch.clamp(torch.matmul(self.mel, magnitudes), min=1e-5))


class Convolutions(Spectrogram):
    """As in nnAudio: two convolutions, magnitudes, bands, logarithm. The kernels are cosines and sines."""

    def __init__(self) -> None:
        super().__init__(length=512)
        time, bins = torch.arange(512), torch.arange(257)
        angle = 2 * math.pi / 512 * bins[:, None] * time
        self.cosines: Tensor
        self.sines: Tensor
        self.register_buffer("cosines", (angle.cos() * self.window).unsqueeze(1))
        self.register_buffer("sines", (angle.sin() * self.window).unsqueeze(1))

    def forward(self, x: Tensor) -> Tensor:
        x = nn.ReflectionPad1d(256)(x[:, None, :])
        real = F.conv1d(x, self.cosines, stride=self.hop)
        imaginary = -F.conv1d(x, self.sines, stride=self.hop)
        magnitudes = torch.sqrt(real.pow(2) + imaginary.pow(2) + 1e-8)
        return torch.log(torch.matmul(self.mel, magnitudes) + 1e-4)


class ByHand(Spectrogram):
    """By hand: `unfold`, a matrix of cosines and sines in turn, logarithm."""

    def __init__(self) -> None:
        super().__init__()
        angle = 2 * math.pi / 512 * torch.arange(257)[:, None] * torch.arange(400)
        rows = torch.stack([angle.cos(), -angle.sin()], 1).reshape(514, 400)
        self.rows: Tensor
        self.register_buffer("rows", rows)

    def forward(self, x: Tensor) -> Tensor:
        frames = x.unfold(-1, self.length, self.hop) * self.window
        both = frames @ self.rows.t()
        powers = both[..., 0::2] ** 2 + both[..., 1::2] ** 2
        return torch.log(powers @ self.mel.t() + 1e-6)


class Root(Spectrogram):
    """Cube roots of bands, by `rfft`."""

    def forward(self, x: Tensor) -> Tensor:
        frames = x.unfold(-1, self.length, self.hop) * self.window
        spectrum = torch.fft.rfft(frames, n=self.points)
        return (spectrum.abs().square() @ self.mel.t()).pow(1 / 3)


class Pcen(Spectrogram):
    """As in librosa: PCEN of magnitudes, a loop over the frames."""

    def forward(self, x: Tensor) -> Tensor:
        bands = self.mel @ self.stft(x, center=False).abs()
        last, found = bands[..., 0], []
        for frame in bands.unbind(-1):
            last = 0.95 * last + 0.05 * frame
            found.append(last)
        average = torch.stack(found, -1)
        smooth = torch.exp(-0.98 * (math.log(1e-6) + torch.log1p(average / 1e-6)))
        return (bands * smooth + 2.0) ** 0.5 - 2.0**0.5


class TrainedPcen(Spectrogram):
    """As in LEAF: PCEN with constants for each band, a frame a call. These are learned."""

    def __init__(self) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.linspace(0.9, 1.1, BANDS))
        self.delta = nn.Parameter(torch.linspace(1.5, 2.5, BANDS))
        self.root = nn.Parameter(torch.linspace(1.6, 2.4, BANDS))
        self.smooth = nn.Parameter(torch.linspace(0.02, 0.08, BANDS))
        self.average: Tensor
        self.past: Tensor
        self.register_buffer("average", torch.zeros(1, 1, BANDS))
        self.register_buffer("past", torch.zeros(1, self.length - self.hop))

    def forward(self, x: Tensor) -> Tensor:
        heard = torch.cat([self.past, x], 1)
        self.past.copy_(heard[:, self.hop :])
        spectrum = torch.fft.rfft(heard.unsqueeze(1) * self.window, 512)
        bands = (spectrum.real**2 + spectrum.imag**2) @ self.mel.t()
        weights = torch.clamp(self.smooth, 0.0, 1.0)
        self.average.copy_((1.0 - weights) * self.average + weights * bands)
        alpha = torch.min(self.alpha, torch.tensor(1.0))
        root = 1.0 / torch.max(self.root, torch.tensor(1.0))
        gained = bands / (1e-6 + self.average) ** alpha
        return (gained + self.delta) ** root - self.delta**root


WRITTEN: tuple[type[nn.Module], ...] = (
    Decibels, BelowTheLoudest, Recognizer, Synthesis, Convolutions, ByHand, Root, Pcen, TrainedPcen,
)  # fmt: skip
SAMPLES = RATE // 4
