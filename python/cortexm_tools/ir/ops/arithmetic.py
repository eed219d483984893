# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on two operands, on codes and on numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs

BINARY_FUNCTIONS = (
    "add",
    "sub",
    "mul",
    "div",
    "pow",
    "fmod",
    "remainder",
    "floor_divide",
    "trunc_divide",
    "atan2",
)
INTEGER_DIVISIONS = ("fmod", "remainder", "floor_divide", "trunc_divide")
INTEGER_FUNCTIONS = ("add", "sub", "mul", *INTEGER_DIVISIONS)


@dataclass(frozen=True)
class Add(Attrs):
    """a s8, b s8 (broadcastable) -> s8. Both operands are raised by 2**20 before rescaling."""

    kind: ClassVar[str] = "add"
    a_zero_point: int
    a_multiplier: int
    a_shift: int
    b_zero_point: int
    b_multiplier: int
    b_shift: int
    out_zero_point: int
    out_multiplier: int
    out_shift: int
    act_min: int
    act_max: int


@dataclass(frozen=True)
class Mul(Attrs):
    """a s8, b s8 (broadcastable) -> s8."""

    kind: ClassVar[str] = "mul"
    a_zero_point: int
    b_zero_point: int
    out_zero_point: int
    multiplier: int
    shift: int


@dataclass(frozen=True)
class Div(Attrs):
    """a, b of one shape, both s8 or s16 -> same type. `scale` is s_a / (s_b * s_out), in float32."""

    kind: ClassVar[str] = "div"
    a_zero_point: int
    b_zero_point: int
    out_zero_point: int
    scale: float


@dataclass(frozen=True)
class Minimum(Attrs):
    """a, b (broadcastable, one type) -> the smaller, element by element."""

    kind: ClassVar[str] = "minimum"


@dataclass(frozen=True)
class Maximum(Attrs):
    """a, b (broadcastable, one type) -> the larger, element by element."""

    kind: ClassVar[str] = "maximum"


@dataclass(frozen=True)
class Binary(Attrs):
    """a, b (broadcastable) -> the same type; `function` is one of BINARY_FUNCTIONS.

    f32, and s32 or s64 for INTEGER_FUNCTIONS, which wrap. remainder has the sign of b, fmod that of
    a; floor_divide and trunc_divide round the quotient. Integers are divided by a constant without
    zeros (INTEGER_DIVISIONS).
    """

    kind: ClassVar[str] = "binary"
    function: str
