# SPDX-License-Identifier: Apache-2.0
"""`cortexm calibrate`: intervals of docs/cycles.md that fit measurements.

Of each core, the two readings of the costs stay the ends of a line; where on it a measurement lies is one
number, 0 at the optimistic reading and 1 at the pessimistic one. The new readings are the least and the
greatest of these numbers, with a margin that shrinks with the number of measurements: costs are not
fitted class by class, of which a handful of sums says too little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..documents import DAMAGE, json_of, read_file
from ..errors import CortexMError
from ..report import table
from ..target import CORES, Core, Cost
from .cycles import estimate
from .measured import read_measurement

FORMAT, VERSION = "cortexm-costs", 1
_MOST = 1e15  # instructions, or cycles of one
_MARGIN = 0.3  # of one measurement; half of it of two, and so on
_LEAST_MARGIN = 0.03


@dataclass(frozen=True)
class Point:
    """A measurement beside the estimate of today.

    Attributes:
        position: where between its ends it lies, 0 to 1 if it is inside.
    """

    board: str
    model: str
    core: Core
    cycles: int
    low: int
    high: int
    position: float

    @property
    def is_inside(self) -> bool:
        """Whether the estimate holds it."""
        return self.low <= self.cycles <= self.high


@dataclass(frozen=True)
class Fit:
    """The readings that hold the measurements of a core."""

    core: Core
    points: tuple[Point, ...]
    low: float
    high: float
    costs: Mapping[str, Cost]


def point_of(data: Mapping[str, Any], where: str) -> Point:
    """A measurement as a point.

    Raises:
        CortexMError: it says nothing of silicon, or nothing of instructions.
    """
    if data["emulated"]:
        raise CortexMError(
            "was measured on an emulator, whose cycles say nothing of a core", where=where
        )
    if not data["matched"]:
        raise CortexMError("has wrong outputs; its cycles are of another computation", where=where)
    cycles, mix = data.get("cycles"), data.get("mix")
    if not isinstance(cycles, int) or cycles <= 0:
        raise CortexMError("has no cycles: the board had no counter", where=where)
    if not isinstance(mix, dict) or not all(map(_is_count, mix.values())):
        raise CortexMError(
            "does not say which instructions were executed",
            where=where,
            hint="measure again where qemu-system-arm is installed: bench counts them there",
        )
    core = Core(data["cpu"])
    interval = estimate(core, mix)
    if interval is None or interval.high <= interval.low:
        raise CortexMError(f"there are no costs for {core.value} to fit", where=where)
    if not interval.low / 2 <= cycles <= 4 * interval.high:
        raise CortexMError(
            f"has {cycles:,} cycles where {interval.low:,} to {interval.high:,} are expected: no costs "
            "of instructions explain that",
            where=where,
            hint="is the counter that of the core's clock, and are code and weights in memory that the "
            "core reads without long waits?",
        )
    position = (cycles - interval.low) / (interval.high - interval.low)
    name = str(data["model"].get("name", ""))
    return Point(str(data["board"]), name, core, cycles, interval.low, interval.high, position)


def fit(points: Sequence[Point]) -> Fit:
    """The readings for points of one core."""
    core = points[0].core
    margin = max(_LEAST_MARGIN, _MARGIN / len(points))
    low = min(point.position for point in points) - margin
    high = max(point.position for point in points) + margin
    costs = {
        kind: (
            round(max(0.0, a + low * (b - a)), 3),
            round(max(0.0, a + high * (b - a)), 3),
        )
        for kind, (a, b) in CORES[core].cycles.items()
    }
    return Fit(core, tuple(points), low, high, costs)


def calibrate(paths: Sequence[Path]) -> list[Fit]:
    """The fit of each core in the measurements.

    Raises:
        CortexMError: a file is no measurement of silicon.
    """
    points = [point_of(read_measurement(path), str(path)) for path in paths]
    cores = sorted({point.core for point in points}, key=list(CORES).index)
    return [fit([point for point in points if point.core is core]) for core in cores]


def costs_data(fits: Sequence[Fit]) -> dict[str, Any]:
    """The file of ``--out``, which bench --cycles reads."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "cores": {
            each.core.value: {
                "readings": [round(each.low, 3), round(each.high, 3)],
                "measurements": [
                    {"board": p.board, "model": p.model, "cycles": p.cycles} for p in each.points
                ],
                "cycles": {kind: list(cost) for kind, cost in each.costs.items()},
            }
            for each in fits
        },
    }


def read_costs(path: Path) -> dict[Core, dict[str, Cost]]:
    """Costs by core, from a file of ``calibrate --out``.

    Raises:
        CortexMError: it is no such file.
    """
    try:
        data = json_of(read_file(path))
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise ValueError
        return {Core(name): _costs(row["cycles"]) for name, row in data["cores"].items()}
    except DAMAGE:
        raise CortexMError(
            "has no costs", where=str(path), hint="cortexm calibrate --out writes them"
        ) from None


def _is_count(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value < _MOST


def _costs(cycles: Mapping[str, Any]) -> dict[str, Cost]:
    """Raises a ValueError or another of DAMAGE for what are no costs."""
    found = {kind: (float(low), float(high)) for kind, (low, high) in cycles.items()}
    if "alu" not in found or not all(0 <= low <= high < _MOST for low, high in found.values()):
        raise ValueError
    return found


def calibration_text(fits: Sequence[Fit]) -> str:
    """The fits for people."""
    parts = []
    for each in fits:
        rows = [
            (
                point.board,
                point.model,
                point.cycles,
                f"{point.low:,} to {point.high:,}",
                f"{point.position:.2f}",
                "inside" if point.is_inside else "OUTSIDE",
            )
            for point in each.points
        ]
        count = len(rows)
        parts.append(
            f"{each.core.value}, {count} measurement{'s' if count > 1 else ''}\n"
            + table(("board", "model", "cycles", "estimate of today", "position", ""), rows)
            + f"\nfitted: {each.low:.2f} to {each.high:.2f} of the way from the optimistic to the "
            "pessimistic reading"
        )
    return "\n\n".join(parts)
