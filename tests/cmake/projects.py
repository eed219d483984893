# SPDX-License-Identifier: Apache-2.0
"""Configuring and building mini-projects, and judging what is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from cortexm_tools.run.emulator import run_image

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MODEL = HERE.parent / "data" / "digits" / "digits.pte"


def environment(**changes: str) -> dict[str, str]:
    """Ours without what would lead a build to this checkout's package."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "CMSIS_NN_ROOT")
    kept = {k: v for k, v in os.environ.items() if k not in ours}
    return kept | changes


@dataclass
class Project:
    """A copy of a mini-project with its build folder."""

    source: Path
    build: Path
    definitions: dict[str, str] = field(default_factory=dict)
    generator: str = "Ninja"

    def configure(self, **definitions: str) -> subprocess.CompletedProcess[str]:
        merged = {"CORTEXM_PYTHON": sys.executable, **self.definitions, **definitions}
        options = [f"-D{key}={value}" for key, value in merged.items()]
        return run(
            "cmake", "-G", self.generator, "-S", str(self.source), "-B", str(self.build), *options
        )

    def make(self, *targets: str) -> subprocess.CompletedProcess[str]:
        chosen = [word for target in targets for word in ("--target", target)]
        return run("cmake", "--build", str(self.build), "-j", "2", *chosen)

    def plan(self) -> str:
        """What Ninja would do."""
        return run("ninja", "-C", str(self.build), "-n").stdout


def copied(folder: Path, style: str, **definitions: str) -> Project:
    """A copy of a mini-project in a folder that is new."""
    source = folder / style
    shutil.copytree(HERE / style, source)
    return Project(source, folder / "build", {"MODEL": str(MODEL), **definitions})


def run(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment(),
        **options,  # type: ignore
    )


def succeed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def refuse(done: subprocess.CompletedProcess[str]) -> str:
    """The messages of a command that must fail, with CMake's line breaks undone."""
    text = done.stdout + done.stderr
    assert done.returncode != 0, text
    assert "Traceback" not in text, text
    return " ".join(text.split())


def emulate(board: str, image: Path) -> str:
    return run_image(board, image, image.parent, timeout=60)
