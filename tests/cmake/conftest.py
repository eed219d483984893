# SPDX-License-Identifier: Apache-2.0
"""Mini-projects, and the places they find the package in."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.cmake.projects import HERE, MODEL, ROOT, Project, run, succeed


@pytest.fixture(autouse=True)
def compiles_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds that are looked at share no objects with others."""
    monkeypatch.delenv("CMAKE_C_COMPILER_LAUNCHER", raising=False)


@pytest.fixture
def project(tmp_path: Path):
    """Copies a mini-project next to nothing else of ours."""

    def make(style: str, folder: str = "project", **definitions: str) -> Project:
        source = tmp_path / folder / style
        shutil.copytree(HERE / style, source)
        return Project(source, tmp_path / folder / "build", {"MODEL": str(MODEL), **definitions})

    return make


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix of an installed tree, in a path with spaces."""
    base = tmp_path_factory.mktemp("installed tree")
    succeed(run("cmake", "-S", str(ROOT), "-B", str(base / "build")))
    succeed(run("cmake", "--install", str(base / "build"), "--prefix", str(base / "a prefix")))
    return base / "a prefix"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's contents, as pip installs it."""
    base = tmp_path_factory.mktemp("wheel")
    source = base / "source"
    # The build backend may leave files in the tree it builds from.
    ignored = shutil.ignore_patterns(".*", "build", "dist", "tests", "__pycache__")
    shutil.copytree(ROOT, source, ignore=ignored)
    pip = (sys.executable, "-m", "pip")
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    succeed(run(*pip, "wheel", *options, "-w", str(base / "dist"), str(source)))
    (built,) = (base / "dist").glob("cortexm_model-*-py3-none-any.whl")
    succeed(run(*pip, "install", *options, "--target", str(base / "site"), str(built)))
    return base / "site"
