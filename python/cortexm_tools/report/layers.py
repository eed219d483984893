# SPDX-License-Identifier: Apache-2.0
"""The table of layers on a page: its columns, and a cell of each for every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .reading import Report
from .tables import decibels_of, operator_text


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its text, what to sort by, and its share of the column's largest."""

    text: str
    value: float | str
    share: float = 0.0
    cycles: tuple[float, float] | None = None


@dataclass(frozen=True)
class Column:
    """A column: its title, what it means, and whether it holds numbers, or names that lines may break in."""

    title: str
    about: str
    number: bool
    names: bool = False


def layers_of(
    report: Report, megahertz: float
) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """Header and rows; columns that say nothing about any layer are left out."""
    data, bench = report.data, report.bench
    layers = data["layers"]
    counts = [row["instructions"] for row in bench.get("layers", ())]
    total = sum(counts)
    decibels = decibels_of(data)
    columns: list[tuple[Column, list[Cell]]] = []

    def words(
        title: str, about: str, text: Callable[[dict[str, Any]], str], names: bool = True
    ) -> None:
        cells = [Cell(text(layer) or "–", text(layer)) for layer in layers]
        if any(cell.value for cell in cells):
            columns.append((Column(title, about, False, names), cells))

    def numbers(title: str, about: str, values: Sequence[int]) -> None:
        most = max(values, default=0)
        if most:
            cells = [Cell(f"{v:,}" if v else "", v, 100 * v / most) for v in values]
            columns.append((Column(title, about, True), cells))

    steps = [Cell(str(n + 1), n) for n in range(len(layers))]
    columns.append((Column("#", "step of the plan", True), steps))
    words("operator", "what is computed; several in bands of rows", operator_text)
    words("layer", "module of the model", lambda layer: str(layer["layer"]))
    words("result", "type and shape of the result", _type_of, names=False)
    words("precision", "what it computes in", lambda layer: str(layer["precision"]), names=False)
    if decibels:
        cells = []
        for layer in layers:
            value = decibels.get((layer["layer"], layer["source"]))
            text = "" if value is None else f"{value:.1f}"
            cells.append(Cell(text, -1.0 if value is None else value))
        columns.append(
            (Column("dB", "SQNR of the float model's layer, see Precision", True), cells)
        )
    if counts:
        numbers("instructions", "counted on the emulated core", counts)
    if counts and total and (estimate := bench["estimate"]):
        cells = []
        for count in counts:
            ends = (
                estimate["cycles_low"] * count / total,
                estimate["cycles_high"] * count / total,
            )
            cells.append(Cell(time_text(ends, megahertz), count, 0, ends))
        about = "estimate: the image's cycles per instruction, times the layer's instructions"
        columns.append((Column("time", about, True), cells))
    numbers("MACs", "multiply-accumulates", [layer["macs"] for layer in layers])
    numbers("live RAM", "bytes of the arena in use", [one["live_bytes"] for one in layers])
    numbers("scratch", "bytes of it that the kernel alone uses", [
        one["scratch_bytes"] for one in layers
    ])  # fmt: skip
    numbers("constants", "bytes of weights, biases and tables", [
        one["constants_bytes"] for one in layers
    ])  # fmt: skip
    files = {layer["source"].rpartition(":")[0] for layer in layers} - {""}
    if len(files) == 1:
        lines = (layer["source"].rpartition(":")[2] for layer in layers)
        cells = [Cell(line or "–", int(line) if line.isdecimal() else 0) for line in lines]
        columns.append((Column("line", f"of {files.pop()}", True), cells))
    else:
        words("source", "line of the model's files", lambda layer: str(layer["source"]))
    words("kernels", "functions that are called", lambda layer: ", ".join(
        dict.fromkeys(name.removeprefix("cortexm_") for name in layer["kernels"])
    ))  # fmt: skip
    header = tuple(column for column, _ in columns)
    return header, tuple(zip(*(cells for _, cells in columns), strict=True))


def _type_of(layer: dict[str, Any]) -> str:
    """Type and shape of a layer's result; the graph below has the order of its dimensions."""
    return str(layer["outputs"][0]).split(" order ")[0]


def time_text(cycles: tuple[float, float], megahertz: float) -> str:
    """An interval of cycles as time; page.js writes it the same way."""
    low, high = (value / megahertz for value in cycles)  # microseconds
    unit, scale = ("ms", 1000) if high >= 1000 else ("µs", 1)
    digits = 2 if high / scale < 10 else 1 if high / scale < 100 else 0
    return f"{low / scale:.{digits}f}–{high / scale:.{digits}f} {unit}"
