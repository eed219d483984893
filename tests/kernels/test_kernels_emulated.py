# SPDX-License-Identifier: Apache-2.0
"""Every kernel compiled for a core of its instruction set, v6m, v7m, with DSP or with MVE, and portable C for
the least and the greatest of these: without warnings, within the budget of the stack, and on an emulated core
equal to its reference."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from cortexm_tools.kernels.rows import sources
from cortexm_tools.run.image import COMPILER, require_program
from cortexm_tools.target import CORES, Core

from tests.kernels.stack import check_stack
from tests.kernels.test_kernel_table import KERNELS, TABLE, short_macros
from tests.support.cores import BOARD_OF, cross_compiler, emulator
from tests.support.warnings import GCC

HERE = Path(__file__).resolve().parent
TOOLCHAIN = HERE.parents[1] / "cmake" / "toolchain-arm-none-eabi.cmake"


@dataclass(frozen=True)
class Build:
    """The kernels compiled for a core, and the fuzz driver, in a folder."""

    core: Core
    folder: Path


ISAS = {
    Core.M0: ("scalar", "v6m"),
    Core.M3: ("v7m",),
    Core.M4: ("dsp",),
    Core.M55: ("scalar", "mve"),
}
"""What is tried on each core; kernels of others that it runs, too, were tried on theirs."""


def names_for(core: Core) -> list[str]:
    return [kernel["name"] for kernel in TABLE if kernel["isa"] in ISAS[core]]


# ARMv6-M code runs on the Cortex-M3 of mps2-an385, which unlike the emulated Cortex-M0 has the RAM for
# it: soft float and no instruction for divisions.
@pytest.fixture(
    scope="module",
    params=[
        pytest.param(core, marks=pytest.mark.xdist_group(f"kernels-{core.value}"), id=core.value)
        for core in ISAS
    ],
)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """No warning, even if the application has definitions under the names of the kernels' macros."""
    require_program(COMPILER)
    core: Core = request.param
    folder = tmp_path_factory.mktemp("kernels")
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(HERE / "device"), "-B", str(folder), "-DFUZZ_CASES=100",
         "-DCMAKE_BUILD_TYPE=MinSizeRel",  # as images have it, which then share the kernels
         f"-DPython3_EXECUTABLE={sys.executable}", f"-DISAS={';'.join(ISAS[core])}",
         f"-DCORTEXM_KERNELS={';'.join(f'cortexm_{name}' for name in names_for(core))}",
         f"-DTAKEN={';'.join(short_macros())}", f"-DWARNINGS={';'.join(GCC)}",
         f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}",
         f"-DCORTEXM_BOARD={BOARD_OF[core]}", f"-DCORTEXM_CPU={core.value}",
         f"-DCORTEXM_ISA={CORES[core].isas[-1].value}"],
        ["cmake", "--build", str(folder), "--parallel", "2", "--target", "fuzz"],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return Build(core, folder)


def test_kernels_equal_references(build: Build) -> None:
    done = subprocess.run(
        emulator(BOARD_OF[build.core], build.folder / "fuzz.elf"),
        capture_output=True,
        text=True,
        timeout=900,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout + done.stderr
    assert f"0 of {len(names_for(build.core))} kernels differ" in said


def test_stack_is_within_the_budget(build: Build) -> None:
    kernels = build.folder / "kernels"
    (library,) = kernels.glob("lib*_kernels.a")
    objects = ["-Wl,--whole-archive", str(library), "-Wl,--no-whole-archive"]
    compiler = cross_compiler(build.core.value)
    check_stack(compiler, names_for(build.core), objects, kernels, build.folder)


@pytest.mark.parametrize(("core", "ends"), [("cortex-m4", "_dsp"), ("cortex-m55", "linear_s8_mve")])
def test_what_speed_compiles_with_more(core: str, ends: str, tmp_path: Path) -> None:
    require_program(COMPILER)
    compiler = cross_compiler(core)
    found = sources(KERNELS, tmp_path / "stamps")
    names = [kernel["name"] for kernel in TABLE if kernel["name"].endswith(ends)]
    assert names
    command = [
        *compiler, "-std=c11", "-O3", "-fwrapv", "-ffp-contract=off",
        *GCC, f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}",
        *(f"-D{name}=application" for name in short_macros()),
        "-fstack-usage", "-c", *(str(found[f"cortexm_{name}"]) for name in names),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check_stack(compiler, names, [f"{name}.o" for name in names], tmp_path, tmp_path)


@pytest.mark.parametrize(("core", "isa"), [("cortex-m4", "dsp"), ("cortex-m55", "mve")])
def test_kernels_compile_without_optimization(core: str, isa: str, tmp_path: Path) -> None:
    """As in a debug build of an export; the library's kernels are optimized whatever the project is."""
    require_program(COMPILER)
    found = sources(KERNELS, tmp_path / "stamps")
    names = [kernel["name"] for kernel in TABLE if kernel["isa"] == isa]
    command = [
        *cross_compiler(core), "-std=gnu11", "-O0", "-fstack-protector-all", "-Wall", "-Wextra",
        "-Werror", f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}", "-c",
        *(str(found[f"cortexm_{name}"]) for name in names),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in tmp_path.glob("*.o")} == set(names)
