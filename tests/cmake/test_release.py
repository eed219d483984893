# SPDX-License-Identifier: Apache-2.0
"""What a release consists of: wheel, sdist, version, notes, and the workflow that makes it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
import yaml

from cortexm_tools.packages import PROVED
from cortexm_tools.version import __version__

from scripts import release  # type: ignore[import-not-found]
from tests.cmake.projects import ROOT, refuse, run, succeed
from tests.cmake.workflow import WORKFLOW, Runner

pytestmark = pytest.mark.xdist_group("wheel")  # one worker builds it


def test_wheel_and_sdist(wheel: Path) -> None:
    """The workflow's step made them, and `twine check` and release.py passed there."""
    dist = wheel.parent / "dist"
    assert len(list(dist.iterdir())) == 2
    assert all(path.stat().st_size < 4_000_000 for path in dist.iterdir())


def test_the_steps_of_the_workflow_run(released: Runner) -> None:
    """In clean environments, which see what the tests are run with in place of downloads: pip finds every
    requirement of the extra there, in its version, and a model is lowered with the wheel."""
    notes = (released.folder / "dist-notes" / "notes.md").read_text()
    assert notes == release.section(ROOT, __version__)[1]
    said = released.step("build", "From the wheel")
    assert __version__ in said and (released.temp / "digits" / "manifest.json").is_file()
    shutil.rmtree(released.folder / "clean")  # another machine
    said = released.step("lower", "cortexm-model[torch]")
    assert "Successfully installed cortexm-model-" in said
    site = next((released.folder / "clean").glob("lib/python*/site-packages/cortexm_tools"))
    assert not site.is_symlink()
    report = json.loads((released.temp / "tiny" / "tiny.report.json").read_text())
    assert report["target"]["cpu"] == "cortex-m4"
    assert any("_s8_dsp" in kernel for kernel in report["kernels"])
    (released.folder / "notes").mkdir()
    shutil.copy(released.folder / "dist-notes" / "notes.md", released.folder / "notes")
    released.step("publish", "Release")
    call = released.calls.read_text()
    assert call.startswith(f"gh release create v{__version__} dist/cortexm_model-{__version__}")
    assert "--repo somebody/cortexm-model" in call and call.endswith("--verify-tag\n")


def test_workflows_follow_githubs_schema(tmp_path: Path) -> None:
    """Of check-jsonschema, which has a copy of it. Those of docs/ci.md as well."""
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    (tmp_path / "model.yml").write_text(shown)
    files = [*sorted((ROOT / ".github" / "workflows").iterdir()), tmp_path / "model.yml"]
    check = (
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-workflows",
    )
    succeed(run(*check, *map(str, files)))
    (tmp_path / "model.yml").write_text(shown.replace("runs-on", "runs_on"))
    assert "runs_on" in refuse(run(*check, "--verbose", str(tmp_path / "model.yml")))


def test_incomplete_and_compiled_contents_are_refused(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="should have"):
        release.contents(tmp_path)
    shutil.copytree(wheel.parent / "dist", tmp_path / "dist")
    (file,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("cortexm_tools/share/CortexMModel/kernels/conv.o", b"")
    with pytest.raises(SystemExit, match=r"has what was compiled: .*kernels/conv\.o"):
        release.contents(tmp_path / "dist")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("cortexm_tools/version.py", b"")
    with pytest.raises(SystemExit, match="lacks cortexm_tools/share/CortexMModel/kernels/kernels"):
        release.contents(tmp_path / "dist")


def test_extras_are_what_the_tests_are_run_with(wheel: Path) -> None:
    """The extra `torch` brings the versions that the results are proved for."""
    (info,) = wheel.glob("cortexm_model-*.dist-info")
    metadata = PathDistribution(info).metadata
    assert metadata["Version"] == __version__
    needs = [line for line in metadata.get_all("Requires-Dist") or () if 'extra == "torch"' in line]
    extra = {re.match(r"[\w\[\]-]+", line)[0]: line.partition(";")[0] for line in needs}
    lines = (ROOT / "requirements" / "torch.txt").read_text().splitlines()
    for line in lines:
        if "==" in line:
            name = re.match(r"[\w\[\]-]+", line)[0]
            assert extra[name] == line
            assert PROVED[name.partition("[")[0]] == line.partition("==")[2]
    assert {"torch", "torchao", "executorch[ethos-u]", "safetensors", "scikit-learn"} == set(extra)
    (points,) = [e for e in PathDistribution(info).entry_points if e.group == "console_scripts"]
    assert (points.name, points.value) == ("cortexm", "cortexm_tools.__main__:main")


def test_version_stands_in_one_place() -> None:
    assert release.version() == __version__
    listed = subprocess.run(
        ["git", "grep", "-lF", f'"{__version__}"'], cwd=ROOT, capture_output=True, text=True
    )
    assert listed.stdout.split() == ["python/cortexm_tools/version.py"]


def test_a_tag_is_checked(tmp_path: Path) -> None:
    (tmp_path / "python/cortexm_tools").mkdir(parents=True)
    (tmp_path / "python/cortexm_tools/version.py").write_text('__version__ = "1.2.0"\n')
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(
        "# Changelog\n\n## 1.2.0 (2026-01-31)\n\n* New.\n\n## 1.1.0 (2025-12-01)\n\n* Old.\n"
    )
    release.check("v1.2.0", tmp_path)
    assert release.section(tmp_path, "1.2.0") == ("2026-01-31", "* New.\n")
    assert release.section(tmp_path, "1.1.0") == ("2025-12-01", "* Old.\n")
    with pytest.raises(SystemExit, match="the tag v1.1.0 is not v1.2.0"):
        release.check("v1.1.0", tmp_path)
    changes.write_text("## 1.2.0 (unreleased)\n\n* New.\n")
    with pytest.raises(SystemExit, match="it takes the day"):
        release.check("v1.2.0", tmp_path)
    changes.write_text("## 1.1.0 (2025-12-01)\n\n* Old.\n")
    with pytest.raises(SystemExit, match="no section '## 1.2.0"):
        release.check("v1.2.0", tmp_path)
    # This tree: a section for its version, dated or not.
    date, notes = release.section(ROOT, __version__)
    assert notes and re.fullmatch(r"unreleased|\d{4}-\d{2}-\d{2}", date)


def test_workflow() -> None:
    """Its form, its shell, and what it calls."""
    text = WORKFLOW.read_text()
    workflow = yaml.safe_load(text)
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the word on so
    jobs = workflow["jobs"]
    assert jobs["publish"]["needs"] == ["build", "lower"] and jobs["lower"]["needs"] == "build"
    # Only what publishes may write, and there is no password.
    assert workflow["permissions"] == {} and "secrets." not in text
    writes = {job for job, rows in jobs.items() if "write" in rows["permissions"].values()}
    assert writes == {"publish"}
    for job in jobs.values():
        assert job["timeout-minutes"] and job["runs-on"] == "ubuntu-24.04"
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            shell = step.get("run", "")
            # What comes from the event reaches the shell as a variable, never as its text.
            assert "${{" not in shell
            done = subprocess.run(["bash", "-n"], input=shell, text=True, capture_output=True)
            assert done.returncode == 0, done.stderr
            for path in re.findall(r"(?:scripts|samples|tests)/[\w./-]+\.(?:py|pte)", shell):
                assert (ROOT / path).is_file(), path
            for command in re.findall(r"scripts/release\.py (\w+)", shell):
                assert command in ("check", "notes", "contents")
