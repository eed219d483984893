# SPDX-License-Identifier: Apache-2.0
"""What is shown of long work: a bar where the standard error stream is a terminal, else a plain line
now and then. What takes a moment shows neither."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from .. import terminal
from ..progress import Listener, Task
from ..terminal import plain, show

DELAY = 0.5  # seconds until a bar appears
EVERY = 10.0  # seconds from line to line, and until the first one


def listener_for(name: str) -> Listener:
    """Shows tasks of the model `name`."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        try:
            from tqdm import tqdm
        except ModuleNotFoundError:
            return Lines(name)
        tqdm.monitor_interval = 0  # no thread that looks after bars
        terminal.making_room = tqdm.external_write_mode
        return Bars(name, tqdm)
    return Lines(name)


class Lines:
    """Plain lines, for logs: none for what is done within EVERY seconds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last = time.monotonic()

    @contextmanager
    def task(self, what: str, total: int | None) -> Iterator[Task]:
        yield _Line(self, what, total)

    def say(self, text: str) -> None:
        """A line, if the last one is long ago."""
        now = time.monotonic()
        if now - self._last >= EVERY:
            self._last = now
            show(f"[{self._name}] {text}", error=True)


class _Line:
    def __init__(self, lines: Lines, what: str, total: int | None) -> None:
        self._lines, self._what, self._total = lines, what, total

    def at(self, done: int, note: str = "") -> None:
        what = f"{self._what}, {note}" if note else self._what
        if self._total is not None:
            what += f": {done} of {self._total}"
        elif done:
            what += f": {done}"
        self._lines.say(what)


class Bars:
    """A bar for each task that takes longer than DELAY. It goes when the task ends."""

    def __init__(self, name: str, tqdm: Any) -> None:
        self._name, self._tqdm = name, tqdm

    @contextmanager
    def task(self, what: str, total: int | None) -> Iterator[Task]:
        whole = "{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}" if total else "{n_fmt}"
        make = partial(
            self._tqdm,
            total=total,
            desc=plain(f"[{self._name}] {what}", sys.stderr),
            file=sys.stderr,
            mininterval=0.1,
            miniters=0,
            dynamic_ncols=True,
            leave=False,
            bar_format="{desc}: " + whole + " [{elapsed}{postfix}]",
        )
        bar = _Bar(make)
        try:
            yield bar
        finally:
            bar.close()


class _Bar:
    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._begin = time.monotonic()
        self._bar: Any = None

    def at(self, done: int, note: str = "") -> None:
        if self._bar is None:
            waited = time.monotonic() - self._begin
            if waited < DELAY:
                return
            self._bar = self._make()
            self._bar.start_t -= waited
        self._bar.update(done - self._bar.n)
        if note:
            self._bar.set_postfix_str(note)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
