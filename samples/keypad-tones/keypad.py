# SPDX-License-Identifier: Apache-2.0
"""Which key of a telephone is pressed, from 50 ms of sound: the two-tone signals of ITU-T Q.23.

The loudest call is 60 dB louder than the quietest one that counts, which is more than 8 bits hold:
with QUANTIZE a16w8 the network hears all of them. train.py makes the weights in keypad.safetensors.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

WEIGHTS = Path(__file__).with_name("keypad.safetensors")

RATE = 8000  # Hz
LENGTH = 400  # samples, 50 ms
LOW = (697.0, 770.0, 852.0, 941.0)  # Hz, one for each row of the keypad
HIGH = (1209.0, 1336.0, 1477.0, 1633.0)  # one for each column
KEYS = "123A456B789C*0#D"
NO_KEY = len(KEYS)
QUIETEST = -60.0  # dB of full scale


class FilterBank(nn.Module):
    """Sound [n, 1, 400] in [-1, 1] to the logarithm of each tone's amplitude, [n, 8]."""

    WINDOW, STEP = 200, 100  # samples

    def __init__(self) -> None:
        super().__init__()
        time = torch.arange(self.WINDOW) / RATE
        hann = torch.hann_window(self.WINDOW, periodic=False)
        phases = 2 * math.pi * torch.tensor(LOW + HIGH)[:, None] * time
        waves = torch.cat([torch.cos(phases), torch.sin(phases)]) * hann * 2 / hann.sum()
        self.waves = nn.Conv1d(1, len(waves), self.WINDOW, stride=self.STEP, bias=False)
        self.waves.weight = nn.Parameter(waves[:, None], requires_grad=False)

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        real, imaginary = self.waves(sound).abs().chunk(2, dim=1)
        # The length of (real, imaginary), but for 12 %, without squares, whose range would be twice as wide.
        amplitude = torch.maximum(real, imaginary) + 0.5 * torch.minimum(real, imaginary)
        return torch.log(amplitude.mean(dim=2) + 1e-4)


class Keypad(nn.Module):
    """Sound [n, 1, 400] to the scores of the 16 keys and of no key, [n, 17]."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = FilterBank()
        self.classifier = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, NO_KEY + 1))

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.filters(sound))


def calls(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Sound of so many calls, [n, 1, 400], and their keys, [n].

    A tone is off by up to 1.5 %, one of a pair is up to 6 dB louder than the other, and noise is 15 to
    30 dB below them. Where there is no key there is one tone alone, or noise.
    """
    generator = torch.Generator().manual_seed(seed)

    def uniform(low: float, high: float, *shape: int) -> torch.Tensor:
        return low + (high - low) * torch.rand(count, *shape, generator=generator)

    key = torch.randint(NO_KEY + 1, (count,), generator=generator)
    pressed = torch.where(key < NO_KEY, key, torch.randint(NO_KEY, (count,), generator=generator))
    pairs = torch.stack([torch.tensor(LOW)[pressed // 4], torch.tensor(HIGH)[pressed % 4]], dim=1)
    pairs = pairs * uniform(0.985, 1.015, 2)
    level = 10 ** (uniform(QUIETEST, 0) / 20)
    twist = uniform(-6, 6)
    share = 10 ** (torch.stack([-twist.relu(), -(-twist).relu()], dim=1) / 20) / 2
    silent = torch.randint(3, (count,), generator=generator)  # of no key: this tone, or both
    for tone in (0, 1):
        share[:, tone] *= (key < NO_KEY) | (silent == tone)
    time = torch.arange(LENGTH) / RATE
    angle = 2 * math.pi * pairs[:, :, None] * time + uniform(0, 2 * math.pi, 2)[:, :, None]
    sound = (share[:, :, None] * torch.sin(angle)).sum(dim=1)
    noise = torch.randn(count, LENGTH, generator=generator) / 4
    sound = sound + noise * 10 ** (uniform(-30, -15) / 20)[:, None]
    return (sound * level[:, None]).clamp(-1, 1)[:, None], key


def ModelUnderTest() -> nn.Module:
    model = Keypad()
    model.load_state_dict(load_file(WEIGHTS))
    return model.eval()


def CalibrationInputs() -> torch.Tensor:
    return calls(200, seed=1)[0]


def EvaluationInputs() -> tuple[torch.Tensor, torch.Tensor]:
    return calls(1000, seed=2)


ModelInputs = (torch.zeros(1, 1, LENGTH),)
