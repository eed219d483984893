# SPDX-License-Identifier: Apache-2.0
"""Which emulated board runs the code of which core.

A core without a board of its own runs on the nearest one that executes all its instructions:
M0+ on M0 (both ARMv6-M), M23 (ARMv8-M baseline) and M35P on M33, M52 and M85 (ARMv8.1-M with MVE)
on M55. An ARMv6-M image that does not fit the micro:bit runs on the M3 board: ARMv7-M includes
ARMv6-M.
"""

from __future__ import annotations

from ..errors import CortexMError, did_you_mean
from ..target import Core

BOARDS: dict[str, Core] = {
    "microbit": Core.M0,
    "mps2-an385": Core.M3,
    "mps2-an386": Core.M4,
    "mps2-an500": Core.M7,
    "mps2-an505": Core.M33,
    "mps3-an547": Core.M55,
}

_BY_CORE: dict[Core, tuple[str, ...]] = {
    Core.M0: ("microbit", "mps2-an385"),
    Core.M0PLUS: ("microbit", "mps2-an385"),
    Core.M3: ("mps2-an385",),
    Core.M4: ("mps2-an386",),
    Core.M7: ("mps2-an500",),
    Core.M23: ("mps2-an505",),
    Core.M33: ("mps2-an505",),
    Core.M35P: ("mps2-an505",),
    Core.M52: ("mps3-an547",),
    Core.M55: ("mps3-an547",),
    Core.M85: ("mps3-an547",),
    Core.ANY: ("mps2-an385",),
}


def boards_for(core: Core) -> tuple[str, ...]:
    """The boards to try for a core, in this order; empty for the host."""
    return _BY_CORE.get(core, ())


def check_board(board: str) -> Core:
    """The core of a board.

    Raises:
        CortexMError: there is no such board.
    """
    if board not in BOARDS:
        raise CortexMError(f"unknown board {board!r}", hint=did_you_mean(board, BOARDS))
    return BOARDS[board]
