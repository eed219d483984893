# SPDX-License-Identifier: Apache-2.0
"""What kernels of softmaxes can require: how many elements they have, and what they keep of each."""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts

ALL_ELEMENTS = 1 << 31


def _from_elements(count: int) -> Callable[[Facts], bool]:
    """A softmax of so many elements, of all that would share its table of exponentials.

    That takes some 900 bytes more than the code that computes them, and saves some 45 instructions for each
    element with DSP instructions, 10 to 25 with MVE: from 40 on one or two for each byte. In portable C it
    saves 110, on Armv6-M 300: from 20 on as much.
    """
    return lambda facts: bool(facts["elements"] >= count)


def _short_columns(facts: Facts) -> bool:
    """Columns apart, or rows so short that four at a time, gathered, take fewer cycles than one after the
    other, each from vectors: some 240 instructions and 4 an element. Of 4095 elements the sum has 31 bits."""
    rows, size = facts["outer"], facts["size"]
    are_faster = facts["inner"] > 1 or -(-rows // 4) * (80 + 30 * size) < rows * (240 + 4 * size)
    return bool(size <= 4095 and are_faster) and _are_divided(facts)


def _are_divided(facts: Facts) -> bool:
    """Columns whose numbers a product divides by the distance of their elements, exactly."""
    return bool(facts["outer"] * facts["inner"] ** 2 < 1 << 31)


def _few_elements(facts: Facts) -> bool:
    """Columns of int16 of so few elements that a kernel keeps an exponential each of four of them, which take
    fewer instructions than one after the other; and whose exponents have a whole part of 14 bits."""
    columns, size = facts["outer"] * facts["inner"], facts["size"]
    in_fours = 26 + -(-columns // 4) * (51 + 30 * size)
    are_faster = in_fours < 27 + columns * (147 + 27 * -(-size // 4))
    return bool(size <= 40 and are_faster and facts["multiplier"] < 1 << 30)


def _up_to_64(facts: Facts) -> bool:
    """Columns of so few elements that a kernel keeps an exponential of each on the stack."""
    return bool(facts["size"] <= 64)


def _codes_apart(facts: Facts) -> bool:
    """A softmax of int8 in which only a difference of 0 has the exponent 0, and whose multiplier is from 2^30
    on."""
    multiplier = facts["multiplier"]
    return bool(multiplier >= 1 << 30 and multiplier << facts["shift"] > 1 << 30)


CASES: dict[str, Callable[[Facts], bool]] = {
    "from_40_elements": lambda f: True,
    "from_20_elements": lambda f: True,
    "up_to_64": _up_to_64,
    "codes_apart": _codes_apart,
    "few_elements": _few_elements,
    "short_columns": _short_columns,
}
