#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a release needs, for .github/workflows/release.yml and by hand:

    release.py check TAG      the tag is v and the version, and CHANGELOG.md has a dated section of it
    release.py notes TAG      prints that section
    release.py contents DIST  a wheel and an sdist of this version, complete, without anything compiled

Exit status 1 and a sentence if something is wrong. It needs only Python, as nothing is installed yet.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# One of each kind of file that a build of a model takes.
NEEDED = (
    "kernels/kernels.json", "kernels/src/common/stamp.h", "kernels/include/cortexm/kernels.h",
    "runtime/model.c", "runtime/include/cortexm/model.h", "boards/common/sections.ld",
    "cmake/CortexMModelConfig.cmake", "cmake/cores.json", "requirements/torch.txt",
)  # fmt: skip
COMPILED = re.compile(r"\.(o|a|so|obj|pyc|elf|dll|dylib|exe|whl)$|(^|/)(__pycache__|\.venv|build)/")


def version(root: Path = ROOT) -> str:
    """The version, which stands in one place."""
    text = (root / "python/cortexm_tools/version.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit("error: python/cortexm_tools/version.py states no version")
    return found[1]


def section(root: Path, number: str) -> tuple[str, str]:
    """What stands in brackets behind a version in CHANGELOG.md, and the lines below it."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^## {re.escape(number)} \(([^)]*)\)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise SystemExit(f"error: CHANGELOG.md has no section '## {number} (DATE)'")
    return found[1], found[2].strip() + "\n"


def check(tag: str, root: Path = ROOT) -> None:
    """Stops unless the tag can become a release."""
    number = version(root)
    if tag != f"v{number}":
        raise SystemExit(f"error: the tag {tag} is not v{number}, the version of version.py")
    date, notes = section(root, number)
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
        raise SystemExit(
            f"error: CHANGELOG.md calls {number} '{date}'; it takes the day: YYYY-MM-DD"
        )
    if not notes.strip():
        raise SystemExit(f"error: CHANGELOG.md says nothing of {number}")


def contents(dist: Path, root: Path = ROOT) -> None:
    """Stops unless `dist` has a wheel and an sdist of the version, with all sources and nothing else."""
    number = version(root)
    wheels, sdists = sorted(dist.glob("*.whl")), sorted(dist.glob("*.tar.gz"))
    wanted = ([f"cortexm_model-{number}-py3-none-any.whl"], [f"cortexm_model-{number}.tar.gz"])
    if ([p.name for p in wheels], [p.name for p in sdists]) != wanted:
        raise SystemExit(f"error: {dist} should have {wanted[0][0]} and {wanted[1][0]} alone")
    with zipfile.ZipFile(wheels[0]) as archive:
        _check_names(
            wheels[0].name,
            archive.namelist(),
            "cortexm_tools/share/CortexMModel/",
            "cortexm_tools/",
        )
    with tarfile.open(sdists[0]) as tar:
        names = [member.name for member in tar.getmembers() if member.isfile()]
    top = f"cortexm_model-{number}/"
    _check_names(sdists[0].name, names, top, f"{top}python/cortexm_tools/")


def _check_names(file: str, names: list[str], data: str, package: str) -> None:
    needed = [data + name for name in (*NEEDED, "LICENSE")]
    needed += [package + name for name in ("__main__.py", "version.py", "run/project/main.c")]
    missing = [name for name in needed if name not in names]
    if missing:
        raise SystemExit(f"error: {file} lacks {', '.join(missing)}")
    if compiled := [name for name in names if COMPILED.search(name)]:
        raise SystemExit(f"error: {file} has what was compiled: {', '.join(compiled[:5])}")


def main() -> int:
    commands = {"check": check, "contents": lambda word: contents(Path(word))}
    if len(sys.argv) != 3 or sys.argv[1] not in (*commands, "notes"):
        print(__doc__, file=sys.stderr)
        return 2
    word = sys.argv[2]
    if sys.argv[1] == "notes":
        print(section(ROOT, word.removeprefix("v"))[1], end="")
    else:
        commands[sys.argv[1]](word)
    return 0


if __name__ == "__main__":
    sys.exit(main())
