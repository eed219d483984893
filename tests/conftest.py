# SPDX-License-Identifier: Apache-2.0
"""One thread of PyTorch in each worker; the kernels as a shared library; each file of ours compiled once."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

try:  # PyPI's cmake is a script of Python that calls this, some thousand times in a run
    from cmake import CMAKE_BIN_DIR
except ImportError:
    pass
else:
    os.environ["PATH"] = f"{CMAKE_BIN_DIR}{os.pathsep}{os.environ['PATH']}"

if "PYTEST_XDIST_WORKER" in os.environ:
    # The workers share the cores; threads of PyTorch that wait for each other would keep them busy.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.support.plan_executor import PlanExecutor, build_library

CHECKOUT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Tests of one group must meet in one worker, or each worker lowers the same models."""
    grouped = [name for name in ids if "/test_models.py::" in name]  # all are in groups
    if node.config.option.dist == "loadgroup" and any("@" not in name for name in grouped):
        pytest.exit(
            "this pytest-xdist does not group tests on this pytest: install requirements/dev.txt", 4
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """First what compiles every kernel, whose objects all others take; then what one worker must do."""

    def place(item: pytest.Item) -> int:
        if item.path.name == "test_kernels_emulated.py":
            return 0
        return 1 if item.get_closest_marker("xdist_group") else 2

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """What was imported stays: Python need not look for garbage in it, nor after every few objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all workers of a session."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def built_launcher(folder: Path) -> Path:
    """The launcher of `compile_once.c`; the workers of a session build it once."""
    launcher = folder / "compile_once"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not launcher.exists():
            source = CHECKOUT / "tests" / "support" / "compile_once.c"
            warnings = ["-Wall", "-Wextra", "-Werror"]
            subprocess.run(["cc", "-O1", *warnings, "-o", launcher, source], check=True)
    return launcher


@pytest.fixture(scope="session", autouse=True)
def compile_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Builds in this session share the objects of kernels, runtime and boards."""
    if shutil.which("cc") is None:
        yield
        return
    folder = shared_folder(tmp_path_factory) / "compile_once"
    (folder / "objects").mkdir(parents=True, exist_ok=True)
    words = (built_launcher(folder), folder / "objects", CHECKOUT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CMAKE_C_COMPILER_LAUNCHER", ";".join(map(str, words)))
        yield


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory) -> PlanExecutor:
    """Runs plans here, with every scalar kernel; built once for all workers of a session."""
    folder = shared_folder(tmp_path_factory) / "kernel_library"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        library = folder / "kernels.so"
        if not library.exists():
            build_library(folder)
    return PlanExecutor(library)
