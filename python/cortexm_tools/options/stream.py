# SPDX-License-Identifier: Apache-2.0
"""How a model is streamed, as users write it: ``DIM:HOP``, or ``DIM:HOP:causal``."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import CortexMError, did_you_mean, printable

CAUSAL = "causal"


@dataclass(frozen=True)
class Stream:
    """A model over windows that takes the new frames alone.

    Attributes:
        dim: the dimension of the inputs that is time.
        hop: frames that each call brings, 1 or more.
        causal: padding along time is not part of the window: what was there in the stream is read
            in its place.
    """

    dim: int
    hop: int
    causal: bool = False

    def __str__(self) -> str:
        return f"{self.dim}:{self.hop}" + (f":{CAUSAL}" if self.causal else "")


def parse_stream(text: str) -> Stream | None:
    """``2:1``: dimension 2 is time, and each call brings one frame; None for an empty text.

    Raises:
        CortexMError: it is none of that.
    """
    if not text:
        return None
    dim, _, rest = text.partition(":")
    hop, colon, word = rest.partition(":")
    if not (dim.isdecimal() and hop.isdecimal() and dim.isascii() and hop.isascii()):
        raise CortexMError(
            f"STREAM cannot be {printable(text)!r}",
            hint="write DIM:HOP, the dimension of the inputs that is time and the frames of a "
            "call, as in 2:1",
        )
    if colon and word != CAUSAL:
        raise CortexMError(
            f"STREAM has no word {printable(word)!r}", hint=did_you_mean(word, [CAUSAL])
        )
    if len(hop) > 9 or len(dim) > 9 or int(hop) < 1:
        raise CortexMError(
            f"a hop of {printable(hop)} frames is not possible", hint="one or more frames a call"
        )
    return Stream(int(dim), int(hop), bool(word))
