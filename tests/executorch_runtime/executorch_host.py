# SPDX-License-Identifier: Apache-2.0
"""Programs on the C++ runtime of the executorch wheel, with our operators."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cortexm_tools.emit import EmitOptions
from cortexm_tools.emit.ties import tie
from cortexm_tools.executorch.compile import Loaded, operator_temp, prepare
from cortexm_tools.executorch.emit import kernel_entries, operators_text
from cortexm_tools.executorch.operators import WRAPPED, Operators
from cortexm_tools.executorch.pools import Pool, make_layout
from cortexm_tools.executorch.sizes import Sizes, read_sizes
from cortexm_tools.ir import Array
from cortexm_tools.ir.memory import from_memory, memory_bytes
from cortexm_tools.program import Program
from cortexm_tools.target import Target

ROOT = Path(__file__).parents[2]
HOST = Target.parse("host")


def cmake() -> str:
    """A cmake that defines the wheel's targets: 3.28 or newer."""
    for candidate in (Path(sys.executable).parent / "cmake", shutil.which("cmake")):
        if candidate is not None and Path(candidate).exists():
            said = subprocess.run([str(candidate), "--version"], capture_output=True, text=True)
            version = tuple(map(int, said.stdout.split()[2].split(".")[:2]))
            if version >= (3, 28):
                return str(candidate)
    raise AssertionError("no cmake >= 3.28; requirements/test.txt has one")


def executorch_dir() -> Path:
    """The folder of the wheel's CMake package."""
    import executorch

    places = [Path(folder) / "share" / "cmake" for folder in executorch.__path__]
    return next(place for place in places if place.is_dir())


