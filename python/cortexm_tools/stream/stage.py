# SPDX-License-Identifier: Apache-2.0
"""The stage of the compiler: a program's graph as a stream, checked on the program's own data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..ir import Array, DType, Graph, Work, ops
from ..options.stream import Stream
from ..program import Program
from ..pte.vectors import fit_input, vector_inputs
from ..simplify import simplify
from . import stream_graph
from .check import Frames, Streamed, check_stream, stream_noise
from .dimension import check_dimension
from .order import early_reads

# What the check at build time may run: operators of the stream, and windows beside it.
_OPERATORS = 20_000
_WINDOWS = 4
_SEED = 0


def stream_stage(graph: Graph, stream: Stream, program: Program) -> tuple[Streamed, dict[str, Any]]:
    """A simplified graph as a stream, and what the report says of it.

    Raises:
        CortexMError: it cannot be streamed so: names the input, or the layers.
    """
    check_dimension(graph, stream)
    model = stream_graph(graph, stream)
    model = replace(model, graph=early_reads(simplify(model.graph)))
    most = max(2, _OPERATORS // max(1, len(model.graph.ops)))
    calls = min(most, model.calls + -(-model.delay // stream.hop) + _WINDOWS)
    frames = check_frames(model, program, calls)
    found: dict[str, Any] = {
        "dim": stream.dim,
        "hop": stream.hop,
        "window": model.window,
        "delay": model.delay,
        "causal": stream.causal,
        "calls_to_fill": model.calls,
        "window_macs": _macs(model.windowed),
        "call_macs": _macs(model.graph),
    }
    if found["call_macs"] >= found["window_macs"] > 0:
        found["whole"] = _first_sums(model.windowed)
    if stream.causal:
        noise, count = stream_noise(model, frames, calls=calls, windows=_WINDOWS)
        found |= {"sqnr_db": noise, "windows_compared": count}
    else:
        count = check_stream(model, frames, calls=calls, windows=_WINDOWS)
        found |= {"windows_compared": count}
    return model, found


def stream_constants(model: Streamed) -> tuple[tuple[str, int], ...]:
    """Macros of the generated header."""
    return (
        ("STREAM_HOP", model.stream.hop),
        ("STREAM_WINDOW", model.window),
        ("STREAM_DELAY", model.delay),
    )


def _macs(graph: Graph) -> int:
    """Multiply-accumulates of layers with weights: each for every position of the result."""
    total = 0
    for op in graph.ops:
        if op.attrs.traits.work is not Work.SUMS or len(op.inputs) < 2:
            continue
        if isinstance(op.attrs, ops.RecurrentAttrs):
            batch, steps, _ = op.attrs.extents(graph.tensors[op.inputs[0]])
            weights = (graph.tensors[index] for index in op.inputs[-3:-1])
            total += batch * steps * sum(weight.numel for weight in weights)
            continue
        weight, out = graph.tensors[op.inputs[1]], graph.tensors[op.outputs[0]]
        channels = out.shape[1 if isinstance(op.attrs, ops.ConvAttrs | ops.FloatConv2d) else -1]
        total += weight.numel * (out.numel // channels)
    return total


def _first_sums(graph: Graph) -> str:
    """The first layer with weights."""
    op = next(op for op in graph.ops if op.attrs.traits.work is Work.SUMS and len(op.inputs) > 1)
    return f"{op.kind} of {op.layer}"


def check_frames(model: Streamed, program: Program, calls: int) -> Frames:
    """Frames for so many calls to check a stream with: the windows that the program was calibrated with,
    else those of `stream_frames`, one after another, then random ones."""
    return _frames(model, program.calibration or _windows(program, model.windowed), calls)


def stream_frames(model: Streamed, program: Program, calls: int) -> Frames:
    """Frames for so many calls: the program's own windows one after another, then random ones."""
    return _frames(model, _windows(program, model.windowed), calls)


def _frames(model: Streamed, windows: Iterable[Sequence[Array]], calls: int) -> Frames:
    graph, rows = model.windowed, list[Sequence[Array]]()
    wanted = calls * model.stream.hop
    for values in windows:
        if len(rows) * model.window >= wanted:
            break
        rows.append(
            [
                fit_input(graph.tensors[index], value, f"input {k}")
                for k, (index, value) in enumerate(zip(graph.inputs, values, strict=True))
            ]
        )
    random = np.random.default_rng(_SEED)
    shortest = min(graph.tensors[i].shape[model.stream.dim] for i in graph.inputs)
    while len(rows) * shortest < wanted:
        rows.append([random_input(graph, index, random) for index in graph.inputs])
    return model.join(rows)


def _windows(program: Program, graph: Graph) -> list[Sequence[Array]]:
    if program.evaluation is not None and len(graph.inputs) == 1:
        return [(value,) for value in program.evaluation.inputs]
    if program.example is not None:
        return [program.example]
    return list(vector_inputs(graph, program.vectors))


def random_input(graph: Graph, index: int, random: np.random.Generator) -> Array:
    """Values that an input can have."""
    tensor = graph.tensors[index]
    if tensor.dtype is DType.F32:
        return random.normal(size=tensor.shape).astype(np.float32)
    if tensor.dtype is DType.BOOL:
        return random.integers(0, 2, tensor.shape).astype(np.bool_)
    rows = _rows_named(graph, index)
    if rows is not None:
        return random.integers(0, rows, tensor.shape).astype(tensor.dtype.numpy)
    low, high = tensor.dtype.limits
    if tensor.dtype is DType.S16 and tensor.quant is not None:  # such as sound, of any loudness
        return random.integers(low, high + 1, tensor.shape).astype(np.int16)
    return random.integers(max(low, -128), min(high, 127) + 1, tensor.shape).astype(
        tensor.dtype.numpy
    )


def _rows_named(graph: Graph, index: int) -> int | None:
    """The least length of what a tensor's values are places in; None if they are none. PyTorch stops at
    those that do not exist."""
    same, lengths = {index}, []
    for op in graph.ops:
        attrs, places = op.attrs, set()
        x = graph.tensors[op.inputs[0]].shape if op.inputs else ()
        if same & {*op.inputs[:1]} and (
            attrs.traits.work is Work.MOVE or isinstance(attrs, ops.Cast)
        ):
            same |= set(op.outputs)
        if isinstance(attrs, ops.Embedding):
            places = {(op.inputs[1], 0)}
        elif isinstance(attrs, ops.Gather):
            places = {(op.inputs[1], attrs.dim)}
        elif isinstance(attrs, (ops.Index, ops.IndexPut)):
            places = set(zip(op.inputs[-len(attrs.axes) :], attrs.axes, strict=True))
        lengths += [x[axis] for source, axis in places if source in same]
    return min(lengths, default=None)
