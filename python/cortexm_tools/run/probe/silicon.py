# SPDX-License-Identifier: Apache-2.0
"""The boards with chips, from ``boards/silicon.json``, and which of them or what else is meant."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ...errors import CortexMError, did_you_mean
from ...paths import data_root
from ...target import CORES, Core, Isa
from ..boards import BOARDS
from .memories import Memory, linker_script, parse_memory, read_linker_script


@dataclass(frozen=True)
class Silicon:
    """A board; the ledger says what the fields mean."""

    name: str
    about: str
    core: Core
    isa: Isa
    memory: str
    clock_hz: int | None
    clock_source: str
    wait_states: tuple[int, int] | None
    names: dict[str, str]
    tried: str


@cache
def silicon() -> dict[str, Silicon]:
    """All boards, by name."""
    file = data_root() / "boards" / "silicon.json"
    found = {}
    for row in json.loads(file.read_text(encoding="utf-8"))["boards"]:
        core = Core(row["cpu"])
        register = row.get("wait_states")
        found[row["name"]] = Silicon(
            row["name"],
            row["about"],
            core,
            Isa(row["isa"]) if "isa" in row else CORES[core].isas[-1],
            row["memory"],
            row["clock_hz"],
            row["clock_source"],
            (int(register["address"], 0), int(register["mask"], 0)) if register else None,
            {key: row.get(key, "") for key in ("openocd", "pyocd", "jlink", "zephyr")},
            row.get("tried", ""),
        )
    return found


@dataclass(frozen=True)
class Chip:
    """What an image is built for and runs on.

    Attributes:
        name: of the board; ``a chip`` if only its memories are known.
        core: the board's, if it is known.
        board: its entry in the ledger.
        memories: empty for a linker script that is used as it is.
        script: that one, or None.
    """

    name: str
    core: Core | None
    board: Silicon | None
    memories: tuple[Memory, ...]
    script: Path | None

    def write_script(self, folder: Path) -> Path:
        """The linker script."""
        if self.script is not None:
            return self.script
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "chip.ld"
        text = linker_script(self.memories)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        return path

    def in_flash(self, address: int) -> bool:
        """Whether a breakpoint there cannot be an instruction that is written."""
        found = [m for m in self.memories if m.origin <= address < m.origin + m.length]
        return found[0].name == "flash" if found else address < 0x20000000


def find_board(name: str) -> Silicon:
    """A board of the ledger.

    Raises:
        CortexMError: there is none of this name.
    """
    boards = silicon()
    if name not in boards:
        hint = did_you_mean(name, [*boards, *BOARDS])
        raise CortexMError(
            f"unknown board {name!r}",
            where="--board",
            hint=f"{hint}; --memory and --cpu describe any other",
        )
    return boards[name]


def find_chip(board: str | None, memory: str | None, script: Path | None) -> Chip:
    """What ``--board``, ``--memory`` and ``--linker-script`` name.

    Raises:
        CortexMError: nothing, or something unknown.
    """
    if board is not None and board in BOARDS:  # an emulator behind a probe
        chip = Chip(
            board, BOARDS[board].core, None, (), data_root() / "boards" / board / "memory.ld"
        )
    elif board is not None:
        row = find_board(board)
        chip = Chip(board, row.core, row, parse_memory(row.memory, board), None)
    else:
        chip = Chip("a chip", None, None, (), None)
    if memory and script:
        raise CortexMError("--memory and --linker-script are two answers to one question")
    if memory:
        return Chip(chip.name, chip.core, chip.board, parse_memory(memory), None)
    if script is not None:
        found = read_linker_script(script)
        own = script if found is None else None
        return Chip(chip.name, chip.core, chip.board, found or (), own)
    if board is None:
        raise CortexMError(
            "where is the chip's memory?",
            where="--probe",
            hint="--board names one of boards/silicon.json; or --memory "
            "flash=0x08000000:512K,ram=0x20000000:128K; or --linker-script FILE",
        )
    return chip
