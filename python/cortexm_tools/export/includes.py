# SPDX-License-Identifier: Apache-2.0
"""Which files of ours a source of a kernel includes, as its preprocessor finds them.

A file that several kernels share includes by conditions on what the kernel is: `defined CORTEXM_IS_name`
and `CODE_BITS == n` of kernels/src/common/stamp.h, and macros that are 1 for some instruction sets
(`#define HAS_ROWS CORTEXM_JOIN(HAS_ROWS_, ISA)`), joined by && and ||. Of any other condition both sides
count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_DIRECTIVE = re.compile(
    r"^[ \t]*#[ \t]*(?:"
    r"include[ \t]+(?:\"(?P<file>[^\"]+)\"|(?P<macro>CORTEXM_\w+))"
    r"|(?P<word>if|ifdef|ifndef|elif|else|endif)\b[ \t]*(?P<condition>.*))",
    re.MULTILINE,
)
_BY_ISA = re.compile(r"^#define (\w+) CORTEXM_JOIN\(\1_, ISA\)$", re.MULTILINE)
# Headers that a kernel names by its instruction set (kernels/src/common/stamp.h).
_ROUTINES = {"CORTEXM_ROUTINES": "common/{isa}.h", "CORTEXM_ROUTINES_WIDE": "common/wide/{isa}.h"}


@dataclass(frozen=True)
class Kernel:
    """What a kernel's preprocessor knows of it.

    Attributes:
        isa: its instruction set.
        defined: the names X of the macros CORTEXM_IS_X that its stamp defines.
        bits: of a code, the value of CODE_BITS; None where that has none.
    """

    isa: str
    defined: frozenset[str] = frozenset()
    bits: int | None = None

    @classmethod
    def of(cls, row: dict[str, Any]) -> Kernel:
        """The kernel of a row of kernels.json."""
        if "template" not in row:
            return cls(row["isa"])
        (first, *_) = re.findall(r"[a-z]\d+", row["types"])
        bits = {"s8": 8, "s16": 16}.get(first)
        return cls(row["isa"], frozenset({row["op"], first}), bits)

    def included(self, text: str) -> list[str]:
        """The files of ours that a text includes."""
        found: list[str] = []
        by_isa = {name: f"#define {name}_{self.isa} 1\n" in text for name in _BY_ISA.findall(text)}
        # Of each open #if: whether this branch counts, and whether none before it surely did.
        stack: list[tuple[bool, bool]] = []
        for match in _DIRECTIVE.finditer(text):
            word, condition = match["word"], match["condition"]
            if word in ("if", "ifdef", "ifndef"):
                holds = self._holds(condition, by_isa) if word == "if" else None
                stack.append((holds is not False, holds is not True))
            elif word in ("elif", "else"):
                _, still = stack.pop()
                holds = self._holds(condition, by_isa) if word == "elif" else True
                stack.append((still and holds is not False, still and holds is not True))
            elif word == "endif":
                stack.pop()
            elif all(counts for counts, _ in stack):
                file, macro = match["file"], match["macro"]
                if file or macro in _ROUTINES:
                    found.append(file or _ROUTINES[macro].format(isa=self.isa))
        return found

    def _holds(self, condition: str, by_isa: dict[str, bool]) -> bool | None:
        """Whether a condition holds; None if that is not known."""
        sides = [self._all(part, by_isa) for part in condition.split("||")]
        return True if True in sides else None if None in sides else False

    def _all(self, text: str, by_isa: dict[str, bool]) -> bool | None:
        terms = [self._term(part.strip(), by_isa) for part in text.split("&&")]
        return False if False in terms else None if None in terms else True

    def _term(self, text: str, by_isa: dict[str, bool]) -> bool | None:
        if match := re.fullmatch(r"defined[ (]*CORTEXM_IS_(\w+)\)?", text):
            return match[1] in self.defined
        if match := re.fullmatch(r"CODE_BITS == (\d+)", text):
            return None if self.bits is None else self.bits == int(match[1])
        return by_isa.get(text)
