# SPDX-License-Identifier: Apache-2.0
"""Mini-projects, and the places they find the package in."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from cortexm_tools.version import __version__

from tests.cmake.projects import ROOT, Project, copied, run, succeed
from tests.cmake.workflow import Runner


@pytest.fixture
def project(tmp_path: Path):
    """Copies a mini-project next to nothing else of ours."""

    def make(style: str, folder: str = "project", **definitions: str) -> Project:
        return copied(tmp_path / folder, style, **definitions)

    return make


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix of an installed tree, in a path with spaces."""
    base = tmp_path_factory.mktemp("installed tree")
    succeed(run("cmake", "-S", str(ROOT), "-B", str(base / "build")))
    succeed(run("cmake", "--install", str(base / "build"), "--prefix", str(base / "a prefix")))
    return base / "a prefix"


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner on which the workflow of releases has made the wheel, of the sdist, and checked them."""
    runner = Runner(tmp_path_factory.mktemp("release"), __version__)
    runner.step("build", "The tag is the version")
    said = runner.step("build", "Wheel and sdist")
    assert said.count("PASSED") == 2
    return runner


@pytest.fixture(scope="session")
def wheel(released: Runner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's contents, as pip installs it; the wheel and the sdist are beside it in
    ../dist."""
    base = tmp_path_factory.mktemp("wheel")
    shutil.copytree(released.folder / "dist", base / "dist")
    (built,) = (base / "dist").glob("cortexm_model-*-py3-none-any.whl")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--disable-pip-version-check",
        "--no-compile",
    )
    succeed(run(*pip, "--target", str(base / "site"), str(built)))
    return base / "site"
