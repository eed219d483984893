# SPDX-License-Identifier: Apache-2.0
"""Every variant against its reference on emulated cores: v6m, v7m, with DSP, with MVE."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cortexm_tools.run.image import COMPILER, require_program
from cortexm_tools.target import CORES, Core

from tests.support.cores import BOARD_OF, emulator

HERE = Path(__file__).resolve().parent
TOOLCHAIN = HERE.parents[1] / "cmake" / "toolchain-arm-none-eabi.cmake"

# Board, core and instruction set. ARMv6-M code runs on the Cortex-M3 of mps2-an385, which unlike
# the emulated Cortex-M0 has the RAM for it: soft float and no instruction for divisions.
TARGETS = [
    (BOARD_OF[core], core.value, CORES[core].isas[-1].value)
    for core in (Core.M0, Core.M3, Core.M4, Core.M55)
]


@pytest.mark.parametrize(("board", "cpu", "isa"), TARGETS)
def test_kernels_on_core(board: str, cpu: str, isa: str, tmp_path: Path) -> None:
    require_program(COMPILER)
    configure = [
        "cmake", "-S", str(HERE / "device"), "-B", str(tmp_path), "-DFUZZ_CASES=100",
        f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}", f"-DCORTEXM_BOARD={board}",
        f"-DCORTEXM_CPU={cpu}", f"-DCORTEXM_ISA={isa}",
    ]  # fmt: skip
    build = ["cmake", "--build", str(tmp_path), "--parallel", "2", "--target", "fuzz"]
    for command in (configure, build):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(
        emulator(board, tmp_path / "fuzz.elf"),
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of " in done.stdout + done.stderr
