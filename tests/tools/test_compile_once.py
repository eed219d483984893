# SPDX-License-Identifier: Apache-2.0
"""The launcher that lets builds of a session share objects gives what the compiler gives."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def compiled(
    root: Path, build: Path, *options: str, through: Path | None
) -> tuple[bytes, str, str]:
    """The object of a template's source in a build folder, its depfile, and what was said."""
    (build / "stamps").mkdir(parents=True, exist_ok=True)
    source, output = build / "stamps" / "sum.c", build / "sum.o"
    source.write_text('#include "sum.inc"\n')
    command = ["cc", f"-I{root / 'include'}", *options]
    command += ["-MD", "-MT", str(output), "-MF", f"{output}.d", "-o", str(output)]
    built = os.environ["CMAKE_C_COMPILER_LAUNCHER"].split(";")[0]
    launcher = [built, str(through), str(root)]
    done = subprocess.run(
        [*(launcher if through else ()), *command, "-c", str(source)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return output.read_bytes(), Path(f"{output}.d").read_text(), done.stderr


def test_objects_are_shared(tmp_path: Path) -> None:
    root, objects = tmp_path / "checkout", tmp_path / "objects"
    (root / "include").mkdir(parents=True)
    objects.mkdir()
    header = root / "include" / "sum.inc"
    header.write_text("int sum(int a, int b) { return a + b; }\n")
    plain = compiled(root, tmp_path / "a", through=None)
    first = compiled(root, tmp_path / "a", through=objects)
    # Compiled again it would have another function: within a session sources stay as they are.
    header.write_text("int difference(int a, int b) { return a - b; }\n")
    again = compiled(root, tmp_path / "b", through=objects)
    assert first == plain and again[0] == plain[0]
    assert again[1] == plain[1].replace(str(tmp_path / "a"), str(tmp_path / "b"))
    # With other options, or headers from elsewhere, it is compiled.
    assert compiled(root, tmp_path / "a", "-DX", through=objects)[0] != plain[0]
    assert compiled(root, tmp_path / "c", f"-I{tmp_path}", through=objects)[0] != plain[0]


def test_who_asks_for_fewer_warnings_shares_too(tmp_path: Path) -> None:
    root, objects = tmp_path / "checkout", tmp_path / "objects"
    (root / "include").mkdir(parents=True)
    objects.mkdir()
    header = root / "include" / "sum.inc"
    header.write_text("int sum(int a, int b) { return a + b; }\n")
    first = compiled(root, tmp_path / "a", "-Wall", "-DX=application", through=objects)
    header.write_text("int difference(int a, int b) { return a - b; }\n")
    assert compiled(root, tmp_path / "a", through=objects) == first
    for more in (["-Wall"], ["-DX=application"], ["-Wl,-x"], ["-DX=other"]):
        assert compiled(root, tmp_path / "a", *more, through=objects)[0] != first[0]


def test_what_the_compiler_says_is_said_each_time(tmp_path: Path) -> None:
    root, objects = tmp_path / "checkout", tmp_path / "objects"
    (root / "include").mkdir(parents=True)
    objects.mkdir()
    (root / "include" / "sum.inc").write_text("int sum(int a) { int unused; return a; }\n")
    for build in ("a", "b"):
        assert "unused" in compiled(root, tmp_path / build, "-Wall", through=objects)[2]
    assert not list(objects.iterdir())
