# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of .github/workflows/release.yml as a runner does: their shell, in a repository.

Actions are not run. Instead of downloads there is what this environment has: a `python` on PATH whose
virtual environments see its packages, and no package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import yaml

from tests.cmake.projects import ROOT, environment

WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
DAY = "2026-01-31"

# What is not the same on a runner: its environments are empty, and what it installs is downloaded.
_PYTHON = """#!/bin/sh
case "$*" in
"-m venv "*)
    "{python}" "$@" --without-pip || exit 1
    echo '{packages}' >"$(ls -d "$3"/lib/python*/site-packages)/tests.pth" ;;
"-m build") exec "{python}" "$@" --no-isolation ;;
*) exec "{python}" "$@" ;;
esac
"""


def jobs() -> dict[str, Any]:
    """The jobs by name."""
    found: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return found


class Runner:
    """A repository with this tree as its only commit, under the tag of its version, and a place for tools.

    Attributes:
        folder: the checkout, where steps run.
        temp: RUNNER_TEMP.
        calls: what `gh` was called with.
    """

    def __init__(self, base: Path, version: str) -> None:
        self.folder, self.temp, self.calls = base / "source", base / "temp", base / "calls"
        # The build backend may leave files in the tree it builds from.
        hidden = shutil.ignore_patterns(".venv", ".git", ".*_cache", "build", "dist", "__pycache__")
        shutil.copytree(ROOT, self.folder, ignore=hidden)
        changes = self.folder / "CHANGELOG.md"
        changes.write_text(
            changes.read_text().replace(f"## {version} (unreleased)", f"## {version} ({DAY})")
        )
        tools = base / "bin"
        tools.mkdir(parents=True)
        self.temp.mkdir()
        packages = sysconfig.get_path("purelib")
        scripts = {
            "python": _PYTHON.format(python=sys.executable, packages=packages),
            "gh": f'#!/bin/sh\necho "gh $*" >>"{self.calls}"\n',
        }
        for name, text in scripts.items():
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        self._variables = environment(
            PATH=f"{tools}{os.pathsep}{os.environ['PATH']}",
            PIP_NO_INDEX="1",
            PIP_DISABLE_PIP_VERSION_CHECK="1",
            GITHUB_WORKSPACE=str(self.folder),
            GITHUB_REPOSITORY="somebody/cortexm-model",
            RUNNER_TEMP=str(self.temp),
            TAG=f"v{version}",
            GH_TOKEN="token",
            **{key: "nobody" for key in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")},
            **{key: "nobody@localhost" for key in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")},
        )
        made = "git init -q && git add -A && git commit -qm release && git rev-parse HEAD"
        self._variables["GITHUB_SHA"] = self._shell(made, self._variables).strip()
        self._shell("git update-ref refs/remotes/origin/main HEAD", self._variables)

    def step(self, job: str, start: str) -> str:
        """Runs the step whose name starts so; what it prints."""
        (step,) = [each for each in jobs()[job]["steps"] if each.get("name", "").startswith(start)]
        assert set(step.get("env", {})) <= set(self._variables)
        return self._shell(step["run"], self._variables)

    def _shell(self, script: str, variables: dict[str, str]) -> str:
        # As GitHub says that it calls bash.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        done = subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout
