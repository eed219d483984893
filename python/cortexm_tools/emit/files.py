# SPDX-License-Identifier: Apache-2.0
"""Writing files so that a reader sees the old or the new one, never half, and never without need."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..errors import CortexMError


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Writes `files` into `folder`, each atomically, skipping those that have that content.

    All new contents are on the disk before the first file is replaced.

    Returns:
        The names of the files that changed.

    Raises:
        CortexMError: the folder cannot be written.
    """
    staged: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            path = folder / name
            if path.is_file() and path.read_bytes() == data:
                continue
            staged.append((str(path), _stage(folder, data)))
        for target, temporary in staged:
            os.replace(temporary, target)
    except OSError as error:
        for _, temporary in staged:
            temporary.unlink(missing_ok=True)
        raise CortexMError(
            f"cannot write: {error.strerror}",
            where=str(error.filename or folder),
            hint="make the build folder writable, or choose another with --out",
        ) from None
    return [Path(target).name for target, _ in staged]


def _stage(folder: Path, data: bytes) -> Path:
    handle, name = tempfile.mkstemp(prefix=".cortexm-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
