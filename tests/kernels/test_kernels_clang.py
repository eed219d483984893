# SPDX-License-Identifier: Apache-2.0
"""clang beside GCC: every kernel without a warning, assembly included, and the same bytes on the cores."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cortexm_tools.kernels.rows import expand, source
from cortexm_tools.run.image import require_program
from cortexm_tools.target import CORES, Core, Isa, Target

from tests.cmake.projects import MODEL, Project, emulate, succeed
from tests.device.test_golden_device import cases, program
from tests.kernels.test_kernel_table import DATA, KERNELS
from tests.support.batches import Job, run_jobs
from tests.support.golden import mismatch, output_step
from tests.support.warnings import COMMON

ROOT = KERNELS.parent
CLANG = "clang"  # Debian's, with lld
NEWLIB = "/usr/include/newlib"


def compile_kernels(core: Core, isas: set[str], folder: Path) -> None:
    """Those of the instruction sets, for a core; portable C is only read."""
    require_program(CLANG)
    flags = CORES[core].flags[Target.parse(core.value).isa]
    fixed = [
        CLANG, "--target=arm-none-eabi", *flags, "-std=c11", DATA["optimize"]["balanced"],
        *DATA["options"], *COMMON, f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}",
        "-isystem", NEWLIB,
    ]  # fmt: skip
    rows = [row for row in expand(DATA["kernels"]) if row["isa"] in isas]
    files = {row["name"]: (row, source(row, DATA, KERNELS, folder / "stamps")) for row in rows}

    def run(name: str) -> str:
        row, file = files[name]
        what = ["-fsyntax-only"] if row["isa"] == "scalar" else ["-c", "-o", f"{folder}/{name}.o"]
        done = subprocess.run([*fixed, *what, str(file)], capture_output=True, text=True)
        return f"{name}: {done.stderr}" if done.returncode or done.stderr else ""

    with ThreadPoolExecutor(2) as pool:
        wrong = [text[:400] for text in pool.map(run, sorted(files)) if text]
    assert files and not wrong, wrong[:5]


def test_kernels_compile_without_warnings(tmp_path: Path) -> None:
    best = Target.parse(Core.M55.value)
    every = {isa.value for isa in (*best.runs, Isa.V7M)}
    compile_kernels(Core.M55, every, tmp_path)
    compile_kernels(Core.M0, {Isa.V6M.value}, tmp_path)


@pytest.mark.parametrize("cpu", ["cortex-m0", "cortex-m4", "cortex-m55"])
def test_golden_cases(cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored programs on a core with what it has of v6m, v7m, DSP and MVE."""
    monkeypatch.setenv("CORTEXM_COMPILER", require_program(CLANG))
    chosen = cases(cpu)
    jobs = [Job(program(case), [case.inputs]) for case in chosen]
    results = run_jobs(jobs, Target.parse(cpu), tmp_path)
    made = next(tmp_path.rglob("CMakeCCompiler.cmake")).read_text()
    assert 'set(CMAKE_C_COMPILER_ID "Clang")' in made
    wrong = {
        case.name: found
        for case, rows in zip(chosen, results, strict=True)
        if (found := mismatch(case, rows[0], output_step(program(case).graph())))
    }
    assert chosen and not wrong


def test_application_without_warnings(tmp_path: Path) -> None:
    """Runtime, start-up code and generated code; and the model is measured."""
    app = Project(
        ROOT / "tests" / "cmake" / "find_package",
        tmp_path / "build",
        {"MODEL": str(MODEL), "CortexMModel_DIR": str(ROOT / "cmake")},
    )
    flags = {"CORTEXM_COMPILER": CLANG, "CMAKE_C_FLAGS": " ".join(COMMON)}
    succeed(app.configure(CORTEXM_BOARD="mps3-an547", **flags))
    said = succeed(app.make())
    assert "warning" not in said and "digits: flash" in said and "stack" in said
    assert "ran, sum" in emulate("mps3-an547", app.build / "app.elf")
