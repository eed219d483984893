# SPDX-License-Identifier: Apache-2.0
"""Which files of ours a source of a kernel includes, as its preprocessor finds them.

A file that several kernels share names some by the instruction set, CORTEXM_QUOTE(../common/ISA.h), and
some by CODE_BITS, the bits of a code (kernels/src/common/stamp.h). Of any other condition both sides count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(?:"
    r"include[ \t]+(?:\"(?P<file>[^\"]+)\"|CORTEXM_QUOTE\(\.\./(?P<folder>[\w/]+)/ISA\.h\))"
    r"|(?P<word>if|ifdef|ifndef|elif|else|endif)\b[ \t]*(?P<condition>.*))",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Kernel:
    """What a kernel's preprocessor knows of it.

    Attributes:
        isa: its instruction set.
        bits: of a code, the value of CODE_BITS; None where that has none.
    """

    isa: str
    bits: int | None = None

    @classmethod
    def of(cls, row: dict[str, Any]) -> Kernel:
        """The kernel of a row of kernels.json."""
        (first, *_) = re.findall(r"[a-z]\d+", row["types"])
        return cls(row["isa"], {"s8": 8, "s16": 16}.get(first))

    def included(self, text: str) -> list[str]:
        """The files of ours that a text includes."""
        found: list[str] = []
        holds: list[bool | None] = []  # the condition of each open #if; None if that is not known
        for match in _DIRECTIVE.finditer(text):
            word = match["word"]
            if word in ("if", "ifdef", "ifndef"):
                holds.append(self._holds(match["condition"]))
            elif word in ("elif", "else"):
                last = holds.pop()
                holds.append(False if last else None if word == "elif" or last is None else True)
            elif word == "endif":
                holds.pop()
            elif False not in holds:
                found.append(match["file"] or f"{match['folder']}/{self.isa}.h")
        return found

    def _holds(self, condition: str) -> bool | None:
        match = re.fullmatch(r"CODE_BITS == (\d+)", condition)
        return None if match is None or self.bits is None else self.bits == int(match[1])
