# SPDX-License-Identifier: Apache-2.0
"""Measures the front end for sound: the tables of docs/sound.md.

    python -m benchmarks.sound                       # on every core
    python -m benchmarks.sound --cpus cortex-m4

Instructions of one frame on an emulated board, with the logarithms of mel bands of sound like speech as
int8 codes, and their ratio of signal to noise beside numpy's transform in real numbers; then those of
front ends as people write them (tests/support/front_ends.py), lowered with sound like speech and heard
with other sound, beside PyTorch in float.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from cortexm_tools.frontend.load.model_file import LoadedModel
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import DType, Graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.options.precision import INT8
from cortexm_tools.program import Program
from cortexm_tools.target import Target

from tests.support.batches import Job, run_batch
from tests.support.front_ends import BANDS, SAMPLES, WRITTEN, TrainedPcen
from tests.support.graphs import GraphProgram, Net
from tests.support.sounds import front_end, in_real_numbers, speech

CORES = ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0")
FRAMES = 4
HOP = 160
# Points, samples of a frame, bands, and whether of magnitudes.
FRONT_ENDS = (
    (256, 256, 20, False),
    (512, 400, 40, False),
    (512, 512, 40, False),
    (512, 512, 40, True),
    (1024, 1024, 64, False),
)


def front(points: int, frame: int, bands: int, roots: bool) -> tuple[Graph, np.ndarray, float]:
    """One operator, the codes of its sound, and its decibels."""
    real = front_end(points, frame, HOP, bands, roots=roots)
    samples = (FRAMES - 1) * HOP + frame
    x = np.round(speech(samples, 3) * 2**15).astype(np.int16)
    wanted = in_real_numbers(real, x / 2**15, FRAMES)
    low, high = float(wanted.min()), float(wanted.max())
    scale = (high - low) / 255
    zero_point = round(-128 - low / scale)
    designed = real.on_codes(2**-15, scale, zero_point, -128, 127)
    assert designed is not None
    attrs, *tables = designed
    net = Net("front", 1)
    operands = [net.input((samples,), DType.S16, (0,))]
    operands += [net.constant(table.astype(np.int16), DType.S16) for table in tables]
    graph = net.finish(net.add(attrs, operands, (FRAMES, bands), DType.S8, (0, 1)))
    values = (run_graph(graph, [x])[0].astype(np.float64) - zero_point) * scale
    decibels = 10 * np.log10((wanted**2).sum() / ((values - wanted) ** 2).sum())
    return graph, x, float(decibels)


@dataclass(frozen=True)
class Written:
    """A front end as somebody wrote it: a program, a call of it, its outputs, frames and decibels."""

    name: str
    program: Program
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    frames: int
    decibels: float


def written(kind: type[nn.Module]) -> Written:
    """`kind`, lowered with some sounds and heard with others."""
    hop = 160 if kind is TrainedPcen else SAMPLES
    heard, other = [
        [
            (torch.tensor(x[None, at : at + hop], dtype=torch.float32),)
            for x in (speech(SAMPLES, seed) for seed in seeds)
            for at in range(0, SAMPLES, hop)
        ]
        for seeds in (range(6), range(10, 16))
    ]
    module = kind().eval()
    loaded = LoadedModel(Path(__file__), module, heard[0], tuple(heard), None)
    target = Target.parse("cortex-m55")
    result = lower(loaded, target=target, quantization=INT8, name="front")
    result.float_module.reset()
    result.reference.reset()
    pairs = []
    for sample in other:
        wanted = result.float_module.step(sample)[0].numpy()
        pairs.append((wanted, np.asarray(result.reference.step(sample)[0])))
    noise = sum(float(((a - b) ** 2).sum()) for a, b in pairs)
    decibels = 10 * np.log10(sum(float((a**2).sum()) for a, _ in pairs) / noise)
    result.reference.reset()
    outputs = [np.asarray(result.reference.step(other[0])[0])]
    frames = pairs[0][0].size // BANDS
    name = (kind.__doc__ or "").split(".")[0]
    return Written(
        name, Program("front", result.pte), [other[0][0].numpy()], outputs, frames, decibels
    )


def table_of_written(cpus: list[str]) -> int:
    import_executorch()
    made = [written(kind) for kind in WRITTEN]
    counts: dict[str, list[int]] = {}
    for cpu in cpus:
        with tempfile.TemporaryDirectory() as folder:
            jobs = [Job(each.program, [each.inputs]) for each in made]
            done = run_batch(jobs, Target.parse(cpu), Path(folder))
        counts[cpu] = [
            run.result.instructions // each.frames for run, each in zip(done, made, strict=True)
        ]
        for run, each in zip(done, made, strict=True):
            if not np.array_equal(run.outputs[0][0], each.outputs[0]):
                print(f"{cpu} gives other bytes than the reference: {each.name}")
                return 1
    names = " | ".join(cpu.removeprefix("cortex-").upper() for cpu in cpus)
    print(f"\n| front end | {names} | dB |\n{'|---' * (len(cpus) + 2)}|")
    for number, each in enumerate(made):
        row = " | ".join(f"{counts[cpu][number]:,}" for cpu in cpus)
        print(f"| {each.name} | {row} | {each.decibels:.1f} |")
    return 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpus", nargs="+", default=CORES, choices=CORES)
    cpus = parser.parse_args(arguments).cpus
    made = [front(*each) for each in FRONT_ENDS]
    counts: dict[str, list[int]] = {}
    for cpu in cpus:
        jobs = [Job(GraphProgram("front", b"", made=graph), [[x]]) for graph, x, _ in made]
        with tempfile.TemporaryDirectory() as folder:
            done = run_batch(jobs, Target.parse(cpu), Path(folder))
        counts[cpu] = [each.result.instructions // FRAMES for each in done]
        for each, (graph, x, _) in zip(done, made, strict=True):
            if not (each.outputs[0][0] == run_graph(graph, [x])[0]).all():
                print(f"{cpu} gives other bytes than the interpreter")
                return 1
    names = " | ".join(cpu.removeprefix("cortex-").upper() for cpu in cpus)
    print(f"| points | samples | bands | of | {names} | dB |\n{'|---' * (len(cpus) + 5)}|")
    for number, (points, frame, bands, roots) in enumerate(FRONT_ENDS):
        kind = "magnitudes" if roots else "powers"
        row = " | ".join(f"{counts[cpu][number]:,}" for cpu in cpus)
        print(f"| {points} | {frame} | {bands} | {kind} | {row} | {made[number][2]:.1f} |")
    return table_of_written(cpus)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
