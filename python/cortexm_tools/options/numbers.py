# SPDX-License-Identifier: Apache-2.0
"""Numbers and words as users write them for options."""

from __future__ import annotations

import re

EVERY = 2**31 - 1
"""What ``all`` means where a count is asked for."""


def count(text: str) -> int:
    """``all``, or a number.

    Raises:
        ValueError: it is neither.
    """
    if text == "all":
        return EVERY
    if not text.isdecimal():
        raise ValueError(f"{text!r} is neither a number nor 'all'")
    return int(text)


def web_address(text: str) -> str:
    """An address in the web.

    Raises:
        ValueError: it is none, or holds something else.
    """
    if not re.fullmatch(r"https?://[!-~]+", text):
        raise ValueError(f"{text!r} is no address such as https://example.com/digits")
    return text


def megahertz(text: str) -> float:
    """A clock.

    Raises:
        ValueError: it is no number above 0.
    """
    return _above_zero(text, "megahertz")


def seconds(text: str) -> float:
    """A time.

    Raises:
        ValueError: it is no number above 0.
    """
    return _above_zero(text, "seconds")


def _above_zero(text: str, unit: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1e6:
        raise ValueError(f"{text!r} is not a number of {unit}")
    return value
