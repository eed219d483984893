# SPDX-License-Identifier: Apache-2.0
"""RUNTIME executorch on emulated cores, with ExecuTorch's C++ sources built for them by its own CMake.

Needs what the project does not carry, so it runs when one of these is given:

    EXECUTORCH_INSTALL   a folder with an install of ExecuTorch for each core: cortex-m4, cortex-m55
    EXECUTORCH_ROOT      a checkout with its third-party sources, named executorch
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cortexm_tools.run.emulator import emulator_command
from cortexm_tools.target import Core

from tests.executorch_runtime.executorch_host import ROOT, cmake, succeed
from tests.support.cores import BOARD_OF
from tests.support.golden import golden_case
from tests.support.lowered import lowered

CPUS = ("cortex-m4", "cortex-m55")
MIXED = "nn_functional-conv_relu6_avgpool"

pytestmark = [
    pytest.mark.xdist_group("ds_cnn"),
    pytest.mark.skipif(
        not os.environ.get("EXECUTORCH_INSTALL") and not os.environ.get("EXECUTORCH_ROOT"),
        reason="ExecuTorch for bare metal is not here: set EXECUTORCH_INSTALL or EXECUTORCH_ROOT "
        "(docs/executorch.md)",
    ),
]


def _executorch(cpu: str) -> str:
    install = os.environ.get("EXECUTORCH_INSTALL")
    if install:
        return f"-Dexecutorch_DIR={Path(install) / cpu / 'lib' / 'cmake' / 'ExecuTorch'}"
    return f"-DEXECUTORCH_ROOT={os.environ['EXECUTORCH_ROOT']}"


@pytest.mark.parametrize("cpu", CPUS)
def test_the_image_equals_the_plan(cpu: str, tmp_path: Path) -> None:
    models = {"mixed": golden_case(MIXED, cpu).pte, "ds_cnn": lowered("ds_cnn").pte}
    for name, pte in models.items():
        (tmp_path / f"{name}.pte").write_bytes(pte)
    listed = ";".join(str(tmp_path / f"{name}.pte") for name in models)
    board = BOARD_OF[Core(cpu)]
    succeed(
        *(cmake(), "-G", "Ninja", "-S", ROOT / "tests" / "executorch_runtime" / "device"),
        *("-B", tmp_path / "build", f"-DROOT={ROOT}", f"-DCORTEXM_BOARD={board}"),
        *(f"-DCORTEXM_PYTHON={sys.executable}", "-DCMAKE_BUILD_TYPE=MinSizeRel"),
        *(_executorch(cpu), f"-DMODELS={listed}"),
    )
    succeed(cmake(), "--build", tmp_path / "build", "-t", "image")
    done = subprocess.run(
        emulator_command(board, tmp_path / "build" / "image.elf"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout + done.stderr
    print(said)
    assert done.returncode == 0, said
    for name in models:
        found = re.search(rf"^{name} same pool (\d+) of (\d+) ", said, re.M)
        assert found is not None and found[1] == found[2], said
