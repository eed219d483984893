# SPDX-License-Identifier: Apache-2.0
"""The picture of the arena over time: steps across, bytes down, a rectangle for each buffer.

What is computed here are lengths, in pixels; templates/arena.svg draws them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from .tables import operator_text

LEFT, TOP, TALL = 74, 58, 320
NAMES, NO_NAMES = 116, 44  # pixels below the picture, with and without names of steps
_WIDTH = 880  # of all steps, unless that makes them too narrow or too wide
_NARROW, _WIDE, _NAMED = 8.0, 62.0, 18.0  # of a column; with its name from the last one on
_MARGIN = 110  # at the right, for the names of memories
_THIN = 1.4  # what is thinner could not be pointed at

KINDS = {
    "input": "input",
    "output": "output",
    "tensor": "between layers",
    "band": "rows in bands",
    "scratch": "scratch",
    "state": "state",
}


@dataclass(frozen=True)
class Box:
    """A buffer: its rectangle, and what to say about it, the first line the most important."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Label:
    """What is written into a rectangle, around this point."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Column:
    """A step; `name` is empty where there is no room for it."""

    x: float
    number: int
    numbered: bool
    name: str
    about: str
    bands: bool


@dataclass(frozen=True)
class Arena:
    """The picture.

    Attributes:
        shared: rectangles (x, y, width, height) of bytes that two buffers have at once: a result
            written over the operand that it is computed from.
        peak: the column with the most live bytes (x, width), and what to say about it.
        ticks: addresses, as (y, text).
        regions: memories of the target, and the state, as (y of its upper end, name); empty where
            there is one memory.
    """

    title: str
    width: float
    column: float
    boxes: tuple[Box, ...]
    labels: tuple[Label, ...]
    shared: tuple[tuple[float, float, float, float], ...]
    columns: tuple[Column, ...]
    ticks: tuple[tuple[float, str], ...]
    regions: tuple[tuple[float, str], ...]
    peak: tuple[float, float, str]
    kinds: tuple[tuple[str, str], ...]
    left: int = LEFT
    top: int = TOP
    tall: int = TALL
    height: int = TOP + TALL + NAMES

    @property
    def right(self) -> float:
        return self.left + self.column * len(self.columns)

    @property
    def bottom(self) -> int:
        return self.top + self.tall


def arena_of(data: dict[str, Any]) -> Arena | None:
    """The picture of a report; None of one without layers or without bytes to show."""
    layers, buffers = data["layers"], data["buffers"]
    size = max((one["base"] + one["bytes"] for one in data["arenas"]), default=0)
    if not layers or not size or not buffers:
        return None
    column = min(_WIDE, max(_NARROW, _WIDTH / len(layers)))

    def x_of(step: int) -> float:
        return LEFT + column * step

    def y_of(offset: int) -> float:
        return TOP + TALL * offset / size

    gap = min(2.0, column / 8)
    boxes, labels = [], []
    for buffer in buffers:
        x, y = x_of(buffer["first"]) + gap, y_of(buffer["offset"])
        width = column * (buffer["last"] - buffer["first"] + 1) - 2 * gap
        height = max(_THIN, TALL * buffer["bytes"] / size)
        lines = buffer_lines(buffer, layers)
        boxes.append(Box(x, y, width, height, buffer["kind"], lines))
        text = _shape(buffer)
        wide = max(1, -(-round(6.4 * len(text)) // round(column)))  # steps that the text takes
        if text and (place := _free(buffer, buffers, wide)) is not None:
            step, low, high = place
            if TALL * (high - low) / size >= 13:
                labels.append(
                    Label(x_of(step) + column * wide / 2, y_of((low + high) // 2) + 4, text)
                )
    named = column >= _NAMED
    shared = tuple(
        (x_of(step) + gap, y_of(low), column - 2 * gap, TALL * (high - low) / size)
        for step, low, high in _shared(buffers, len(layers))
    )
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 500, 5000, 10**9) if n * column >= 20)
    columns = tuple(
        Column(
            x_of(number),
            number + 1,
            number == 0 or (number + 1) % every == 0,
            _short_name(layer) if named else "",
            f"step {number + 1}: {operator_text(layer)}, {layer['live_bytes']:,} bytes live",
            bool(layer["bands_with"]),
        )
        for number, layer in enumerate(layers)
    )
    top_step = max(range(len(layers)), key=lambda n: layers[n]["live_bytes"])
    peak = (
        x_of(top_step),
        column,
        f"most live bytes: {layers[top_step]['live_bytes']:,} in step {top_step + 1}, "
        f"{operator_text(layers[top_step])}",
    )
    present = {buffer["kind"] for buffer in buffers}
    kinds = tuple((kind, text) for kind, text in KINDS.items() if kind in present)
    legend = LEFT + sum(34 + 6.6 * len(text) for _, text in (*kinds, ("", "result over operand")))
    return Arena(
        title=f"The arena of {data['name']} over time, on {data['target']['cpu']}: {size:,} bytes",
        width=max(
            LEFT + column * len(layers) + (_MARGIN if len(data["arenas"]) > 1 else 16), legend
        ),
        column=column,
        boxes=tuple(sorted(boxes, key=lambda box: -box.width * box.height)),
        labels=tuple(labels),
        shared=shared,
        columns=columns,
        ticks=tuple((y_of(address), f"{address:,}") for address in _ticks(size)),
        regions=_regions(data, y_of),
        peak=peak,
        kinds=kinds,
        height=TOP + TALL + (NAMES if named else NO_NAMES),
    )


def _free(
    buffer: dict[str, Any], buffers: Sequence[dict[str, Any]], wide: int
) -> tuple[int, int, int] | None:
    """The tallest piece of a buffer that is its own for `wide` steps: (first step, first byte, byte
    behind the last); None if it lives for fewer."""
    best: tuple[int, int, int] | None = None
    begin, end = buffer["offset"], buffer["offset"] + buffer["bytes"]
    for step in range(buffer["first"], buffer["last"] + 2 - wide):
        others = sorted(
            (other["offset"], other["offset"] + other["bytes"])
            for other in buffers
            if other is not buffer
            and other["first"] < step + wide
            and step <= other["last"]
            and other["offset"] < end
            and begin < other["offset"] + other["bytes"]
        )
        low = begin
        for taken, free in [*others, (end, end)]:
            if best is None or taken - low > best[2] - best[1]:
                best = (step, low, taken)
            low = max(low, free)
    return best


def buffer_lines(buffer: dict[str, Any], layers: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """What to say about a buffer: its tensors with their layers, its place, and when it lives."""
    lines = []
    for tensor in buffer["tensors"]:
        made = tensor["layer"]
        if made is None:
            maker = buffer["kind"] if buffer["kind"] in ("input", "state") else "given"
        else:
            layer = layers[made]
            maker = f"step {made + 1}, {operator_text(layer)}"
            maker += f" of {layer['layer']}" if layer["layer"] else ""
        lines.append(f"{tensor['type']}: {maker}")
    if buffer["kind"] == "scratch":
        lines.append(f"scratch of step {buffer['first'] + 1}")
    elif buffer["kind"] == "band":
        lines.append("of which only bands of rows exist")
    elif buffer["kind"] == "output":
        lines.append("output")
    first, last = buffer["first"] + 1, buffer["last"] + 1
    when = f"step {first}" if first == last else f"steps {first} to {last}"
    end = buffer["offset"] + buffer["bytes"]
    lines.append(f"{buffer['bytes']:,} bytes at {buffer['offset']:,} to {end:,}, {when}")
    return tuple(lines)


def _shape(buffer: dict[str, Any]) -> str:
    """What is written into a rectangle: the shape of the largest tensor in it."""
    if not buffer["tensors"]:
        return ""
    largest = max(buffer["tensors"], key=lambda tensor: int(tensor["bytes"]))
    return str(largest["type"]).split(" order ")[0].partition(" ")[2]


def _short_name(layer: dict[str, Any]) -> str:
    more = len(layer["bands_with"])
    return f"{layer['operator']} +{more}" if more else str(layer["operator"])


def _shared(buffers: Sequence[dict[str, Any]], steps: int) -> list[tuple[int, int, int]]:
    """The bytes that two buffers have in one step, as (step, first byte, byte behind the last)."""
    at: list[list[dict[str, Any]]] = [[] for _ in range(steps)]
    for buffer in buffers:
        for step in range(buffer["first"], buffer["last"] + 1):
            at[step].append(buffer)
    found = set()
    for step, live in enumerate(at):
        for a, b in combinations(live, 2):
            low = max(a["offset"], b["offset"])
            high = min(a["offset"] + a["bytes"], b["offset"] + b["bytes"])
            if low < high:
                found.add((step, low, high))
    return sorted(found)


def _ticks(size: int) -> list[int]:
    """Some five to ten round addresses, with the end."""
    step = 1
    while size / step > 8:
        step *= 2
    ticks = [address for address in range(0, size, step) if size - address > step / 3]
    return [*ticks, size]


def _regions(data: dict[str, Any], y_of: Any) -> tuple[tuple[float, str], ...]:
    arenas = data["arenas"]
    if len(arenas) < 2:
        return ()
    return tuple(
        (y_of(one["base"]), "state" if one["kind"] == "state" else one["region"] or "arena")
        for one in arenas
        if one["bytes"]
    )
