# SPDX-License-Identifier: Apache-2.0
"""Work that may trap or never end, in a process of its own."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def each_returns(work: Callable[[T], None], items: Sequence[T], *, seconds: int) -> None:
    """Calls `work` on every item, in a child process, and fails with the item on which it raises, is
    ended by a signal, or takes longer than `seconds`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(work, items, seconds, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        report = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    begun, _, message = report.partition("!")
    assert not message, f"{items[len(begun) - 1]}\n{message}"
    code = os.waitstatus_to_exitcode(status)
    assert code == 0, f"{items[len(begun) - 1]} ended in {signal.Signals(-code).name}"


def _work(work: Callable[[T], None], items: Sequence[T], seconds: int, writer: int) -> None:
    """Writes a point before every item, and after a failure what it was."""
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, wherever it is
        for item in items:
            signal.alarm(seconds)
            os.write(writer, b".")
            work(item)
        code = 0
    except BaseException:
        os.write(writer, b"!" + traceback.format_exc().encode())
        code = 0
    finally:
        os._exit(code)
