# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, and the choice between two operands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
LOGICAL_FUNCTIONS = ("and", "or", "xor")


@dataclass(frozen=True)
class Compare(Attrs):
    """a, b of one type (broadcastable) -> bool; `function` is one of COMPARISONS."""

    kind: ClassVar[str] = "compare"
    function: str


@dataclass(frozen=True)
class Logical(Attrs):
    """a bool, b bool (broadcastable) -> bool; `function` is one of LOGICAL_FUNCTIONS."""

    kind: ClassVar[str] = "logical"
    function: str


@dataclass(frozen=True)
class LogicalNot(Attrs):
    """x bool -> not x."""

    kind: ClassVar[str] = "logical_not"


@dataclass(frozen=True)
class Where(Attrs):
    """condition bool, a, b of one type (all broadcastable) -> a where true, else b."""

    kind: ClassVar[str] = "where"
