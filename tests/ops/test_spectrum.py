# SPDX-License-Identifier: Apache-2.0
"""Spectra of sound: near numpy's transforms in real numbers, and the kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.ir import Array, DType, Graph, spectrum
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.log_mel import RealLogMel
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram, Net
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import seeds
from tests.support.sounds import front_end, in_real_numbers, speech

PCM = 2.0**-15


def samples(front: RealLogMel, frames: int, seed: int, peak: float = 0.5) -> Array:
    length = front.start + (frames - 1) * front.hop + len(front.window)
    return np.round(speech(length, seed, peak) / PCM).astype(np.int16)


def on_codes(
    front: RealLogMel, frames: int, dtype: DType, low: float, high: float
) -> tuple[Graph, float, int]:
    """One operator, and the scale and zero point of its result's codes, for results in [low, high]."""
    if dtype is DType.S8:
        scale = (high - low) / 255
        zero_point = round(-128 - low / scale)
    else:
        scale, zero_point = max(abs(low), abs(high)) / 32767, 0
    designed = front.on_codes(PCM, scale, zero_point, *dtype.limits)
    assert designed is not None
    attrs, window, weights = designed
    net = Net("spectrum", 1)
    length = front.start + (frames - 1) * front.hop + len(front.window)
    x = net.input((length,), DType.S16, (0,))
    tables = [net.constant(table.astype(np.int16), DType.S16) for table in (window, weights)]
    out = net.add(attrs, [x, *tables], (frames, len(front.bank)), dtype, (0, 1))
    return net.finish(out), scale, zero_point


@pytest.mark.parametrize("points", spectrum.SIZES)
@pytest.mark.parametrize("frame", [0.8, 1.0])
def test_transforms_are_near_the_real_ones(points: int, frame: float) -> None:
    """Twice the transform; errors of less than a tenth of what rounding sound to 16 bits makes, up to
    2,048 points, and without a number beyond 32 bits, whatever the sound is."""
    random = np.random.default_rng(points)
    length = int(frame * points)
    real_window = np.hanning(length)
    window = np.round(32767 * real_window).astype(np.int64)
    shift = spectrum.least_shift(window, points)
    place = np.arange(length)
    rows = [
        random.integers(-32768, 32768, length),
        np.full(length, -32768),
        np.where(np.cos(2 * np.pi * 5 * place / points) > 0, 32767, -32768),
        random.integers(-2, 3, length),
    ]
    x = np.zeros((len(rows), points), np.int64)
    x[:, :length] = spectrum.windowed(np.array(rows), window, shift)
    re, im = spectrum.doubled_spectrum(x)
    assert max(np.abs(re).max(), np.abs(im).max()) < 2**31
    expected = 2 * np.fft.rfft(x)
    unit = 2 * 2.0 ** (15 - shift)  # of one step of the samples
    noise = np.sqrt((np.abs(re + 1j * im - expected) ** 2).mean(axis=1)) / unit
    of_samples = np.sqrt((real_window**2).sum() / 12)
    assert (noise < of_samples / 10).all()


def test_roots_are_rounded_alike_everywhere() -> None:
    """No cosine lies so near the middle between two integers that a library's last bits decide."""
    for points in spectrum.SIZES:
        values = np.cos(2 * np.pi * np.arange(points) / points) * 2.0**31
        assert np.abs(np.abs(values % 1) - 0.5).min() > 1e-4


def test_logarithms_are_near_the_real_ones() -> None:
    random = np.random.default_rng(1)
    values = [1, 2, 3, 2**64 - 1, 2**95, *(int(v) for v in 2.0 ** random.uniform(0, 90, 500))]
    for value in values:
        wanted = 65536 * float(np.log2(np.float64(value)))
        assert -4 < spectrum.logarithm(value) - wanted < 1, value
    assert spectrum.logarithm(0) == 0


def test_square_roots_are_exact() -> None:
    roots = np.array([0, 1, 2, 3, 2**26, 94906267, 2**31 - 1], np.int64)
    for value in (roots * roots, roots * roots + 2 * roots, np.maximum(roots * roots - 1, 0)):
        found = spectrum.root(value)
        assert (found * found <= value).all() and ((found + 1) ** 2 > value).all()


