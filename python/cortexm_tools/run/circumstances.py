# SPDX-License-Identifier: Apache-2.0
"""Cycles on silicon with what they depend on: counter, clock, wait states, caches."""

from __future__ import annotations

from statistics import median
from typing import Any

from .probe.silicon import silicon
from .result import Measured


def measured_data(found: Measured) -> dict[str, Any]:
    """The circumstances and the cycles, without layers."""
    return {
        "how": found.how,
        "core": found.core,
        "emulated": found.emulated,
        "counter": found.counter,
        "cycles": round(median(found.cycles)) if found.cycles else None,
        "cycles_each": list(found.cycles),
        "clock": {
            "hz": found.declared_hz,
            "found_hz": None
            if found.clock_hz is None or found.emulated
            else round(found.clock_hz, -3),
            "source": found.clock_source,
        },
        "wait_states": found.wait_states,
        "caches": None
        if found.caches is None
        else {"instruction": found.caches[0], "data": found.caches[1]},
    }


def measured_lines(data: dict[str, Any]) -> list[str]:
    """The same for people."""
    if data["counter"] == "none":
        lines = ["no cycle counter here: neither the PMU, nor DWT's CYCCNT, nor SysTick counts"]
    else:
        each = data["cycles_each"]
        lines = [
            f"{data['cycles']:,} cycles per inference ({data['counter']}; median of {len(each)}, "
            f"{min(each):,} to {max(each):,})" + _time(data)
        ]
    lines.append(f"clock {_clock(data)}; wait states {_wait_states(data)}; {_caches(data)}")
    if data["emulated"]:
        lines.append(
            "this is QEMU, no silicon: cycles are ticks of its clock, and say nothing of a chip"
        )
    return lines


def _hz(value: float) -> str:
    return f"{value / 1e6:.2f} MHz"


def _time(data: dict[str, Any]) -> str:
    hz = data["clock"]["hz"] or data["clock"]["found_hz"]
    if not hz or data["emulated"]:
        return ""
    return f", {data['cycles'] / hz * 1e3:.3f} ms"


def _clock(data: dict[str, Any]) -> str:
    clock = data["clock"]
    said = f"{_hz(clock['hz'])} as declared" if clock["hz"] else "not declared"
    if clock["source"]:
        said += f" ({clock['source']})"
    if data["emulated"] or not clock["found_hz"]:
        return said
    said += f", {_hz(clock['found_hz'])} as found"
    if clock["hz"] and not 0.9 < clock["found_hz"] / clock["hz"] < 1.1:
        said += ": THESE DIFFER, --clock or the board's entry is wrong"
    return said


def _wait_states(data: dict[str, Any]) -> str:
    return "not known" if data["wait_states"] is None else f"{data['wait_states']} as found"


def _caches(data: dict[str, Any]) -> str:
    if data["caches"] is None:
        return "no caches found"
    words = [f"{name} {'on' if is_on else 'off'}" for name, is_on in data["caches"].items()]
    return f"caches as found: {', '.join(words)}"


def tried_line(board: str, emulated: bool) -> str:
    """What is known of this project's experience with a board."""
    row = silicon().get(board)
    if emulated or (row is not None and row.tried):
        return ""
    return (
        f"nobody has told this project yet that {board} works: docs/boards.md says how to contribute "
        "a measurement"
    )
