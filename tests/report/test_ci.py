# SPDX-License-Identifier: Apache-2.0
"""The workflow of docs/ci.md: its steps, as a shell runs them on GitHub."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.report.conftest import DIGITS, ROOT


def workflow() -> dict[str, Any]:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    data: dict[str, Any] = yaml.safe_load(found)
    return data


def test_the_workflow_is_what_github_takes() -> None:
    data = workflow()
    assert set(data) == {"name", True, "permissions", "env", "jobs"}  # YAML reads on as True
    assert data[True] == "pull_request" and data["permissions"] == {"contents": "read"}
    compare, comment = data["jobs"].values()
    # What runs the pull request's code may write nothing; what may write runs none of it.
    assert "permissions" not in compare and comment["permissions"] == {"pull-requests": "write"}
    assert not any(step.get("uses", "").startswith("actions/checkout") for step in comment["steps"])
    assert compare["steps"][0]["with"]["persist-credentials"] is False
    for job in (compare, comment):
        assert job["runs-on"].startswith("ubuntu-")
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            known = {"name", "id", "if", "env", "run", "uses", "with", "continue-on-error"}
            assert set(step) <= known
            assert "uses" not in step or re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])
            # What a pull request can choose is not written into a shell command.
            assert "${{" not in step.get("run", "")


@pytest.mark.parametrize(
    ("limits", "fails"), [("ram+1%,constants+2%", False), ("macs,ram+1", True)]
)
def test_its_steps_run(tmp_path: Path, limits: str, fails: bool) -> None:
    repository, tools = tmp_path / "repository", tmp_path / "bin"
    tools.mkdir()
    (tools / "pip").write_text('#!/bin/sh\necho "pip $*" >>"$CALLS"\n')
    (tools / "gh").write_text(
        '#!/bin/sh\necho "gh $*" >>"$CALLS"\nfor last; do :; done\ncp "$last" "$COMMENT"\n'
    )
    (tools / "cortexm").write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT / "python"}" exec "{sys.executable}" -m cortexm_tools "$@"\n'
    )
    for tool in tools.iterdir():
        tool.chmod(0o755)
    variables = os.environ | {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "COMMENT": str(tmp_path / "comment.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        **{key: "nobody" for key in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")},
        **{key: "nobody@localhost" for key in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")},
    }

    def shell(script: str, folder: Path, **more: str) -> int:
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=folder, env=variables | more).returncode

    repository.mkdir()
    small = ROOT / "tests" / "data" / "states" / "frames.pte"
    before = f"cp '{small}' net.pte && git init -q && git add net.pte && git commit -qm before"
    after = f"cp '{DIGITS}' net.pte && git commit -qam after"
    assert shell(before, repository) == 0
    base = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=repository, text=True).strip()
    assert not fails or shell(after, repository) == 0

    data = workflow()
    environment = data["env"] | {"MODEL": "net.pte", "LIMITS": limits}
    given = {"BASE": base, "NUMBER": "7", "GH_TOKEN": "token", "GH_REPO": "a/b"}
    statuses = {}
    steps = [step for job in data["jobs"].values() for step in job["steps"]]
    for step in steps:
        if "run" not in step:
            continue
        if "if" in step:
            assert step["if"] == "steps.compare.outputs.status != '0'"
            if (tmp_path / "output").read_text() == "status=0\n":
                continue
        own = {key: given[key] for key in step.get("env", {})}
        statuses[step["name"]] = shell(step["run"], repository, **environment, **own)
    last = statuses.pop("Fail if it is too much", 0)
    assert (last != 0) == fails and not any(statuses.values()), statuses
    assert "gh pr comment 7 --edit-last" in (tmp_path / "calls").read_text()
    comment = (tmp_path / "comment.md").read_text()
    assert comment == (tmp_path / "summary").read_text()
    assert comment.startswith("### What this change does to `net.pte`\n```\nA  reports/before\n")
    assert ("**Too much:** " in comment) == fails
    assert (repository / "reports" / "compare.html").is_file()
