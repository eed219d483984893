# SPDX-License-Identifier: Apache-2.0
"""An export on the disk: all files or none, and no file of an export before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ..emit.files import write_files
from ..errors import CortexMError

MANIFEST = "manifest.json"


def write_export(folder: Path, files: Mapping[str, str | bytes]) -> int:
    """Writes an export; returns how many files it has.

    Files that the manifest of an export before names, and this one does not have, are removed; others
    stay.

    Raises:
        CortexMError: the folder has files of others, or cannot be written.
    """
    before = _before(folder)
    if before is None and folder.is_dir() and any(folder.iterdir()):
        raise CortexMError(
            "the folder is not empty, and not an export",
            where=str(folder),
            hint="give a new folder with --out, or empty this one",
        )
    by_folder: dict[str, dict[str, str | bytes]] = {}
    for path, content in files.items():
        place = PurePosixPath(path)
        by_folder.setdefault(str(place.parent), {})[place.name] = content
    # The manifest, in the folder itself, comes last: without it, or with an old one, it is not whole.
    for place_name in sorted(by_folder, key=lambda name: (name == ".", name)):
        write_files(folder / place_name, by_folder[place_name])
    for path in before or ():
        if path not in files:
            (folder / path).unlink(missing_ok=True)
    return len(files)


def _before(folder: Path) -> list[str] | None:
    """The paths that the manifest in a folder names; None without one. Only paths below the folder."""
    try:
        named = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        paths = [PurePosixPath(path) for path in named]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return [str(p) for p in paths if not p.is_absolute() and ".." not in p.parts]
