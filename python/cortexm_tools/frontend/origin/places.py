# SPDX-License-Identifier: Apache-2.0
"""Whose code a file or a traceback frame belongs to: the user's, a library's or ours."""

from __future__ import annotations

import functools
import os
import re
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

from ...paths import PACKAGE

_PACKAGE = str(PACKAGE)
_MODELS = os.path.join(_PACKAGE, "models") + os.sep
FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')

# Libraries whose frames never say anything about a model, by a part of their path.
_MACHINERY = tuple(
    os.path.join("site-packages", *part.split("/")) + os.sep
    for part in (
        "torch",
        "torchao",
        "executorch/backends",
        "executorch/exir",
        "executorch/extension",
    )
)


@functools.cache
def _library_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    named = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(sorted(r + os.sep for r in named | {os.path.realpath(r) for r in named}))


@functools.cache
def is_user_file(path: str) -> bool:
    """Whether `path` is neither Python's, an installed package's, nor part of these tools.

    The model files that these tools bring count as the user's.
    """
    if path.startswith("<") or not path:
        return False
    full = os.path.abspath(path)
    if full.startswith(_MODELS) or os.path.realpath(full).startswith(_MODELS):
        return True
    parts = full.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts:
        return False
    if full.startswith(_PACKAGE + os.sep) or os.path.realpath(full).startswith(_PACKAGE + os.sep):
        return False
    return not full.startswith(_library_roots())


@functools.cache
def is_tool_file(path: str) -> bool:
    """Whether `path` is part of these tools, the model files that they bring aside."""
    full = os.path.abspath(path)
    return full.startswith(_PACKAGE + os.sep) and not full.startswith(_MODELS)


def _is_machinery(path: str) -> bool:
    if path.startswith(_MODELS):
        return False
    if path.startswith("<") or path.startswith(_PACKAGE + os.sep):
        return True
    if any(part in path for part in _MACHINERY):
        return True
    return "site-packages" not in path and path.startswith(_library_roots())


def shown_path(path: str, base: Path) -> str:
    """`path` relative to `base` if it lies below it, else its last component."""
    full = Path(os.path.abspath(path))
    try:
        return full.relative_to(base).as_posix()
    except ValueError:
        return full.name


def frame_in_text(text: str) -> tuple[str, int] | None:
    """The innermost frame of the user's code in a printed traceback, as (file, line).

    Where the user has none there, the innermost frame that belongs to no compiler machinery.
    """
    frames = [(file, int(line)) for file, line in FRAME.findall(text)]
    for wanted in (is_user_file, lambda file: not _is_machinery(file)):
        for file, line in reversed(frames):
            if wanted(file):
                return file, line
    return None


def chain(error: BaseException) -> Iterator[BaseException]:
    """`error` and what it came from, the outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def frame_of_error(error: BaseException) -> tuple[str, int] | None:
    """The innermost frame of the user's code in which `error` or its cause arose."""
    errors = list(chain(error))
    for err in reversed(errors):
        for frame in reversed(traceback.extract_tb(err.__traceback__)):
            if is_user_file(frame.filename) and frame.lineno is not None:
                return frame.filename, frame.lineno
    for err in errors:
        found = frame_in_text(text_of(err))
        if found is not None and is_user_file(found[0]):
            return found
    return None


def where_of_error(error: BaseException, base: Path, default: str) -> str:
    """``file:line`` of the user's code in which `error` arose, or `default`."""
    frame = frame_of_error(error)
    return f"{shown_path(frame[0], base)}:{frame[1]}" if frame else default


def root_cause(error: BaseException) -> BaseException:
    """The exception that `error` was raised from in the first place."""
    seen = {id(error)}
    while error.__cause__ is not None and id(error.__cause__) not in seen:
        error = error.__cause__
        seen.add(id(error))
    return error


def text_of(error: BaseException) -> str:
    """The error's message; empty where making it fails, as it may in a user's own exceptions."""
    try:
        return str(error)
    except Exception:
        return ""


def first_line(error: BaseException) -> str:
    """The error's type and the first line of its message."""
    lines = [line.strip() for line in text_of(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= 400 else text[:400] + " …"
