# SPDX-License-Identifier: Apache-2.0
"""How far long work is: bars on a terminal, plain lines elsewhere, nothing where nobody listens."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools import cli
from cortexm_tools.cli import bars
from cortexm_tools.progress import Task, counted, listening, task, tick, track
from cortexm_tools.run.result import invocations_done

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests" / "data" / "digits" / "digits.pte"
WORK = """
import sys, time
from cortexm_tools.cli import bars
from cortexm_tools.terminal import show
from cortexm_tools.progress import listening, task, track
bars.DELAY = bars.EVERY = float(sys.argv[1])
with listening(bars.listener_for("n\\x1b[31met")):
    for item in track([1, 2, 3], "calibration"):
        time.sleep(0.15)
        if item == 2:
            show("a line between", error=True)
    with task("lowering", 2) as lowering:
        lowering.at(1, "export")
        time.sleep(0.15)
        lowering.at(2, "passes")
"""


def on_a_terminal(*command: str, **more: str) -> str:
    """What a command shows on a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), **more}
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    said = b""
    while True:
        try:
            data = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        said += data
    os.close(ours)
    assert child.wait(60) == 0, said
    return said.decode()


def in_a_log(*command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).decode()


def test_bars_on_a_terminal_and_lines_in_a_log() -> None:
    said = on_a_terminal(sys.executable, "-c", WORK, "0", TERM="xterm")
    assert "calibration:  67%" in said and "2/3" in said and "lowering:  50%" in said
    assert "export" in said
    assert "[n\\x1b[31met]" in said, "a name is nothing that the terminal obeys"
    # A line takes the bar's place, and the bar comes back below it; when all is done none is left.
    frames = said.replace("\r\n", "\n").split("\r")
    (line,) = [frame for frame in frames if "a line between" in frame]
    assert line.startswith("a line between\n") and said.index("67%") > said.index("a line between")
    assert not said.rsplit("\r", 1)[-1].strip() and "100%" not in said.rsplit("\n", 1)[-1][-8:]
    plain = on_a_terminal(sys.executable, "-c", WORK, "0", TERM="dumb")
    log = in_a_log(sys.executable, "-c", WORK, "0")
    for text in (plain.replace("\r\n", "\n"), log):
        assert "[n\\x1b[31met] calibration: 1 of 3\n" in text and "%" not in text
        assert "[n\\x1b[31met] lowering, export: 1 of 2\n" in text
        assert not set("\r\x1b") & set(text)
    # What takes a moment is not worth a word.
    quick = on_a_terminal(sys.executable, "-c", WORK, "30", TERM="xterm")
    assert "calibration" not in quick and "a line between" in quick
    assert in_a_log(sys.executable, "-c", WORK, "30") == "a line between\n"


def test_a_run_shows_build_and_emulator(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    inputs = rng.random((2000, 1, 1, 8, 8), np.float32)
    np.savez(tmp_path / "set.npz", in_0=inputs, labels=np.zeros(2000, np.int64))
    words = (sys.executable, "-m", "cortexm_tools", "run", str(DIGITS))
    said = on_a_terminal(*words, "--dataset", str(tmp_path / "set.npz"), TERM="xterm")
    assert "[digits] building the image: " in said
    assert "[digits] running on the emulated mps3-an547: " in said and "/2000" in said
    assert "outputs equal the reference interpreter in every byte" in said


def test_outputs_tell_how_far_the_runner_is(tmp_path: Path) -> None:
    path = tmp_path / "outputs.bin"
    assert invocations_done(path, [2]) == 0
    section = np.array(
        [0, 64, 2, 3, 5], "<u4"
    ).tobytes()  # magic, arena, two outputs of 3 and 5 bytes
    invocation = bytes(12 + 3 + 5)
    whole = section + 2 * invocation + section + 3 * invocation
    counts = []
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        counts.append(invocations_done(path, [2, 3]))
    assert counts == sorted(counts) and counts[-1] == 5 and set(counts) == set(range(6))
    assert counts[len(section) + 19] == 0 and counts[len(section) + 20] == 1


class Recorder:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, int | None]] = []
        self.seen: list[tuple[str, int, str]] = []

    @contextmanager
    def task(self, what: str, total: int | None) -> Iterator[Task]:
        self.tasks.append((what, total))
        recorder = self

        class One:
            def at(self, done: int, note: str = "") -> None:
                recorder.seen.append((what, done, note))

        yield One()


def test_only_who_listens_hears() -> None:
    heard = Recorder()
    with listening(heard):
        assert list(track("abc", "letters")) == ["a", "b", "c"]
        with counted("search"):
            tick()
            tick()
        tick()
        with listening(None), task("unheard", 1) as one:
            one.at(1)
            tick()
    assert list(track("ab", "unheard")) == ["a", "b"]
    assert heard.tasks == [("letters", 3), ("search", None)]
    letters = [("letters", number, "") for number in range(4)]
    assert heard.seen == [*letters, ("search", 1, ""), ("search", 2, "")]


def test_the_search_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    heard = Recorder()
    monkeypatch.setattr(bars, "listener_for", lambda name: heard)
    words = ["compile", str(DIGITS), "--out", str(tmp_path), "--optimize", "size"]
    assert cli.main([*words, "--quiet"]) == 0 and not heard.tasks
    assert cli.main(words) == 0
    assert heard.tasks == [("search for a plan: arenas tried", None)]
    numbers = [done for _, done, _ in heard.seen]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 10
