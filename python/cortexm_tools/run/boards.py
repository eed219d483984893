# SPDX-License-Identifier: Apache-2.0
"""The emulated boards, from ``boards/*/board.json``, which CMake reads as well."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..errors import CortexMError, did_you_mean
from ..paths import data_root
from ..target import CORES, Core


@dataclass(frozen=True)
class Board:
    """A board: its core, and what QEMU calls the machine."""

    core: Core
    machine: str


def _boards() -> dict[str, Board]:
    found = {}
    for file in sorted((data_root() / "boards").glob("*/board.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        found[file.parent.name] = Board(Core(data["cpu"]), data["machine"])
    return found


BOARDS: dict[str, Board] = _boards()


def boards_for(core: Core) -> tuple[str, ...]:
    """The boards to try for a core, in this order; empty for the host."""
    return CORES[core].boards


def check_board(board: str) -> Core:
    """The core of a board.

    Raises:
        CortexMError: there is no such board.
    """
    if board not in BOARDS:
        raise CortexMError(f"unknown board {board!r}", hint=did_you_mean(board, BOARDS))
    return BOARDS[board].core
