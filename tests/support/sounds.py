# SPDX-License-Identifier: Apache-2.0
"""Sound like speech, made up, and front ends for it in real numbers."""

from __future__ import annotations

import math

import numpy as np

from cortexm_tools.ir.log_mel import RealLogMel, Reals

RATE = 16000  # Hz


def speech(samples: int, seed: int, peak: float = 0.5) -> Reals:
    """Syllables of vowels and fricatives with pauses: harmonics of a gliding pitch through three
    resonances, noise, and a floor of noise 60 dB below; in [-peak, peak]."""
    random = np.random.default_rng(seed)
    length = max(samples, RATE // 2)
    time = np.arange(length) / RATE
    pitch = 110 * 2 ** random.uniform(-0.2, 1.2) * (1 + 0.1 * np.sin(2 * math.pi * 2 * time))
    phase = 2 * math.pi * np.cumsum(pitch) / RATE
    formants = np.stack(
        [
            base * (1 + 0.25 * np.sin(2 * math.pi * random.uniform(1, 4) * time + k))
            for k, base in enumerate((600, 1500, 2700))
        ]
    )
    voice = np.zeros(length)
    for harmonic in range(1, 40):
        frequency = harmonic * pitch
        gain = sum(1 / (1 + ((frequency - f) / 120) ** 2) for f in formants) / harmonic
        voice += np.where(frequency < 7500, gain, 0) * np.sin(harmonic * phase)
    syllables = np.clip(np.sin(2 * math.pi * 3 * time + random.uniform(0, 6)), 0, None) ** 0.7
    hiss = np.diff(random.normal(size=length + 1)) * np.clip(-np.sin(2 * math.pi * 3 * time), 0, 1)
    sound = voice * syllables / np.abs(voice).max() + 0.05 * hiss * (random.random() < 0.7)
    sound = sound / np.abs(sound).max() + 1e-3 * random.normal(size=length)
    sound = sound[(length - samples) // 2 :][:samples]
    return peak * sound / np.abs(sound).max()


def mel_bank(bands: int, bins: int, low: float = 20.0, high: float = 7600.0) -> Reals:
    """Triangles [bands, bins] that are equally wide in mel, by HTK's formula."""
    edges = 700 * (
        10 ** (np.linspace(*(2595 * np.log10(1 + f / 700) for f in (low, high)), bands + 2) / 2595)
        - 1
    )
    at = np.arange(bins) * (RATE / 2 / (bins - 1))
    low_edge, middle, high_edge = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (at - low_edge) / (middle - low_edge), (high_edge - at) / (high_edge - middle)
    return np.clip(np.minimum(rising, falling), 0, None)


def front_end(points: int, frame: int, hop: int, bands: int, **changes: object) -> RealLogMel:
    """ln(mel + 1e-6) of power spectra, Hann window."""
    window = 0.5 - 0.5 * np.cos(2 * math.pi * np.arange(frame) / frame)
    known: dict[str, object] = {
        "points": points, "start": 0, "hop": hop, "window": window,
        "bank": mel_bank(bands, points // 2 + 1), "roots": False, "least": 1e-6, "adds": True,
        "factor": np.ones(bands), "offset": np.zeros(bands),
    }  # fmt: skip
    return RealLogMel(**(known | changes))  # type: ignore[arg-type]


def in_real_numbers(front: RealLogMel, x: Reals, frames: int) -> Reals:
    """[frames, bands] by numpy's transform."""
    frame = len(front.window)
    starts = front.start + front.hop * np.arange(frames)
    cut = np.stack([x[s : s + frame] for s in starts]) * front.window
    magnitude = np.abs(np.fft.rfft(cut, front.points))
    powers = np.sqrt(magnitude**2 + front.under) if front.roots else magnitude**2
    sums = powers @ front.bank.T
    sums = sums + front.least if front.adds else np.maximum(sums, front.least)
    return np.log(sums) * front.factor + front.offset