@pytest.mark.parametrize(
    ("front", "peak"),
    [
        (front_end(512, 512, 160, 40), 0.5),
        (front_end(512, 400, 160, 40, start=56), 0.01),
        (front_end(512, 400, 160, 40, adds=False, least=1e-5), 0.5),
        (front_end(256, 256, 128, 20, roots=True, under=1e-6), 0.5),
        (front_end(1024, 640, 320, 64, factor=np.full(64, 4.34), offset=np.full(64, 20.0)), 0.9),
    ],
    ids=["512", "quiet", "floor", "magnitudes", "decibels"],
)
@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
def test_features_of_speech(front: RealLogMel, peak: float, dtype: DType) -> None:
    """Codes as near to the real features as rounding allows."""
    frames = 30
    x = samples(front, frames, seed=3, peak=peak)
    real = in_real_numbers(front, x * PCM, frames)
    graph, scale, zero_point = on_codes(
        front, frames, dtype, float(real.min()), float(real.max()) + 1e-6
    )
    codes = run_graph(graph, [x])[0].astype(np.float64)
    values = (codes - zero_point) * scale
    noise = ((values - real) ** 2).sum()
    assert 10 * np.log10((real**2).sum() / noise) > (40 if dtype is DType.S8 else 75)
    assert np.abs(values - real).max() < (0.6 if dtype is DType.S8 else 30) * scale


def random_front(seed: int) -> tuple[RealLogMel, int]:
    """Any size, window, bank and end, and a number of frames."""
    random = np.random.default_rng(seed)
    points = int(random.choice(spectrum.SIZES, p=(0.3, 0.3, 0.2, 0.1, 0.05, 0.05)))
    frame = points if random.random() < 0.5 else int(random.integers(1, points + 1))
    bands = int(random.integers(1, 6))
    bank = random.uniform(0, 1, (bands, points // 2 + 1))
    if random.random() < 0.7:
        bank *= random.random(bank.shape) < 0.05
    front = front_end(
        points, frame, int(random.integers(1, 60)), bands,
        window=random.uniform(-1, 1, frame), bank=bank, start=int(random.integers(0, 9)),
        roots=random.random() < 0.3, adds=random.random() < 0.5,
        least=float(random.choice([0, 1e-12, 1e-3, 50])),
        factor=random.uniform(-1, 1, bands), offset=random.uniform(-5, 5, bands),
        under=float(random.choice([0, 1e-9, 1e-2, 1e30])),
    )  # fmt: skip
    return front, int(random.integers(1, 4))


def random_case(seed: int) -> tuple[Graph, Array]:
    front, frames = random_front(seed)
    random = np.random.default_rng(seed)
    dtype = DType.S8 if random.random() < 0.5 else DType.S16
    graph, _, _ = on_codes(front, frames, dtype, *((-10.0, 10.0) if seed % 3 else (-1.0, 25.0)))
    loud = int(random.choice([0, 1, 40, 3000, 32767]))
    shape = graph.tensors[graph.inputs[0]].shape
    return graph, random.integers(-loud, loud + 1, shape).astype(np.int16)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=seeds)
def test_kernels_give_what_the_interpreter_says(executor: PlanExecutor, seed: int) -> None:
    graph, x = random_case(seed)
    (got,) = executor.run_graph(graph, [x])
    assert (got == run_graph(graph, [x])[0]).all()


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4", "cortex-m55"])
def test_cores_give_what_the_interpreter_says(cpu: str, tmp_path: Path) -> None:
    cases = [random_case(seed) for seed in range(12)]
    jobs = [
        Job(GraphProgram("net", str(seed).encode(), made=graph), [[x]])
        for seed, (graph, x) in enumerate(cases)
    ]
    results = run_jobs(jobs, Target.parse(cpu), tmp_path)
    for (graph, x), got in zip(cases, results, strict=True):
        assert (got[0][0] == run_graph(graph, [x])[0]).all()
