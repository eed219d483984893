# SPDX-License-Identifier: Apache-2.0
"""Writing files so that a reader sees the old or the new one, never half, and never without need."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..errors import CortexMError

_PREFIX = ".cortexm-"


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Writes `files` into `folder`, each atomically, skipping those that have that content.

    All new contents are on the disk before the first file is replaced. What a run that was killed
    before has left is removed.

    Returns:
        The names of the files that changed.

    Raises:
        CortexMError: the folder cannot be written.
    """
    staged: list[tuple[str, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_stale(folder)
        for name, content in files.items():
            # Paths in a text are written as the bytes that they are.
            data = (
                content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
            )
            path = folder / name
            if path.is_file() and path.read_bytes() == data:
                continue
            staged.append((str(path), _stage(folder, data)))
        for target, temporary in staged:
            os.replace(temporary, target)
    except (OSError, ValueError) as error:
        raise CortexMError(
            f"cannot write: {getattr(error, 'strerror', None) or error}",
            where=str(getattr(error, "filename", None) or folder),
            hint="make the build folder writable, or choose another with --out",
        ) from None
    finally:
        for _, temporary in staged:
            temporary.unlink(missing_ok=True)
    return [Path(target).name for target, _ in staged]


def _stage(folder: Path, data: bytes) -> Path:
    handle, name = tempfile.mkstemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)


def _remove_stale(folder: Path) -> None:
    """Removes the temporaries of processes that have ended; others may be writing here as well."""
    for path in folder.glob(f"{_PREFIX}*"):
        number = re.match(rf"{re.escape(_PREFIX)}(\d+)-", path.name)
        if number is None or not _runs(int(number[1])):
            path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # another user's
    return True
