# SPDX-License-Identifier: Apache-2.0
"""Mini-projects, and the places they find the package in."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cmake.projects import ROOT, Project, copied, run, succeed


@pytest.fixture(autouse=True, scope="module")
def compiles_itself() -> Iterator[None]:
    """Builds that are looked at share no objects with others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CMAKE_C_COMPILER_LAUNCHER", raising=False)
        yield


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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's contents, as pip installs it; made of the sdist, which is beside it in
    ../dist."""
    base = tmp_path_factory.mktemp("wheel")
    source = base / "source"
    # The build backend may leave files in the tree it builds from.
    ignored = shutil.ignore_patterns(".*", "build", "dist", "tests", "__pycache__")
    shutil.copytree(ROOT, source, ignore=ignored)
    pip = (sys.executable, "-m", "pip")
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    build = (sys.executable, "-m", "build", "--no-isolation", "-o", str(base / "dist"))
    succeed(run(*build, str(source)))
    (built,) = (base / "dist").glob("cortexm_model-*-py3-none-any.whl")
    succeed(run(*pip, "install", *options, "--target", str(base / "site"), str(built)))
    return base / "site"
