# SPDX-License-Identifier: Apache-2.0
"""Files that anybody may have written: their bytes, and the values of those in JSON.

Sidecars, reports, measurements and manifests lie beside what a user names, so a file is read only if it
is one, and no larger than such a file can be: a pipe has no end, and neither has a device.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from .errors import CortexMError, printable

MOST_TEXT = 1 << 26  # bytes of a document
MOST_BYTES = 1 << 31  # and of a program: more no .pte can address
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
"""What values of other kinds than expected raise."""

_DEEPEST = 32  # lists and objects in each other
_LARGEST = 1 << 63


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file for reading.

    Raises:
        CortexMError: it cannot be read, or is something else.
    """
    try:
        with open(path, "rb", opener=_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise CortexMError("is not a regular file", where=str(path))
            yield file
    except OSError as error:
        raise CortexMError(f"cannot read: {error.strerror or error}", where=str(path)) from None


def _at_once(path: str, flags: int) -> int:
    """Opens a pipe without waiting for its writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def read_file(path: Path, most: int = MOST_TEXT) -> bytes:
    """The bytes of a regular file.

    Raises:
        CortexMError: as `opened`, or it has more than `most` bytes.
    """
    with opened(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise CortexMError(f"has more than {most:,} bytes", where=str(path))
    return data


def read_text(path: Path) -> str:
    """The text in a regular file.

    Raises:
        CortexMError: as `read_file`, or it is not UTF-8.
    """
    try:
        return read_file(path).decode("utf-8")
    except UnicodeDecodeError:
        raise CortexMError("cannot read: it is not text", where=str(path)) from None


def json_of(data: bytes | str) -> Any:
    """The values in JSON. Numbers are finite, integers have 64 bits, and what is not printable in strings,
    as NUL and halves of surrogate pairs, is escaped.

    Raises:
        ValueError: it is no JSON, or nested deeper than any document of this project.
    """
    try:
        return _plain(json.loads(data), _DEEPEST)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return printable(value, keep="\n\t")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number that is none")
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        raise ValueError("a number with too many digits")
    if not isinstance(value, (list, dict)):
        return value
    if not depth:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [_plain(part, depth - 1) for part in value]
    return {printable(key): _plain(part, depth - 1) for key, part in value.items()}
