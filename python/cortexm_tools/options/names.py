# SPDX-License-Identifier: Apache-2.0
"""What a model is called in C: its symbol, its header and the prefix of its macros.

The words that are taken are listed in ``cmake/words_of_c.txt``, ``cmake/words_of_cmake.txt`` and, for
exports to Arduino, ``cmake/words_of_arduino.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ..errors import CortexMError, printable
from ..paths import data_root

PREFIX = "model_"

_OWNERS = {
    "words_of_c.txt": "C or its libraries",
    "words_of_cmake.txt": "CMake",
    "words_of_arduino.txt": "Arduino",
}
# What is generated for a model ends in these; its neighbours' names must not.
_ENDINGS = ("weights", "pte", "samples", "state", "program", "operators", "kernels", "cmsis_nn")
_TARGET = re.compile(r"[A-Za-z0-9_.+-]+")  # what CMake allows


def name_of_file(stem: str, *more: str) -> tuple[str, str]:
    """The name of the model in a file called `stem`, and why it is not simply that; empty if it is.

    Any name gives one: what no identifier holds becomes ``_``, and a name that is taken, also by CMake or
    as a word of the files `more`, gets the prefix ``model_``.
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", stem).strip("_") or "model"
    reason = objection(name, "words_of_cmake.txt", *more)
    return (PREFIX + name, reason) if reason else (name, "")


def check_name(name: str, *more: str) -> str:
    """`name`, which the user chose.

    Raises:
        CortexMError: C, C++ or this project's libraries cannot take it, or it is a word of the files
            `more`.
    """
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "model"
    reason = "is not a C identifier"
    if re.fullmatch(r"\w+", name, re.ASCII):
        reason = objection(name, *more)
    if reason:
        raise CortexMError(
            f"a model cannot be called {printable(name)!r}: that {reason}",
            hint=f"use --name {plain if plain != name and not objection(plain) else PREFIX + plain}",
        )
    return name


def name_of_target(stem: str) -> tuple[str, str, str]:
    """The CMake target of the model in a file called `stem`, its name in C, and why it is not simply
    the file's; empty if it is."""
    name, reason = name_of_file(stem)
    return (name if reason or not _TARGET.fullmatch(stem) else stem), name, reason


def check_target(target: str) -> str:
    """The name in C of a model whose target the user chose.

    Raises:
        CortexMError: CMake, C, C++ or this project's libraries cannot take it.
    """
    if not _TARGET.fullmatch(target):
        raise CortexMError(
            f"CMake allows no target named '{printable(target)}'",
            hint=f"use TARGET {name_of_file(target)[0]}",
        )
    name = re.sub(r"[^A-Za-z0-9_]", "_", target)
    reason = objection(name) or objection(target, "words_of_cmake.txt")
    if reason:
        raise CortexMError(
            f"TARGET {target}: a model cannot be called '{name}': that {reason}",
            hint=f"use TARGET {PREFIX}{name}",
        )
    return name


def clash(name: str, other: str) -> str:
    """Why two models cannot be in one build, as a sentence; empty if they can."""
    a, b = name.lower(), other.lower()
    if a == b and name != other:
        return (
            f"the models {other} and {name} differ only in capitals, so they would have macros of the "
            "same names"
        )
    for one, another in ((a, b), (b, a)):
        if one in [f"{another}_{ending}" for ending in _ENDINGS]:
            return f"the model {other} and the model {name} would have generated files of the same names"
    return ""


def check_beside(names: Sequence[str]) -> None:
    """Several models of one export.

    Raises:
        CortexMError: two have the same name, or names of which others are made.
    """
    for number, name in enumerate(names):
        for other in names[:number]:
            reason = clash(name, other) or (
                f"two models are called {name}" if name == other else ""
            )
            if reason:
                raise CortexMError(reason, hint="give one of the files another name")


def plain_identifier(text: str) -> str:
    """What `text` is as a part of a C identifier, with no two ``_`` in a row."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "x"


def objection(name: str, *more: str) -> str:
    """Why an identifier cannot name a model, as the end of a sentence; empty if it can. Words of C are
    taken, and those of the files `more`."""
    if name[0].isdigit():
        return "begins with a digit"
    if name[0] == "_":
        return "begins with '_'"
    if name.lower().startswith("cortexm"):
        return "begins as the names of this project's libraries do"
    if name.startswith(("arm_", "cmsis_")):
        return "begins as the names of Arm's headers and libraries do"
    files = ("words_of_c.txt", *more)
    return next((f"is a word of {_OWNERS[file]}" for file in files if name in _words(file)), "")


@cache
def _words(file: str) -> frozenset[str]:
    lines = (data_root() / "cmake" / file).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
