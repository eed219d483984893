# SPDX-License-Identifier: Apache-2.0
"""What is tried with a quantized model beyond what every build measures: which layer loses, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..ir import Array
from .quality import Quality


class Study(Protocol):
    """Tries things with the quantized model; the float model and the samples are at hand."""

    def losses(self) -> dict[str, Any]:
        """What the worst output gains with layers in their float form, one at a time: without the rounding of
        its weights and of its result, with that of all others. As many are tried as a bounded amount of work
        allows, first those that add most noise.

        As JSON: on how many ``inputs``, of how many ``layers``, from which ``sqnr_db`` on; ``tried``, those
        that lose most first, with ``operator``, ``layer``, ``sqnr_db`` and ``gain_db``, null where nothing
        is lost any more.
        """

    def advised(self, enough: float) -> Quality:
        """The model's quality with the precision that was found to be better, if it has less than `enough`
        dB."""

    def quality_on(self, rows: Sequence[tuple[Array, ...]]) -> Quality:
        """The quality on some of other inputs, one row for each call."""
