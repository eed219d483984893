# SPDX-License-Identifier: Apache-2.0
"""What a stream is run on, and its results beside those of the model over the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import Array
from ..ir.exactness import is_exact
from ..program import Program
from ..stream import Streamed
from ..stream.check import Frames, chosen_calls, differing_calls
from ..stream.stage import stream_frames

_CALLS = 1000  # most that a run makes unless its inputs say how many
_BEYOND = 8  # calls with a full window
_WINDOWS = 8  # that are compared


def stream_inputs(model: Streamed, program: Program) -> list[Frames]:
    """The program's own frames, then random ones, until the window is full and a few calls beyond."""
    calls = min(_CALLS, model.calls + _BEYOND)
    return model.hops(stream_frames(model, program, calls), calls)


def compare_windows(
    model: Streamed, calls: Sequence[Frames], outputs: Sequence[Sequence[Array]]
) -> dict[str, Any] | None:
    """How many windows were computed beside a run, and how many differ; None for a causal stream, which
    has other results, and for functions of the C library, which are not the same to the bit."""
    if model.stream.causal or not all(is_exact(op.attrs) for op in model.graph.ops):
        return None
    frames, chosen = model.join(calls), chosen_calls(len(calls), _WINDOWS)
    wrong = differing_calls(model, frames, {call: outputs[call] for call in chosen})
    return {"windows": len(chosen), "differing": len(wrong)}


def windows_line(found: dict[str, Any]) -> str:
    """What `compare_windows` found, for people."""
    if found["differing"]:
        return f"WRONG: {found['differing']} of {found['windows']} windows give other outputs"
    return f"outputs equal the model over the window in every byte ({found['windows']} windows)"
