# SPDX-License-Identifier: Apache-2.0
"""Speech to train and to judge with: words that espeak-ng speaks, put into sound with noise and echo.

Whole voices are held out, with all that they say, and so are some words that are none of the keywords.
Everything follows from seeds: the same espeak-ng gives the same sound.
"""

from __future__ import annotations

import io
import subprocess
import wave
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from keyword_spotting import CLASSES, RATE, WORDS
from scipy.signal import fftconvolve, lfilter, resample_poly

Sound = npt.NDArray[np.float32]

ACCENTS = ("en-us", "en-gb", "en-gb-x-rp", "en-gb-scotland", "en-029")
HEARD = (
    *(f"m{n}" for n in (1, 2, 3, 5, 6, 8)), "f1", "f2", "f4", "klatt", "klatt3", "klatt4", "Alex",
    "Alicia", "Andrea", "Annie", "Diogo", "Gene", "Jacky", "Lee", "Marco", "Mario", "Mike", "adam",
    "anika", "antonio", "aunty", "belinda", "boris", "caleb", "ed", "edward", "grandma", "grandpa",
    "gustave", "iven", "john", "linda", "marcelo", "max", "miguel", "norbert", "paul", "quincy", "rob",
    "sandro", "shelby", "steph", "travis", "victor",
)  # fmt: skip
HELD_OUT = (
    "m4", "m7", "f3", "f5", "klatt2", "klatt5", "Andy", "Hugo", "Michael", "benjamin", "david", "pablo",
    "steph3", "zac",
)  # fmt: skip
OTHERS = (
    "bed", "bird", "cat", "dog", "happy", "house", "marvin", "sheila", "tree", "wow", "zero", "one",
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "table", "water", "music",
    "window", "people", "turn", "light", "play", "open", "close", "start", "forward", "and", "the",
    "question", "answer", "street", "yellow", "north", "gone", "under", "often", "writer", "lift",
    "know how", "what is that", "please wait", "good morning",
)  # fmt: skip
NEW_OTHERS = (
    "apple", "river", "seventeen", "backward", "follow", "visual", "learn", "paper", "number",
    "thank you", "kitchen", "volume", "because", "garden",
)  # fmt: skip


@dataclass(frozen=True)
class Utterance:
    """A word that a voice says, without silence around it, at full scale."""

    sound: Sound
    label: int  # of CLASSES


