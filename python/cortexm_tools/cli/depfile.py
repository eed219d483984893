# SPDX-License-Identifier: Apache-2.0
"""Depfiles in Make's syntax, as CMake's DEPFILE takes them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path


def depfile_text(target: str, files: Iterable[str]) -> str:
    """``target: file file …``, sorted, one file a line."""
    names = sorted({escape(name) for name in files})
    return escape(target) + ":" + "".join(f" \\\n  {name}" for name in names) + "\n"


def escape(path: str) -> str:
    """A path as Make and Ninja read it."""
    return path.replace("\\", "\\\\").replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")


def own_sources() -> list[str]:
    """The files of this tool that are in use: a changed tool rebuilds its outputs."""
    package = __name__.rpartition(".")[0]
    files = [
        module.__file__
        for name, module in sorted(sys.modules.items())
        if name.split(".")[0] == package.split(".")[0] and getattr(module, "__file__", None)
    ]
    return [str(Path(name).resolve()) for name in files if name]
