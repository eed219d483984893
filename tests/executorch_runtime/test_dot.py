# SPDX-License-Identifier: Apache-2.0
"""The inner loop of the operators for ExecuTorch in each of its variants, on emulated cores."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.executorch_runtime.executorch_host import ROOT, cmake, succeed

BOARDS = {"scalar": "mps2-an385", "dsp": "mps2-an386", "mve": "mps3-an547"}


@pytest.mark.parametrize("isa", BOARDS)
def test_variant_equals_the_formula(isa: str, tmp_path: Path) -> None:
    board = BOARDS[isa]
    succeed(
        *(cmake(), "-G", "Ninja", "-S", ROOT / "tests" / "executorch_runtime" / "dot"),
        *("-B", tmp_path, f"-DROOT={ROOT}", f"-DISA={isa}", f"-DCORTEXM_BOARD={board}"),
    )
    succeed(cmake(), "--build", tmp_path, "-t", "dot")
    done = subprocess.run(
        ["qemu-system-arm", "-M", board, "-nographic", "-semihosting"]
        + ["-kernel", str(tmp_path / "dot.elf")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and "all equal" in done.stdout + done.stderr
