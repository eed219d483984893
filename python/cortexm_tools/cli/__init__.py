# SPDX-License-Identifier: Apache-2.0
"""The command line, which prints and exits; nothing below it does (but run/__main__.py, for CMake).

``parser`` says what can be written, from the ledger ``../options``, ``settle`` what it comes to,
``commands`` does it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def _importing() -> Iterator[None]:
    """Inside the block an interrupt ends the process at once: some packages that are half imported
    make another error of it. Nothing was begun that would have to be cleaned up."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def end(number: int, frame: object) -> None:
        os.write(2, b"error: interrupted\n")
        os._exit(130)

    try:
        before = signal.signal(signal.SIGINT, end)
    except ValueError:  # not the main thread, which gets the signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status: 0 done, 1 not matched or not possible, 2 usage.

    The user may interrupt it at any time, imports included, and whoever reads what it prints may stop.
    """
    try:
        with _importing():
            from .commands import main as run

        try:
            return run(argv)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
