# SPDX-License-Identifier: Apache-2.0
"""What the counting plugin (plugin/counter.c) writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Executed:
    """How often one instruction executed.

    Attributes:
        count: in the whole run.
        window: between the first and the last mark.
        taken: of these, how often the next instruction was another than the one behind it.
    """

    count: int
    window: int
    taken: int


@dataclass(frozen=True)
class Counts:
    """One run: total instructions at each mark, and every instruction by its address."""

    marks: tuple[int, ...]
    instructions: Mapping[int, Executed]


def read_counts(text: str) -> Counts:
    """The plugin's output file."""
    marks: list[int] = []
    instructions: dict[int, Executed] = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "mark":
            marks.append(int(words[0]))
        else:
            instructions[int(words[0], 16)] = Executed(*map(int, words[1:]))
    return Counts(tuple(marks), instructions)
