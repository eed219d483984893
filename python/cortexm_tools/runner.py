# SPDX-License-Identifier: Apache-2.0
"""Models as functions that can be run call by call, wherever they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from .ir import Array

Progress = Callable[[str], None]


class Runner(Protocol):
    """Runs a model, from logical inputs to outputs. Calls follow one another: each goes on with the
    state that the one before it left."""

    def __call__(self, inputs: tuple[Array, ...], /) -> tuple[Array, ...]: ...

    def reset(self) -> None:
        """Make the next call the first one."""


def run_in_order(run: Runner, rows: Iterable[tuple[Array, ...]]) -> list[tuple[Array, ...]]:
    """The outputs for each of `rows`, as one sequence of calls from the first one on."""
    run.reset()
    return [run(row) for row in rows]
