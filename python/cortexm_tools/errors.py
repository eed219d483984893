# SPDX-License-Identifier: Apache-2.0
"""The one exception type of the tools, and the shape of every message a user sees."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CortexMError(Exception):
    """A problem the user can act on.

    Args:
        message: one sentence that says what is wrong.
        where: the place: a file, ``file:line``, or a layer's module path.
        hint: what to do about it.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the closest of `known`, or all of them if none is close."""
    choices = sorted(known)
    close = difflib.get_close_matches(word.lower(), choices, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + ", ".join(choices)
