# SPDX-License-Identifier: Apache-2.0
"""Applications in folders of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.zephyr.workspace import DIGITS, MAIN, ROOT, Application, why_not

Make = Callable[..., Application]


@pytest.fixture(autouse=True)
def compiles_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds whose commands are looked at share no objects with others."""
    monkeypatch.delenv("CMAKE_C_COMPILER_LAUNCHER", raising=False)


@pytest.fixture
def application(tmp_path: Path) -> Make:
    """application(<folder below the checkout>, <board>): one that can be built and run."""
    if why_not():
        pytest.skip(why_not())

    def make(folder: str, board: str) -> Application:
        return Application(ROOT / folder, tmp_path / "build" / board.replace("/", "_"), board)

    return make


@pytest.fixture
def program(tmp_path: Path, application: Make) -> Make:
    """program(<board>, <call>, main=…): an application written here, with a model without torch."""

    def make(board: str, call: str, *, main: str = "", conf: str = "", overlay: str = ""):
        source = tmp_path / "application"
        source.mkdir()
        (source / "digits.pte").write_bytes(DIGITS.read_bytes())
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\n"
            "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\n"
            "project(application C)\n"
            f"cortexm_add_model({call})\n"
            "target_sources(app PRIVATE main.c)\n"
            "target_link_libraries(app PRIVATE digits)\n"
        )
        (source / "prj.conf").write_text("CONFIG_CORTEXM_MODEL=y\n" + conf)
        (source / "app.overlay").write_text(overlay)
        (source / "main.c").write_text(main or MAIN)
        return Application(source, tmp_path / "build", board)

    return make
