# SPDX-License-Identifier: Apache-2.0
"""Text for people, as a terminal can show it."""

from __future__ import annotations

import sys

from ..errors import printable


def show(text: str, *, error: bool = False, end: str = "\n") -> None:
    """Prints to the standard output, or to the standard error stream.

    Control characters but line ends and tabs are escaped, and so is what the stream cannot encode.
    """
    stream = sys.stderr if error else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    safe = printable(text, keep="\n\t").encode(encoding, "backslashreplace")
    print(safe.decode(encoding), file=stream, end=end, flush=error)
