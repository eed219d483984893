# SPDX-License-Identifier: Apache-2.0
"""Sizes of memory as users write them."""

from __future__ import annotations

import re

from ..errors import CortexMError

_UNITS = {
    "": 1,
    "B": 1,
    "K": 1024,
    "KB": 1024,
    "KIB": 1024,
    "M": 1024**2,
    "MB": 1024**2,
    "MIB": 1024**2,
}


def parse_size(text: str, where: str = "") -> int:
    """``65536``, ``64K``, ``64KB`` or ``1M`` as bytes (K is 1024).

    Args:
        where: what the size is of, for the message.

    Raises:
        CortexMError: anything else.
    """
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", text.strip())
    if match is None or match[2].upper() not in _UNITS:
        hint = "write bytes, or a number with K or M: 64K"
        raise CortexMError(f"{text!r} is not a size", where=where, hint=hint)
    return int(match[1]) * _UNITS[match[2].upper()]
