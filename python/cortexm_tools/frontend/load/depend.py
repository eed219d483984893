# SPDX-License-Identifier: Apache-2.0
"""Which files loading a model file read: the build must lower again when one of them changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import util
from types import FrameType
from typing import Any

from ...paths import PACKAGE
from ..origin.places import is_user_file

# Where the system keeps its own files: device nodes, time zones, certificates, shared libraries.
_SKIPPED_ROOTS = ("/proc/", "/dev/", "/sys/", "/run/", "/etc/", "/lib/", "/usr/lib/", "/usr/share/")


class Recorder:
    """Collects the files read while it is active."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._modules_before = set(sys.modules)

    def note(self, path: object) -> None:
        """Remember `path` if it is a regular file of the user's."""
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, (str, os.PathLike)):
            return  # a file descriptor: its opening has been seen
        full = os.path.abspath(os.fspath(path))
        if not isinstance(full, str) or full.startswith(_SKIPPED_ROOTS):
            return
        if "__pycache__" in full.split(os.sep) or not is_user_file(full):
            return
        self.paths.add(full)

    def note_modules(self) -> set[str]:
        """Remember the files of the user's modules imported since the start; their names."""
        names = set()
        for name, module in list(sys.modules.items()):
            # Attributes of their own only: asked for others, lazy modules are imported, or fail to be.
            file = getattr(module, "__dict__", {}).get("__file__")
            if name not in self._modules_before and isinstance(file, str) and is_user_file(file):
                self.note(file)
                names.add(name)
        return names

    def existing(self) -> tuple[str, ...]:
        """The files that are still there, sorted."""
        return tuple(sorted(path for path in self.paths if os.path.isfile(path)))


_active: Recorder | None = None
_hook_installed = False


def _audit(event: str, args: tuple[Any, ...]) -> None:
    # Audit hooks can never be removed, so there is one, and it does nothing while none records.
    if _active is None or event != "open":
        return
    path, mode, flags = args
    if isinstance(mode, str):
        reads = "r" in mode or "+" in mode
    else:
        reads = isinstance(flags, int) and flags & os.O_ACCMODE != os.O_WRONLY
    if reads and not _shows_source():
        _active.note(path)


def _shows_source() -> bool:
    """Whether a file is being opened for the lines of a stack trace or a warning.

    Libraries look at the stack while a model file is loaded. That opens whatever is on it, the
    caller's sources too, once per process: nothing of it goes into the model.
    """
    frame: FrameType | None = sys._getframe(2)  # below `_audit`: what opens
    for _ in range(3):  # linecache opens through tokenize
        if frame is None:
            break
        if frame.f_globals.get("__name__") == "linecache":
            return True
        frame = frame.f_back
    return False


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose first argument is a file to read, made to report that file."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if _active is not None:
            _active.note(args[0] if args else kwargs.get("filename"))
        return function(*args, **kwargs)

    return wrapper


def _safetensors_functions() -> list[tuple[Any, str]]:
    """What reads a safetensors file; it is Rust code, which the audit hook does not see."""
    if util.find_spec("safetensors") is None:
        return []
    import safetensors
    import safetensors.numpy
    import safetensors.torch

    owners = (safetensors, safetensors.torch, safetensors.numpy)
    return [
        (owner, name)
        for owner in owners
        for name in ("safe_open", "load_file")
        if hasattr(owner, name)
    ]


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record the user's files that the block opens for reading; blocks must not be nested."""
    global _active, _hook_installed
    if not _hook_installed:
        sys.addaudithook(_audit)
        _hook_installed = True
    recorder = Recorder()
    patched = [(owner, name, getattr(owner, name)) for owner, name in _safetensors_functions()]
    _active = recorder
    try:
        for owner, name, function in patched:
            setattr(owner, name, _noting(function))
        yield recorder
    finally:
        _active = None
        for owner, name, function in patched:
            setattr(owner, name, function)


def tool_files() -> tuple[str, ...]:
    """These tools' own sources, and files that change when torch or executorch is upgraded."""
    models = PACKAGE / "models"  # the one that is loaded is recorded
    files = {str(path) for path in PACKAGE.rglob("*.py") if models not in path.parents}
    for library in ("torch", "executorch", "torchao"):
        spec = util.find_spec(library)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for candidate in ("version.py", "_version.py", "__init__.py"):
                path = os.path.join(folder, candidate)
                if os.path.isfile(path):
                    files.add(path)
                    break
    return tuple(sorted(files))
