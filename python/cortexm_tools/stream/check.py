# SPDX-License-Identifier: Apache-2.0
"""Runs a stream beside the model over windows: every call against the window that ends with its frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import CortexMError
from ..ir import Array, Graph
from ..ir.interpreter import run_graph, run_sequence
from ..options.stream import Stream
from .build import zeros_of
from .trace import Trace

Frames = tuple[Array, ...]  # of each input, any number of frames


@dataclass(frozen=True)
class Streamed:
    """A model as a stream.

    Attributes:
        graph: that of a call.
        windowed: the model over the window.
        window: frames of it.
        delay: frames that come before a result is complete; 0 unless padding was replaced.
        columns: for each output the dimension that is time, and how many of the window's columns a call
            returns, the last ones; None for what comes as the window gives it.
    """

    graph: Graph
    windowed: Graph
    stream: Stream
    window: int
    delay: int
    columns: tuple[tuple[int, int] | None, ...]

    @property
    def calls(self) -> int:
        """Calls until the window is full."""
        return -(-self.window // self.stream.hop)

    def join(self, rows: Sequence[Sequence[Array]]) -> Frames:
        """Frames one after another, of each input."""
        return tuple(np.concatenate(each, self.stream.dim) for each in zip(*rows, strict=True))

    def hops(self, frames: Frames, most: int | None = None) -> list[Frames]:
        """The inputs of successive calls, at most so many; frames that fill none are the last ones."""
        hop, dim = self.stream.hop, self.stream.dim
        count = min(value.shape[dim] for value in frames) // hop
        return [
            tuple(value.take(range(n * hop, (n + 1) * hop), axis=dim) for value in frames)
            for n in range(count if most is None else min(most, count))
        ]

    def window_of(self, frames: Frames, call: int) -> Frames:
        """The window whose result this call gives: zeros where the stream had not begun."""
        dim = self.stream.dim
        end = (call + 1) * self.stream.hop - self.delay
        result = []
        for value, index in zip(frames, self.windowed.inputs, strict=True):
            shape = self.windowed.tensors[index].shape
            there = value.take(range(max(0, end - shape[dim]), max(0, end)), axis=dim)
            front = list(shape)
            front[dim] -= there.shape[dim]
            zeros = zeros_of(self.windowed, index, tuple(front))
            result.append(np.concatenate([zeros, there], axis=dim))
        return tuple(result)

    def expected(self, frames: Frames, call: int) -> list[Array]:
        """What the model over the window gives for a call."""
        outputs = run_graph(self.windowed, self.window_of(frames, call))
        return [
            value if last is None else value[_last(value, *last)]
            for value, last in zip(outputs, self.columns, strict=True)
        ]


def _last(value: Array, dim: int, count: int) -> tuple[slice, ...]:
    return (slice(None),) * dim + (slice(value.shape[dim] - count, None),)


def streamed(found: Trace, graph: Graph) -> Streamed:
    """`graph`, that of a call, with what is known of it."""
    last: list[tuple[int, int] | None] = []
    for index in found.graph.outputs:
        known = found.columns.get(index)
        last.append(
            None
            if known is None
            else (known.dim, min(known.length, -(-found.stream.hop // known.rate)))
        )
    return Streamed(graph, found.graph, found.stream, found.window, found.delay, tuple(last))


def chosen_calls(calls: int, windows: int) -> list[int]:
    """So many calls, evenly spread, the last one among them."""
    return sorted({calls - 1 - k * calls // windows for k in range(min(windows, calls))})


def differing_calls(
    model: Streamed, frames: Frames, outputs: Mapping[int, Sequence[Array]]
) -> list[int]:
    """The calls whose outputs are not, byte by byte, those of the model over the window."""
    return [
        call
        for call, row in outputs.items()
        if any(
            have.tobytes() != want.tobytes()
            for have, want in zip(row, model.expected(frames, call), strict=True)
        )
    ]


def check_stream(model: Streamed, frames: Frames, *, calls: int, windows: int) -> int:
    """Runs a stream of at most `calls` calls, and as many windows beside it.

    Returns:
        How many windows were compared.

    Raises:
        CortexMError: a result differs.
    """
    rows = model.hops(frames, calls)
    chosen = chosen_calls(len(rows), windows)
    outputs = {n: row for n, row in enumerate(run_sequence(model.graph, rows)) if n in chosen}
    if wrong := differing_calls(model, frames, outputs):
        raise CortexMError(
            f"the stream differs from the model over its window in call {wrong[0]}",
            where=model.graph.name,
            hint="this is a fault of the tool; leave out STREAM, and report it",
        )
    return len(chosen)


def stream_noise(
    model: Streamed, frames: Frames, *, calls: int, windows: int
) -> tuple[float | None, int]:
    """How far a causal stream is from the model over full windows: signal to noise in dB, over all
    outputs and windows, each output in units of its own; None if they are equal. And of how many."""
    rows = model.hops(frames, calls)
    full = [n for n in range(len(rows)) if (n + 1) * model.stream.hop - model.delay >= model.window]
    chosen = {full[k] for k in chosen_calls(len(full), windows)} if full else set()
    signal = noise = 0.0
    zeros = [_zero(model.graph, index) for index in model.graph.outputs]
    for call, row in enumerate(run_sequence(model.graph, rows)):
        if call not in chosen:
            continue
        for have, want, zero in zip(row, model.expected(frames, call), zeros, strict=True):
            real = want.astype(np.float64) - zero
            noise += float(np.sum((have.astype(np.float64) - zero - real) ** 2))
            signal += float(np.sum(real**2))
    if not noise or not signal:
        return None, len(chosen)
    return 10.0 * math.log10(signal / noise), len(chosen)


def _zero(graph: Graph, index: int) -> int:
    quant = graph.tensors[index].quant
    return 0 if quant is None or graph.tensors[index].dtype.numpy.kind == "f" else quant.zero_point
