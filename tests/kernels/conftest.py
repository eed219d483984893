# SPDX-License-Identifier: Apache-2.0
"""The fuzz driver, sanitized."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fuzz driver with the address and undefined-behaviour sanitizers."""
    folder = tmp_path_factory.mktemp("fuzz")
    flags = "-fsanitize=address,undefined -fno-sanitize-recover=all"
    for command in (
        ["cmake", "-G", "Ninja", "-S", str(HERE), "-B", str(folder), "-DCMAKE_BUILD_TYPE=",
         f"-DCMAKE_C_FLAGS={flags}", "-DCORTEXM_KERNEL_OPTIMIZE=-O1",
         f"-DPython3_EXECUTABLE={sys.executable}"],
        ["cmake", "--build", str(folder), "--parallel", "2", "--target", "fuzz"],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "fuzz"
