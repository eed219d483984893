# SPDX-License-Identifier: Apache-2.0
"""The ledger of options: everything a user can choose, under every name it has.

Beside it is what users write in them: names, sizes, memories, arenas. The parser of the command line
and the tables in docs/ (``scripts/option_docs.py``) come from the ledger; tests hold the keywords of
``cortexm_add_model()`` and the symbols of ``zephyr/Kconfig`` against it.
"""

from __future__ import annotations

from typing import Literal

from .building import BUILDING, MODELS
from .numbers import EVERY
from .option import BENCH, COMPARE, COMPILE, EXPORT, QUALITY, REPORT, RUN, Option
from .running import ATOL, QTOL, RTOL, RUNNING

__all__ = [
    "ATOL",
    "BENCH",
    "COMPARE",
    "COMPILE",
    "EVERY",
    "EXPORT",
    "GROUPS",
    "MODELS",
    "OPTIONS",
    "QUALITY",
    "QTOL",
    "REPORT",
    "RTOL",
    "RUN",
    "Option",
    "keywords",
]


OPTIONS = (*BUILDING, *RUNNING)
"""All of them, in the order in which ``--help`` and the documentation list them."""

# Titles in --help, with what stands below them.
GROUPS = {
    "model": "",
    "target": "",
    "output": "",
    "memory": "",
    "another runtime": "",
    "for build systems": "",
    "on a board": "docs/boards.md",
    "test vectors of a .bpte": "allowed: ATOL + RTOL of the value + QTOL quantization steps",
}


def keywords(kind: Literal["value", "flag", "list"]) -> list[str]:
    """The keywords of cortexm_add_model() of one kind."""
    kinds = {kind, "switch"} if kind == "value" else {kind}
    return [option.cmake for option in OPTIONS if option.cmake and option.kind in kinds]
