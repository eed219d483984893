# SPDX-License-Identifier: Apache-2.0
"""An export on the disk: all files or none, and no file of an export before."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ..documents import DAMAGE, json_of, read_file
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
    root = folder.resolve()
    by_folder: dict[str, dict[str, str | bytes]] = {}
    for path, content in files.items():
        place = PurePosixPath(path)
        by_folder.setdefault(str(place.parent), {})[place.name] = content
    for place_name in by_folder:
        if (folder / place_name).resolve() != root / place_name:
            raise CortexMError(
                f"{place_name!r} in it is a link",
                where=str(folder),
                hint="remove the link: an export writes into its own folders",
            )
    # The manifest, in the folder itself, comes last: without it, or with an old one, it is not whole.
    for place_name in sorted(by_folder, key=lambda name: (name == ".", name)):
        write_files(folder / place_name, by_folder[place_name])
    for path in before or ():
        if path not in files and _is_in(folder / path, root) and os.path.isfile(folder / path):
            (folder / path).unlink()
    return len(files)


def _before(folder: Path) -> list[str] | None:
    """The paths that the manifest in a folder names; None without one."""
    if not os.path.exists(folder / MANIFEST):
        return None
    try:
        return list(dict(json_of(read_file(folder / MANIFEST))["files"]))
    except DAMAGE:
        return None


def _is_in(path: Path, root: Path) -> bool:
    """Whether a file lies in a folder or below, with whatever links lead to it."""
    return root in (path.parent.resolve() / path.name).parents
