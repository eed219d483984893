# SPDX-License-Identifier: Apache-2.0
"""What tests want to know of cmake/cores.json and boards/*/board.json."""

from __future__ import annotations

from pathlib import Path

from cortexm_tools.run.boards import BOARDS
from cortexm_tools.run.emulator import EMULATOR
from cortexm_tools.run.image import COMPILER, require_program
from cortexm_tools.target import CORES, Core, Isa, Target

# The one with the most room, of each core that has one.
BOARD_OF = {core: info.boards[-1] for core, info in CORES.items() if info.boards}


def board_for(isa: Isa) -> str:
    """The one of the first core that has this instruction set and none beyond."""
    return next(BOARD_OF[core] for core, info in CORES.items() if info.isas[-1] is isa)


def cross_compiler(cpu: str, isa: str | None = None) -> list[str]:
    """What compiles for a core, with the options that select it."""
    target = Target.parse(cpu, isa)
    return [COMPILER, *CORES[target.core].flags[target.isa]]


def emulator(board: str, image: Path) -> list[str]:
    """Starts an image without counting its instructions, which is faster."""
    quiet = ("-display", "none", "-monitor", "none", "-serial", "none")
    files = ("-semihosting-config", "enable=on,target=native", "-kernel", str(image))
    return [require_program(EMULATOR), "-machine", BOARDS[board].machine, *quiet, *files]


def lowered_for(core: Core) -> str:
    """The core for which the stored programs that a core runs were lowered."""
    return "cortex-m55" if Isa.MVE in CORES[core].isas else "cortex-m4"
