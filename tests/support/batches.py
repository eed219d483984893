# SPDX-License-Identifier: Apache-2.0
"""Runs many small programs in few images: one build and one emulator start for all of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cortexm_tools.compile import Compiled, CompileOptions, compile_program
from cortexm_tools.emit.files import write_files
from cortexm_tools.ir import Array, Graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.memory import from_memory, memory_bytes
from cortexm_tools.options.arena import CallerArena
from cortexm_tools.plan import KernelChoice
from cortexm_tools.program import Program
from cortexm_tools.run import RunResult, run_batch_on_board, run_batch_on_host
from cortexm_tools.run.footprint import Footprint, measure
from cortexm_tools.target import Core, Target

from tests.support.cores import BOARD_OF
from tests.support.graphs import GraphProgram


@dataclass(frozen=True)
class Job:
    """A program with the inputs of one or more invocations, in logical shape; and whether its weights
    lie apart from the code."""

    program: Program
    invocations: Sequence[Sequence[Array]]
    ram_limit: int | None = None
    weights_apart: bool = False


@dataclass(frozen=True)
class Done:
    """A job that ran: `name` is its model's in the image."""

    name: str
    compiled: Compiled
    result: RunResult

    @property
    def outputs(self) -> list[list[Array]]:
        """Of every invocation and output, in logical shape."""
        graph = self.compiled.plan.graph
        return [_unpack(graph, row) for row in self.result.outputs]


def run_jobs(
    jobs: Sequence[Job],
    target: Target,
    folder: Path,
    *,
    sanitize: bool = False,
    kernels: KernelChoice = KernelChoice.BUILTIN,
    poison: bool = False,
) -> list[list[list[Array]]]:
    """The outputs of every job, invocation and output, in logical shape."""
    done = run_batch(
        jobs, target, folder, sanitize=sanitize, kernels=kernels, poison=poison, together=True
    )
    return [each.outputs for each in done]


def run_batch(
    jobs: Sequence[Job],
    target: Target,
    folder: Path,
    *,
    sanitize: bool = False,
    kernels: KernelChoice = KernelChoice.BUILTIN,
    poison: bool = False,
    together: bool = False,
) -> list[Done]:
    """What every job gave and took.

    Cores without DSP or MVE that have no board of their own with room for a batch (the M0) run on
    the next one that executes their code.
    """
    options = CompileOptions(target=target, kernels=kernels, arena=CallerArena(), poison=poison)
    batch: dict[str, list[list[bytes]]] = {}
    programs: list[Compiled] = []
    files: dict[str, str | bytes] = {}
    for number, job in enumerate(jobs):
        compiled = compile_program(
            replace(job.program, name=f"job{number:03}"),
            replace(options, ram_limit=job.ram_limit, weights_apart=job.weights_apart),
        )
        graph = compiled.plan.graph
        programs.append(compiled)
        files |= {
            name: text
            for name, text in compiled.files.items()
            if name.endswith((".c", ".h", ".report.json", ".weights.bin"))
        }
        orders = [graph.tensors[i].dim_order for i in graph.inputs]
        batch[f"job{number:03}"] = [
            [memory_bytes(value, order) for value, order in zip(row, orders, strict=True)]
            for row in job.invocations
        ]
    write_files(folder / "model", files)
    if target.core is Core.HOST:
        results = run_batch_on_host(
            folder / "model", batch, folder, sanitize=sanitize, together=together
        )
    else:
        results = run_batch_on_board(
            folder / "model",
            batch,
            BOARD_OF[target.core],
            folder,
            core=target.core,
            isa=target.isa,
            together=together,
        )
    return [
        Done(name, compiled, result)
        for name, compiled, result in zip(batch, programs, results, strict=True)
    ]


def footprint(done: Done, folder: Path) -> Footprint:
    """What a job of a batch in `folder` takes, which was not compiled together with others."""
    target = done.compiled.plan.target
    image = folder / f"{BOARD_OF[target.core]}-{target.core.value}-{target.isa.value}"
    compiler = (image / "compiler.txt").read_text(encoding="utf-8").splitlines()
    archives = (image / "archives.txt").read_text(encoding="utf-8").splitlines()
    return measure([w for w in compiler if w], [Path(p) for p in archives if p], done.name)


def _unpack(graph: Graph, row: Sequence[bytes]) -> list[Array]:
    tensors = [graph.tensors[i] for i in graph.outputs]
    return [
        from_memory(data, tensor.dtype.numpy, tensor.shape, tensor.dim_order)
        for data, tensor in zip(row, tensors, strict=True)
    ]


def assert_same_bytes(graph: Graph, target: Target, folder: Path, seed: int = 1) -> None:
    """An image of `graph` gives what the interpreter does for random codes."""
    random = np.random.default_rng(seed)
    inputs = []
    for tensor in (graph.tensors[index] for index in graph.inputs):
        low, high = tensor.dtype.limits
        inputs.append(random.integers(low, high + 1, tensor.shape).astype(tensor.dtype.numpy))
    program = GraphProgram("graph", b"", made=graph)
    got = run_jobs([Job(program, [inputs])], target, folder)[0][0]
    for mine, other in zip(got, run_graph(graph, inputs), strict=True):
        np.testing.assert_array_equal(mine, other)
