# SPDX-License-Identifier: Apache-2.0
"""Builds the kernels once for all workers of a session, as a shared library for ctypes, and a sanitized
fuzz driver."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from tests.kernels.kernel_library import KernelLibrary

HERE = Path(__file__).resolve().parent


def _build(directory: Path, target: str, *flags: str) -> Path:
    for command in (
        ["cmake", "-S", str(HERE), "-B", str(directory), "-DCMAKE_BUILD_TYPE=", *flags],
        ["cmake", "--build", str(directory), "--parallel", "2", "--target", target],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return directory


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> KernelLibrary:
    """Every scalar kernel and every reference, callable."""
    base = tmp_path_factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kernels"
    directory.mkdir(exist_ok=True)
    with (directory / "lock").open("w") as lock:  # the first worker builds it, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        return KernelLibrary(_build(directory, "cortexm_all") / "libcortexm_all.so")


@pytest.fixture(scope="session")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fuzz driver with the address and undefined-behaviour sanitizers."""
    flags = "-fsanitize=address,undefined -fno-sanitize-recover=all"
    return _build(tmp_path_factory.mktemp("fuzz"), "fuzz", f"-DCMAKE_C_FLAGS={flags}") / "fuzz"
