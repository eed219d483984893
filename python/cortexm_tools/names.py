# SPDX-License-Identifier: Apache-2.0
"""What a model is called in C: its symbol, its header and the prefix of its macros.

The words that are taken are listed in ``cmake/words_of_c.txt`` and ``cmake/words_of_cmake.txt``.
``cmake/CortexMNames.cmake`` has the same rules.
"""

from __future__ import annotations

import re
from functools import cache

from .errors import CortexMError, printable
from .paths import data_root

PREFIX = "model_"


def name_of_file(stem: str) -> tuple[str, str]:
    """The name of the model in a file called `stem`, and why it is not simply that; empty if it is.

    Any name gives one: what no identifier holds becomes ``_``, and a name that is taken gets the
    prefix ``model_``.
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", stem).strip("_") or "model"
    reason = _objection(name) or _objection(name, "words_of_cmake.txt")
    return (PREFIX + name, reason) if reason else (name, "")


def check_name(name: str) -> str:
    """`name`, which the user chose.

    Raises:
        CortexMError: C, C++ or this project's libraries cannot take it.
    """
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "model"
    reason = _objection(name) if re.fullmatch(r"\w+", name, re.ASCII) else "is no C identifier"
    if reason:
        raise CortexMError(
            f"a model cannot be called {printable(name)!r}: that {reason}",
            hint=f"use --name {plain if plain != name and not _objection(plain) else PREFIX + plain}",
        )
    return name


def plain_identifier(text: str) -> str:
    """What `text` is as a part of a C identifier, with no two ``_`` in a row."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "x"


def _objection(name: str, words: str = "words_of_c.txt") -> str:
    """Why an identifier cannot name a model, as the end of a sentence; empty if it can."""
    if name[0].isdigit():
        return "begins with a digit"
    if name[0] == "_":
        return "begins with '_'"
    if name.lower().startswith("cortexm"):
        return "begins as the names of this project's libraries do"
    if name in _words(words):
        return "is a word of " + ("CMake" if "cmake" in words else "C or its libraries")
    return ""


@cache
def _words(file: str) -> frozenset[str]:
    lines = (data_root() / "cmake" / file).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
