# SPDX-License-Identifier: Apache-2.0
"""One thread of PyTorch in each worker; the kernels as a shared library; each file of ours compiled once."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    # The workers share the cores; threads of PyTorch that wait for each other would keep them busy.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.support.plan_executor import PlanExecutor, build_library

LAUNCHER = Path(__file__).resolve().parent / "support" / "compile_once.py"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Tests of one group must meet in one worker, or each worker lowers the same models."""
    grouped = [name for name in ids if "/test_models.py::" in name]  # all are in groups
    if node.config.option.dist == "loadgroup" and any("@" not in name for name in grouped):
        pytest.exit(
            "this pytest-xdist does not group tests on this pytest: install requirements/dev.txt", 4
        )


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all workers of a session."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session", autouse=True)
def compile_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Builds in this session share the objects of kernels, runtime and boards."""
    folder = shared_folder(tmp_path_factory) / "objects"
    folder.mkdir(exist_ok=True)
    words = (sys.executable, "-I", "-S", LAUNCHER, folder, LAUNCHER.parents[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CMAKE_C_COMPILER_LAUNCHER", ";".join(map(str, words)))
        yield


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory) -> PlanExecutor:
    """Runs plans here; the library is built once for all workers of a session."""
    folder = shared_folder(tmp_path_factory) / "kernel_library"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        library = folder / "kernels.so"
        if not library.exists():
            build_library(folder)
    return PlanExecutor(library)
