# SPDX-License-Identifier: Apache-2.0
"""What kernels can require that compute element by element."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..facts import Facts

_MANY_VALUES = 128  # of floats, of which a function of one saves some four instructions each
_MANY_SUMS = 512  # of floats, of which eights save about six instructions each


def _add_shifts_right(facts: Facts) -> bool:
    """An addition never shifts to the left, and to the right at the end, and its zero points are codes.
    With codes less their zero point below 2^8 and raised by 2^20, all its values stay below 2^30."""
    are_codes = all(-128 <= facts[f"{name}_zero_point"] <= 127 for name in ("a", "b", "out"))
    is_right = facts["a_shift"] <= 0 and facts["b_shift"] <= 0 and facts["out_shift"] < 0
    return bool(are_codes and is_right)


def _affine(facts: Facts) -> bool:
    """An addition of int8 codes is such a function of them (affine.py)."""
    return bool(facts["is_affine"])


def _affine_fine(facts: Facts) -> bool:
    """It is such a function of more bits, and no operand repeats."""
    return bool(facts["is_affine_fine"])


def _add_shifts_right_s16(facts: Facts) -> bool:
    """An addition of int16 codes halves both operands at least, and shifts to the right at the end. With
    codes raised by 2^15 the sum is then below 2^30, unless both are subtracted."""
    operands = [(facts[f"{name}_multiplier"], facts[f"{name}_shift"]) for name in ("a", "b")]
    are_halved = all(
        -30 <= shift <= 0 and abs(multiplier) <= 1 << (30 - shift) for multiplier, shift in operands
    )
    is_sum = any(multiplier >= 0 for multiplier, _ in operands)
    return bool(are_halved and is_sum and facts["out_shift"] < 0)


def _mul_shifts_right(facts: Facts) -> bool:
    """A product of int8 codes is shifted to the right, by no more than 22, and twice a code less its zero
    point has 16 bits."""
    are_near = all(abs(facts[f"{name}_zero_point"]) <= 16000 for name in ("a", "b"))
    return bool(are_near and -22 <= facts["shift"] < 0)


def _smooth_table(facts: Facts) -> bool:
    """A table of int16 codes of which no entry is further from the next one than a code from 0."""
    return bool(facts["largest_step"] < 1 << 15)


def _many_values(facts: Facts) -> bool:
    """So many elements that several at a time save more than their code takes."""
    return bool(facts["count"] >= _MANY_VALUES)


def _rows_of_eights(facts: Facts) -> bool:
    """Rows of at least eight elements, so many that eights save more than their code takes."""
    return bool(facts["dims"][-1:] >= (8,) and math.prod(facts["dims"]) >= _MANY_SUMS)


def _normal_scale(facts: Facts) -> bool:
    """No result depends on subnormal floats, which MVE takes for zero.

    A subnormal input or product is then below 1/2 and rounds to zero code steps; a scale that is
    normal has no subnormal multiples.
    """
    scale = facts["inv_scale"] if "inv_scale" in facts else facts["scale"]
    return bool(2.0**-126 <= scale <= 2.0**124)


def _moderate_scale(facts: Facts) -> bool:
    """Codes become normal floats, or 0; and the exponents of a float and the scale tell that their product is
    0 of a subnormal one, and beyond all codes of an infinite one."""
    scale = facts["inv_scale"] if "inv_scale" in facts else facts["scale"]
    return bool(2.0**-119 <= scale <= 2.0**119)


def _lookup_in_turns(facts: Facts) -> bool:
    """Channels of which 24 elements side by side hold whole pixels, or long runs of one channel."""
    channels, inner = facts["channels"], facts["inner"]
    return bool(24 % channels == 0 if inner == 1 else inner >= 24)


CASES: dict[str, Callable[[Facts], bool]] = {
    "normal_scale": _normal_scale,
    "moderate_scale": _moderate_scale,
    "many_values": _many_values,
    "rows_of_eights": _rows_of_eights,
    "add_shifts_right": _add_shifts_right,
    "affine": _affine,
    "affine_fine": _affine_fine,
    "add_shifts_right_s16": _add_shifts_right_s16,
    "lookup_in_turns": _lookup_in_turns,
    "mul_shifts_right": _mul_shifts_right,
    "smooth_table": _smooth_table,
}
