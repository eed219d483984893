# SPDX-License-Identifier: Apache-2.0
"""The command line, which prints and exits; nothing below it does (but run/__main__.py, for CMake).

``parser`` says what can be written, from the ledger ``../options``, ``settle`` what it comes to,
``commands`` does it.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status: 0 done, 1 not matched or not possible, 2 usage."""
    from .commands import main as run

    return run(argv)
