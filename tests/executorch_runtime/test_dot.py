# SPDX-License-Identifier: Apache-2.0
"""The inner loop of the operators for ExecuTorch in each of its variants, on emulated cores."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cortexm_tools.target import Isa

from tests.executorch_runtime.executorch_host import ROOT, cmake, succeed
from tests.support.cores import board_for, emulator

ISAS = ("scalar", "dsp", "mve")


@pytest.mark.parametrize("isa", ISAS)
def test_variant_equals_the_formula(isa: str, tmp_path: Path) -> None:
    board = board_for(Isa(isa))
    succeed(
        *(cmake(), "-G", "Ninja", "-S", ROOT / "tests" / "executorch_runtime" / "dot"),
        *("-B", tmp_path, f"-DROOT={ROOT}", f"-DISA={isa}", f"-DCORTEXM_BOARD={board}"),
    )
    succeed(cmake(), "--build", tmp_path, "-t", "dot")
    done = subprocess.run(
        emulator(board, tmp_path / "dot.elf"), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and "all equal" in done.stdout + done.stderr
