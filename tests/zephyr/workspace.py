# SPDX-License-Identifier: Apache-2.0
"""Building and running Zephyr applications with west in the workspace of ZEPHYR_BASE."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cortexm_tools.run.boards import BOARDS

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "tests" / "data" / "digits" / "digits.pte"
NO_RUN_TARGET = ("mps2/an386", "mps2/an500")  # of Zephyr, though QEMU runs them

# Runs the model "digits" once, on a constant input, and prints the sum of the output's bytes.
MAIN = r"""
#include <stdio.h>
#include "digits.h"

int main(void)
{
    int sum = 0;

    if (cortexm_init(&digits, NULL, 0) != CORTEXM_OK) {
        printf("refused\n");
        return 0;
    }
    const cortexm_tensor_t input = cortexm_input(&digits, NULL, 0);
    for (size_t i = 0; i < input.info->size / sizeof(float); i++) {
        ((float *)input.data)[i] = 0.25f;
    }
    cortexm_invoke(&digits, NULL);
    const cortexm_tensor_t output = cortexm_output(&digits, NULL, 0);
    for (size_t i = 0; i < output.info->size; i++) {
        sum += ((const uint8_t *)output.data)[i];
    }
    printf("arena %p\nran, sum %d\n", digits.arena, sum);
    return 0;
}
"""


def why_not() -> str:
    """Why nothing can be built here; empty if it can."""
    if not os.environ.get("ZEPHYR_BASE"):
        return "ZEPHYR_BASE is not set: no Zephyr application was built or run"
    if shutil.which("west") is None:
        return "ZEPHYR_BASE is set but there is no west: no Zephyr application was built or run"
    return ""


def environment() -> dict[str, str]:
    """Ours, with the interpreter of these tests, which has PyTorch, for the tools."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "BOARD")}
    return {"CORTEXM_PYTHON": sys.executable, **kept}


def modules() -> str:
    """The workspace's modules, with this checkout in place of any other copy of it."""
    done = subprocess.run(
        ["west", "list", "-f", "{abspath}"],
        cwd=os.environ["ZEPHYR_BASE"],
        capture_output=True,
        text=True,
        env=environment(),
    )
    others = []
    for line in done.stdout.splitlines():
        description = Path(line) / "zephyr" / "module.yml"
        if description.is_file() and "name: cortexm-model" not in description.read_text():
            others.append(line)
    return ";".join([*others, str(ROOT)])


@dataclass
class Application:
    """A Zephyr application with its build folder."""

    source: Path
    build: Path
    board: str

    def make(self, *options: str) -> str:
        """Configures (the first time, or with options) and builds; returns what was said."""
        done = self.try_make(*options)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
        return done.stdout + done.stderr

    def try_make(
        self, *options: str, only_configure: bool = False
    ) -> subprocess.CompletedProcess[str]:
        command = ["west", "build", "-d", str(self.build)]
        command += ["--cmake-only"] if only_configure else []
        if not (self.build / "CMakeCache.txt").is_file() or options:
            given = (f"-DZEPHYR_MODULES={modules()}", "-DCONFIG_COMPILER_WARNINGS_AS_ERRORS=y")
            command += ["-b", self.board, str(self.source), "-o=-j2", "--", *given, *options]
        return subprocess.run(
            command,
            cwd=os.environ["ZEPHYR_BASE"],
            capture_output=True,
            text=True,
            env=environment(),
        )

    def refuse(self, *options: str) -> str:
        """The message of a build that must fail, with CMake's line breaks undone."""
        done = self.try_make(*options)
        text = done.stdout + done.stderr
        assert done.returncode != 0, text
        assert "Traceback" not in text, text
        return " ".join(text.split())

    def run(self, until: str, timeout: float = 180.0, extra: tuple[str, ...] = ()) -> str:
        """Runs the image until it prints what matches `until`; returns the console.

        `extra` are options of the emulator for boards that Zephyr's names one of ours.
        """
        image = self.build / "zephyr" / "zephyr.elf"
        if self.board.startswith("native_sim"):
            command = [str(image.with_suffix(".exe"))]
        elif self.board in NO_RUN_TARGET or extra:
            machine = BOARDS[self.board.replace("/corstone300", "").replace("/", "-")].machine
            command = ["qemu-system-arm", "-M", machine, "-nographic", "-kernel", str(image)]
            command += extra
        else:
            command = ["west", "build", "-d", str(self.build), "-t", "run"]
        process = subprocess.Popen(
            command,
            cwd=os.environ["ZEPHYR_BASE"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,
        )
        try:
            text = _read(process, until, timeout)
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # west, ninja and the emulator
            process.wait()
        assert re.search(until, text), text
        return text

    def config(self, name: str) -> str:
        """A symbol of the configuration; empty if it is not set."""
        text = (self.build / "zephyr" / ".config").read_text(encoding="utf-8")
        match = re.search(rf"^CONFIG_{name}=(.*)$", text, re.M)
        return match[1] if match else ""


def _read(process: subprocess.Popen[bytes], until: str, timeout: float) -> str:
    text = ""
    end = time.monotonic() + timeout
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not re.search(until, text) and selector.select(max(0.0, end - time.monotonic())):
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            text += data.decode("utf-8", "replace")
    return text


def compiled(text: str) -> set[str]:
    """The C files that a build compiled, by name."""
    return {Path(name).name for name in re.findall(r"Building C object (\S+)\.obj", text)}
