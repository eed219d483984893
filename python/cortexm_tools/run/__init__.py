# SPDX-License-Identifier: Apache-2.0
"""Builds generated models into images and runs them, on emulated boards or on this machine."""

from __future__ import annotations

from .boards import BOARDS, boards_for
from .emulator import run_batch_on_board, run_on_board, run_on_core
from .host import run_batch_on_host, run_on_host
from .result import RunResult

__all__ = [
    "BOARDS",
    "RunResult",
    "boards_for",
    "run_batch_on_board",
    "run_batch_on_host",
    "run_on_board",
    "run_on_core",
    "run_on_host",
]
