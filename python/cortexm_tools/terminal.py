# SPDX-License-Identifier: Apache-2.0
"""Text for people, as a terminal can show it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .errors import printable

making_room: Callable[[Any], AbstractContextManager[Any]] = nullcontext
"""Takes bars (bars.py) from a stream while something else is written to it."""


def show(text: str, *, error: bool = False, end: str = "\n") -> None:
    """Prints to the standard output, or to the standard error stream.

    Control characters but line ends and tabs are escaped, and so is what the stream cannot encode.
    """
    stream = sys.stderr if error else sys.stdout
    with making_room(stream):
        print(plain(text, stream), file=stream, end=end, flush=error)


def plain(text: str, stream: Any) -> str:
    """`text` without what a terminal obeys and `stream` cannot encode."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    safe = printable(text, keep="\n\t").encode(encoding, "backslashreplace")
    return safe.decode(encoding)