def succeed(*command: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Job:
    """A program with rows of inputs in logical shape; `temp_less` bytes are taken from a pool."""

    program: Program
    rows: Sequence[Sequence[Array]]
    method_less: int = 0
    temp_less: int = 0


@dataclass(frozen=True)
class Result:
    """ExecuTorch's error number, what it took from the method pool and what it had, the outputs."""

    error: int
    used: int
    planned: int
    outputs: list[list[Array]]


class Host:
    """A build folder for the runner, shared by the workers of a session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.folder / "lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _configure(self, **definitions: object) -> None:
        options = [f"-D{name}={value}" for name, value in definitions.items()]
        succeed(
            *(cmake(), "-G", "Ninja", "-S", ROOT / "tests" / "executorch_runtime" / "project"),
            *("-B", self.folder / "build", f"-DROOT={ROOT}", f"-DCORTEXM_PYTHON={sys.executable}"),
            *(f"-Dexecutorch_DIR={executorch_dir()}", "-DCMAKE_BUILD_TYPE=Release", *options),
        )

    def sizes(self) -> Sizes:
        """Of ExecuTorch's objects on this machine."""
        found = self.folder / "sizes.o"
        with self._locked():
            if not found.exists():
                self._configure()
                succeed(cmake(), "--build", self.folder / "build", "-t", "cortexm_executorch_sizes")
                (built,) = (self.folder / "build").rglob("sizes.cpp.o")
                shutil.copy(built, found)
        return read_sizes(found.read_bytes())

    def runner(self, name: str, operators: Operators) -> Path:
        """A runner for programs that need these operators."""
        program = self.folder / f"runner-{name}"
        with self._locked():
            if not program.exists():
                batch = self.folder / name
                batch.mkdir()
                _write_batch(batch, operators)
                self._configure(BATCH=batch)
                succeed(cmake(), "--build", self.folder / "build", "-t", "runner")
                shutil.copy(self.folder / "build" / "runner", program)
        return program

    def application(self, models: Sequence[Path]) -> tuple[Path, Path, str]:
        """The program around models of cortexm_add_model(), its build folder, and what was said."""
        with self._locked():
            self._configure(MODELS=";".join(map(str, models)))
            said = succeed(cmake(), "--build", self.folder / "build", "-t", "application")
            return self.folder / "build" / "application", self.folder / "build", said

    def run(self, name: str, jobs: Sequence[Job], folder: Path) -> list[Result]:
        """Runs all jobs in one program."""
        sizes = self.sizes()
        loaded = [prepare(job.program, HOST, sizes) for job in jobs]
        operators = merge([one.operators for one in loaded])
        if name == "wrappers":
            assert not operators.variants
            operators = Operators(WRAPPED, (), ())
        runner = self.runner(name, operators)
        temp = operator_temp(operators, sizes)
        lines = [str(len(jobs))]
        for number, (job, one) in enumerate(zip(jobs, loaded, strict=True)):
            lines += _job_lines(job, one, sizes, temp, folder / str(number))
        (folder / "jobs.txt").write_text("\n".join(lines) + "\n")
        done = subprocess.run(
            [str(runner), str(folder / "jobs.txt")], capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        said = [line.split() for line in done.stdout.splitlines()]
        return [
            Result(
                int(words[0]),
                int(words[1]),
                one.layout.method.size,
                _outputs(job, one, (folder / f"{number}.out").read_bytes()),
            )
            for number, (job, one, words) in enumerate(zip(jobs, loaded, said, strict=True))
        ]


def merge(parts: Sequence[Operators]) -> Operators:
    """The operators of several programs; equal calls once."""
    variants = {(v.operator, v.signature, v.constants): v for part in parts for v in part.variants}
    wrapped = {name: function for part in parts for name, function in part.wrapped.items()}
    return Operators(dict(sorted(wrapped.items())), tuple(variants.values()), ())


def _write_batch(folder: Path, operators: Operators) -> None:
    options = EmitOptions("batch", "test", "0")
    files = tie(
        options,
        {
            "batch.h": "#define BATCH_BUILD 0x00000000 /* of no model */\n",
            "batch_operators.c": operators_text(operators, options, HOST),
        },
    )
    for file, text in files.items():
        (folder / file).write_text(text)
    entries, body = kernel_entries(operators, options)
    lines = [
        '#include "cortexm/executorch_operators.h"',
        '#include "cortexm/executorch_variants.h"',
        *body,
        "using ::executorch::runtime::Kernel;",
        "static constexpr Kernel kernels[] = {",
        *(f"    {entry}," for entry in entries),
        "};",
        "extern const void *const batch_kernels;",
        "extern const uint32_t batch_kernel_count;",
        "const void *const batch_kernels = kernels;",
        "const uint32_t batch_kernel_count = sizeof kernels / sizeof kernels[0];",
    ]
    (folder / "batch_kernels.cpp").write_text("\n".join(lines) + "\n")


def _job_lines(job: Job, one: Loaded, sizes: Sizes, temp: int, stem: Path) -> list[str]:
    layout = make_layout(one.program, sizes, temp)

    def text(pool: Pool, less: int = 0) -> str:
        return f"{pool.offset} {pool.size - less}"

    def texts(pools: Sequence[Pool]) -> str:
        return " ".join([str(len(pools)), *map(text, pools)])

    pte = stem.with_suffix(".pte")
    pte.write_bytes(job.program.pte)
    tensors = [one.plan.graph.tensors[i] for i in one.plan.graph.inputs]
    data = b"".join(
        memory_bytes(value, tensor.dim_order)
        for row in job.rows
        for value, tensor in zip(row, tensors, strict=True)
    )
    stem.with_suffix(".in").write_bytes(data)
    return [
        f"{pte} {one.program.method} {layout.size}",
        f"{text(layout.state)} {text(layout.spans)} {text(layout.method, job.method_less)} "
        f"{text(layout.temp, job.temp_less)}",
        texts(layout.planned),
        texts(layout.inputs),
        texts(layout.outputs),
        f"{len(job.rows)} {stem.with_suffix('.in')} {stem.with_suffix('.out')}",
    ]


def _outputs(job: Job, one: Loaded, data: bytes) -> list[list[Array]]:
    tensors = [one.plan.graph.tensors[i] for i in one.plan.graph.outputs]
    rows: list[list[Array]] = []
    position = 0
    for _ in range(len(data) // max(1, sum(t.nbytes for t in tensors))):
        row = []
        for tensor in tensors:
            piece = data[position : position + tensor.nbytes]
            position += tensor.nbytes
            dtype = np.dtype(tensor.dtype.numpy)
            row.append(from_memory(piece, dtype, tensor.shape, tensor.dim_order))
        rows.append(row)
    return rows
