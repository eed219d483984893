# SPDX-License-Identifier: Apache-2.0
"""The one exception type of the tools, and the shape of every message a user sees."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


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
        text = f"{printable(self.where)}: {self.message}" if self.where else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text


def printable(text: str, keep: str = "") -> str:
    """`text` with escapes for what is not a printable character and not in `keep`.

    Names from files can hold anything: line ends that forge a message, sequences that a terminal
    obeys, halves of surrogate pairs that no encoding takes.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else repr(char)[1:-1] for char in text
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the closest of `known`, or all of them if none is close."""
    choices = {each.lower(): each for each in sorted(known)}
    lower = word.lower()
    close = difflib.get_close_matches(lower, choices, n=3)
    if close:
        # Of words that are as close, the one that begins alike.
        likeness = [_likeness(lower, choice) for choice in close]
        return f"did you mean {choices[close[likeness.index(max(likeness))]]!r}?"
    return "known: " + ", ".join(choices.values())


def _likeness(a: str, b: str) -> tuple[float, int]:
    ratio = difflib.SequenceMatcher(None, b, a).ratio()
    return ratio, len(os.path.commonprefix([a, b]))


@contextmanager
def named(source: str) -> Iterator[None]:
    """Errors that name no place get `source` as theirs."""
    try:
        yield
    except CortexMError as error:
        if error.where:
            raise
        raise CortexMError(error.message, where=source, hint=error.hint) from error
