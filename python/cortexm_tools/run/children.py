# SPDX-License-Identifier: Apache-2.0
"""Programs that these tools start: compilers, build systems, emulators. None outlives us."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

_GRACE = 5.0  # seconds
_WATCH = 0.2  # seconds


def run_child(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    watch: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a program without input and captures what it prints.

    It gets a process group of its own. If it takes too long, or we are interrupted, that ends with
    everything in it: a build system's compilers as well.

    Args:
        watch: called some times a second while it runs.

    Raises:
        subprocess.TimeoutExpired: it took longer than `timeout` seconds.
    """
    child = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    with child:
        try:
            out, err = _output_of(child, timeout, watch)
        except BaseException:
            _end(child)
            raise
    return subprocess.CompletedProcess(list(command), child.returncode, out, err)


def _output_of(
    child: subprocess.Popen[str], timeout: float | None, watch: Callable[[], None] | None
) -> tuple[str, str]:
    """What it prints, when it has ended."""
    end = math.inf if timeout is None else time.monotonic() + timeout
    while watch is not None and time.monotonic() < end:
        try:
            return child.communicate(timeout=min(_WATCH, max(0.0, end - time.monotonic())))
        except subprocess.TimeoutExpired:
            watch()
    left = None if timeout is None else max(0.0, end - time.monotonic())
    return child.communicate(timeout=left)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Inside the block SIGTERM is an exception as SIGINT is, so that what was begun is cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    if before is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _end(child: subprocess.Popen[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            child.wait(_GRACE)
        except (ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
            continue
