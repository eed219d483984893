# SPDX-License-Identifier: Apache-2.0
"""Lowers networks, runs them in one image for each core, and measures.

Everything is done once in a process: each network is lowered for the M55, and what other cores run is
planned from the same program.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch

from cortexm_tools.errors import CortexMError
from cortexm_tools.frontend.lower.lower import lower
from cortexm_tools.frontend.quiet import import_executorch
from cortexm_tools.ir import Array
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.program import Program
from cortexm_tools.runner import Runner, run_in_order
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from .corpus import Network, loaded, networks
from tests.support.batches import Done, Job, footprint, run_batch

CPU = "cortex-m55"
# Every network runs on the M55 and on one of these.
OTHERS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33")
# Of the samples, how many the boards are given, one call after another.
CALLS = 3

Rows = list[tuple[Array, ...]]


@dataclass(frozen=True)
class Subject:
    """A network that was lowered.

    Attributes:
        rows: its samples.
        reference: ExecuTorch's Python operators.
        decibels: signal to quantization noise over all samples, of the output where it is lowest;
            None if no output is a float.
    """

    program: Program
    rows: Rows
    reference: Runner
    decibels: float | None


def other_core(name: str) -> str:
    """Where a network runs besides the M55."""
    return OTHERS[list(networks()).index(name) % len(OTHERS)]


@cache
def subject(name: str) -> Subject | CortexMError:
    """The network lowered, or why it was not."""
    import_executorch()
    net: Network = networks()[name]
    model = loaded(net)
    assert model.calibration is not None
    rows = [tuple(x.numpy() for x in sample) for sample in model.calibration]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # two workers run at a time
    try:
        lowered = lower(model, target=Target.parse(CPU), name=name)
        program = Program(name, lowered.pte, lowered.layers, source=model.path.name)
        got = list(run_sequence(simplify(program.graph()), rows))
    except CortexMError as error:
        return error
    finally:
        torch.set_num_threads(threads)
    wanted = run_in_order(lowered.float_module, rows)
    return Subject(program, rows, lowered.reference, _decibels(wanted, got))


def _decibels(wanted: Sequence[Sequence[Array]], got: Sequence[Sequence[Array]]) -> float | None:
    lowest = None
    for number, first in enumerate(wanted[0]):
        if first.dtype != np.float32:
            continue
        signal = np.stack([row[number] for row in wanted]).astype(np.float64)
        noise = signal - np.stack([row[number] for row in got])
        power, loss = float((signal**2).sum()), float((noise**2).sum())
        if not loss:
            continue
        ratio = 10 * math.log10(power / loss) if power else -math.inf
        lowest = ratio if lowest is None else min(lowest, ratio)
    return lowest


def run(names: Sequence[str], cpu: str, folder: Path) -> dict[str, Done]:
    """What those of `names` gave that could be lowered, in one image on `cpu`.

    Where nothing is measured all dead bytes are overwritten after every step.
    """
    subjects = {name: found for name in names if isinstance(found := subject(name), Subject)}
    jobs = [Job(each.program, each.rows[:CALLS]) for each in subjects.values()]
    done = run_batch(jobs, Target.parse(cpu), folder, poison=cpu != CPU) if jobs else []
    return dict(zip(subjects, done, strict=True))


# What is recorded: integers are exact.
Row = dict[str, int | float | str | None]


def row(name: str, done: Done, folder: Path) -> Row:
    """What is recorded of a network that ran on the M55."""
    found = subject(name)
    assert isinstance(found, Subject)
    size = footprint(done, folder)
    assert size.stack is not None, size.stack_note
    work = done.compiled.report["work"]
    computing = {kind: work[kind]["operators"] for kind in work if kind not in ("move", "convert")}
    return {
        "program": hashlib.sha256(found.program.pte).hexdigest()[:16],
        "operators": sum(computing.values()),
        "int8": computing.get("int8", 0),
        "macs": done.compiled.report["macs"],
        "instructions": done.result.instructions,
        "ram": size.ram + done.compiled.plan.arena_size + size.stack,
        "flash": size.flash,
        "decibels": None if found.decibels is None else round(found.decibels, 1),
    }