def speak(text: str, voice: str, speed: int, pitch: int) -> Sound:
    """What espeak-ng says, at 16 kHz, from where it begins to be heard until where it ends."""
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text]
    said = subprocess.run(command, check=True, capture_output=True).stdout
    with wave.open(io.BytesIO(said)) as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(1 << 24), "<i2")
    sound = resample_poly(samples.astype(np.float64), RATE // 50, rate // 50)
    frames = np.abs(sound[: len(sound) // 160 * 160]).reshape(-1, 160).max(1)
    loud = np.flatnonzero(frames > 0.03 * frames.max())
    sound = sound[loud[0] * 160 : (loud[-1] + 1) * 160]
    return (sound / np.abs(sound).max()).astype(np.float32)


def utterances(
    voices: Sequence[str], keywords: int, others: int, words: Sequence[str], seed: int
) -> list[Utterance]:
    """What each voice says: each keyword so many times, and so many other words; each at a speed, a pitch
    and with an accent of its own."""
    random = np.random.default_rng(seed)
    result = []
    for voice in voices:
        texts = [word for word in WORDS for _ in range(keywords)]
        texts += list(random.choice(words, others, replace=others > len(words)))
        for text in texts:
            accent, speed, pitch = (
                random.choice(ACCENTS), random.integers(110, 210), random.integers(20, 80)
            )  # fmt: skip
            sound = speak(text, f"{accent}+{voice}", int(speed), int(pitch))
            if 0.1 * RATE < len(sound) < 1.3 * RATE:
                label = CLASSES.index(text) if text in WORDS else CLASSES.index("unknown")
                result.append(Utterance(sound, label))
    return result


def noise(
    length: int, kind: int, random: np.random.Generator, babble: Sequence[Utterance]
) -> Sound:
    """Noise of power 1: white, pink, brown, a hum with harmonics, or several voices at once."""
    white = random.normal(size=length)
    if kind == 1:  # Kellet's filter: -3 dB an octave
        numerator = [0.049922035, -0.095993537, 0.050612699, -0.004408786]
        white = lfilter(numerator, [1, -2.494956002, 2.017265875, -0.522189400], white)
    elif kind == 2:
        white = lfilter([1], [1, -0.98], white)
    elif kind == 3:
        time = np.arange(length) / RATE
        base = random.uniform(45, 250)
        white = 0.1 * white + sum(
            random.uniform(0, 1) / n * np.sin(2 * np.pi * n * base * time + random.uniform(0, 6))
            for n in range(1, 12)
        )
    elif kind == 4:
        white = 0.05 * white
        voices = [each for each in babble if CLASSES[each.label] == "unknown"]
        for _ in range(5 * length // RATE):
            voice = voices[random.integers(len(voices))].sound[:length]
            start = random.integers(0, length - len(voice) + 1)
            white[start : start + len(voice)] += voice
    return (white / np.sqrt(np.mean(white**2))).astype(np.float32)


def echo(sound: Sound, random: np.random.Generator) -> Sound:
    """Sound in a room: behind the direct sound comes noise that decays by 60 dB in 0.1 to 0.4 s."""
    seconds = random.uniform(0.1, 0.4)
    time = np.arange(int(seconds * RATE)) / RATE
    tail = random.normal(size=len(time)) * 10 ** (-3 * time / seconds)
    tail *= random.uniform(0.05, 0.4) / np.sqrt(np.sum(tail**2))
    tail[0] = 1
    return fftconvolve(sound, tail)[: len(sound)].astype(np.float32)


@dataclass(frozen=True)
class Scene:
    """Sound, and what is said in it: from where, to where (samples), and what (of CLASSES)."""

    sound: Sound
    said: tuple[tuple[int, int, int], ...]


def scene(
    length: int,
    said: Sequence[tuple[int, Utterance]],
    babble: Sequence[Utterance],
    random: np.random.Generator,
    *,
    loudness: tuple[float, float] = (-30.0, -3.0),
    snr: tuple[float, float] = (5.0, 40.0),
) -> Scene:
    """Words at their places, so loud below full scale, some in a room, with noise so far below (dB)."""
    sound = np.zeros(length, np.float32)
    for start, word in said:
        level = np.float32(10 ** (random.uniform(-6, 0) / 20))
        sound[start : start + len(word.sound)] += level * word.sound
    if random.random() < 0.5:
        sound = echo(sound, random)
    level = 10 ** (random.uniform(*loudness) / 20)
    kind = int(random.integers(5))
    below = 10 ** (-random.uniform(*snr) / 20) * 0.2  # a word's power is about 0.2^2 of its peak's
    sound = level * (sound + np.float32(below) * noise(length, kind, random, babble))
    codes = np.clip(np.round(sound * 2**15), -(2**15), 2**15 - 1)
    places = tuple((at, at + len(word.sound), word.label) for at, word in said)
    return Scene((codes / 2**15).astype(np.float32), places)


def conversation(
    length: int, pool: Sequence[Utterance], random: np.random.Generator, pauses: tuple[float, float]
) -> list[tuple[int, Utterance]]:
    """Words one after another, with pauses of so many seconds, keywords and others."""
    said: list[tuple[int, Utterance]] = []
    at = int(random.uniform(0, 0.5) * RATE)
    while True:
        word = pool[random.integers(len(pool))]
        if at + len(word.sound) > length:
            return said
        said.append((at, word))
        at += len(word.sound) + int(random.uniform(*pauses) * RATE)
