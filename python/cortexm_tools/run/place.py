# SPDX-License-Identifier: Apache-2.0
"""What a board with a chip is to ``cortexm run`` and ``bench``, however it is reached."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ..target import Target
from .result import RunResult


class Place(Protocol):
    """Somewhere to run a model, whose result has `measured`."""

    @property
    def name(self) -> str:
        """What it is, for people."""

    def run(
        self,
        model_dir: Path,
        name: str,
        inputs: Sequence[Sequence[bytes]],
        work_dir: Path,
        *,
        target: Target,
        steps: int = 0,
    ) -> RunResult:
        """Builds, loads and runs a model.

        Args:
            model_dir: the generated files of the model.
            name: the model's name.
            inputs: per invocation and input, raw bytes in memory order.
            work_dir: for the build and the files; may be used again.
            steps: of the plan, if the model has profile marks and the cycles of each layer are wanted.

        Raises:
            CortexMError: a tool is missing, the build fails, or the board does not do its part.
        """
