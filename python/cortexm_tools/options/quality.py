# SPDX-License-Identifier: Apache-2.0
"""How good a quantized model must be, as users write it."""

from __future__ import annotations

import re

from ..errors import CortexMError, printable

MOST_DB = 200.0
"""No tensor of float32 is nearer to another one."""

MOST_LOSS = 50.0
"""Percent points: who writes more means the accuracy itself."""


def parse_decibels(text: str, where: str = "") -> float:
    """``25dB`` as a number.

    Args:
        where: what it is of, for the message.

    Raises:
        CortexMError: it is no ratio in dB above 0.
    """
    value = _number(text, "dB")
    if value is None or not 0.0 < value <= MOST_DB:
        raise CortexMError(
            f"{printable(text)!r} is not a ratio in dB, above 0",
            where=where,
            hint="write a number with its unit: 25dB",
        )
    return value


def parse_loss(text: str, where: str = "") -> float:
    """``0.5%`` as percent points of accuracy that may be lost.

    Raises:
        CortexMError: it is none, from 0 on, or so much that it must be meant as the accuracy.
    """
    value = _number(text, "%")
    if value is None or value > MOST_LOSS:
        raise CortexMError(
            f"{printable(text)!r} is not a loss of accuracy, from 0% to {MOST_LOSS:g}%",
            where=where,
            hint="write how many percent points the quantized model may have less than the float one: 0.5%",
        )
    return value


def _number(text: str, unit: str) -> float | None:
    """The number before a unit."""
    match = re.fullmatch(rf"([0-9]{{1,9}}(?:\.[0-9]{{1,9}})?) ?{unit}", text.strip(), re.IGNORECASE)
    return float(match[1]) if match else None
