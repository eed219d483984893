# SPDX-License-Identifier: Apache-2.0
"""What lets several exports be in one program: each has the runtime and kernels, perhaps of two versions.

* A kernel's symbols, and all other names of its headers, get a digest of the kernels of this version: what
  has the same name is the same.
* What several exports define is weak: the linker takes one, and drops the sections of the others. The
  functions of cortexm/model.h keep their names, and compare CORTEXM_ABI.
* Files include each other by the way from one to the other, never by a folder that the compiler is told,
  as in that another export may come first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from posixpath import relpath

_NAME = re.compile(r"\bcortexm_\w*")
_INCLUDE = re.compile(r'^(?P<head>[ \t]*#[ \t]*include[ \t]+")(?P<file>[^"]+)"', re.MULTILINE)
_FUNCTION = re.compile(r"^[a-z]\w*(?: \w+)* \*?(cortexm_\w+)\(", re.MULTILINE)


def public_names(headers: Iterable[Path]) -> frozenset[str]:
    """What applications call, and the types of it."""
    return frozenset(name for path in headers for name in _NAME.findall(path.read_text("utf-8")))


@cache
def version_of(kernels: Path) -> str:
    """Eight hexadecimal digits for the kernels in a folder, with their table."""
    digest = hashlib.sha256()
    for path in sorted([kernels / "kernels.json", *kernels.glob("*/**/*.*")]):
        if path.suffix in (".json", ".h", ".inc", ".c"):
            digest.update(path.relative_to(kernels).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:8]


def own_names(text: str, names: frozenset[str], version: str) -> str:
    """`text` with the version in those of `names` that are in it."""
    return _NAME.sub(
        lambda match: (
            f"cortexm_{version}_{match[0].removeprefix('cortexm_')}"
            if match[0] in names
            else match[0]
        ),
        text,
    )


def names_in(texts: Iterable[str], public: frozenset[str]) -> frozenset[str]:
    """The names of kernels and their headers, and the beginnings of those that are pasted together."""
    return frozenset(name for text in texts for name in _NAME.findall(text)) - public


def weak(text: str, symbols: Iterable[str] = ()) -> str:
    """A C file whose `symbols`, or all functions that it defines, give way to others of their names."""
    found = list(symbols) or _FUNCTION.findall(text)
    pragmas = "".join(f"#pragma weak {symbol}\n" for symbol in found)
    return f"#if defined(__ELF__)\n{pragmas}#endif\n{text}"


def relative_includes(files: Mapping[str, str], root: str) -> dict[str, str]:
    """`files` by path, which name each other by paths below `root`, with paths from one to the other."""

    def one(path: str, text: str) -> str:
        folder = str(PurePosixPath(path).parent)

        def there(match: re.Match[str]) -> str:
            named = f"{root}/{match['file']}"
            target = relpath(named, folder) if named in files else match["file"]
            return f'{match["head"]}{target}"'

        return _INCLUDE.sub(there, text)

    return {path: one(path, text) for path, text in files.items()}
