# SPDX-License-Identifier: Apache-2.0
"""Whose memory a model computes in: an `Arena`, which is one of three things."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import CortexMError, printable
from .names import plain_identifier


@dataclass(frozen=True)
class OwnArena:
    """A static array that the model brings."""


@dataclass(frozen=True)
class CallerArena:
    """One that the application passes with every call."""


@dataclass(frozen=True)
class SharedArena:
    """One for all models of a group, which never run at once.

    Attributes:
        group: a C identifier without ``__``; the build defines the array ``cortexm_arena_<group>``,
            and ``cortexm_arena_<group>__<region>`` in further memories.
    """

    group: str


Arena = OwnArena | CallerArena | SharedArena


def parse_arena(text: str) -> Arena:
    """``own``, ``caller``, ``shared`` (the group of this name) or ``shared:GROUP``.

    Raises:
        CortexMError: it is none of these, or the group cannot be part of a name in C.
    """
    kind, colon, group = text.partition(":")
    if kind not in ("own", "caller", "shared") or (colon and kind != "shared"):
        raise CortexMError(
            f"unknown arena {printable(text)!r}", hint="own, caller or shared[:GROUP]"
        )
    if kind != "shared":
        return OwnArena() if kind == "own" else CallerArena()
    group = group or "shared"
    plain = plain_identifier(group)
    if plain != group:
        raise CortexMError(
            f"the arena's group {printable(group)!r} is not a plain C identifier",
            hint=f"use shared:{plain}",
        )
    return SharedArena(group)
