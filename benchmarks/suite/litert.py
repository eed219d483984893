# SPDX-License-Identifier: Apache-2.0
"""The tables of .tflite files beside TensorFlow Lite Micro with CMSIS-NN, in docs/benchmarks.md."""

from __future__ import annotations

import statistics
from typing import Any

from .measure import Row, ram_of
from benchmarks import ROOT

RECORD = ROOT / "benchmarks" / "litert.json"
WAYS = ("ours", "size")  # as every build is, and with OPTIMIZE size

Table = dict[str, dict[str, Row]]  # by core and file
Pair = tuple[int, int | None]  # ours, and TFLM's if it was measured

_ABOUT = (
    "`python -m benchmarks.litert FILE.tflite…` measures files and prints them beside the figures "
    "of TFLM in `benchmarks/litert.json`, which says where these files are from; with `--record` it "
    "writes them here. Code flash has start-up code and runner on both sides. RAM is arena, "
    "variables, and the stack: of ours what no call exceeds. The build takes out channels that make "
    "no difference, of which vww_96_int8 has many. `OPTIMIZE size` gives less RAM and flash for more "
    "instructions, where the default weighs them."
)


def pairs(ours: Table, peer: Table, cpu: str) -> dict[str, list[Pair]]:
    """Of each file instructions, code flash, constants and RAM."""
    found: dict[str, list[Pair]] = {}
    for name, row in ours.get(cpu, {}).items():
        other = peer[cpu].get(name)
        ram = sum(other[part] for part in ("arena", "variables", "stack")) if other else None
        kinds = ("instructions", "code_flash", "constants")
        found[name] = [(row[kind], other[kind] if other else None) for kind in kinds]
        found[name].append((ram_of(row), ram))
    return found


def means(rows: dict[str, list[Pair]]) -> list[float]:
    """The geometric mean of each column's ratios; none if TFLM has no row."""
    both = [[ours / peer for ours, peer in row if peer] for row in rows.values()]
    return [statistics.geometric_mean(ratios) for ratios in zip(*filter(None, both), strict=True)]


def section(record: dict[str, Any], tables: dict[str, Table]) -> str:
    """Rows of ours beside those of TFLM, a table for each core; `tables` has those of each of WAYS."""
    columns = ("instructions", "code flash", "constants", "RAM")
    header = ["file", *(word for name in columns for word in (name, "TFLM's", "ratio"))]
    lines = ["## TFLite Micro", "", f"{_ABOUT} Ours: {record['compiler']}. TFLM: {record['peer']}"]
    for cpu in record["tflm"]:
        if not (rows := pairs(tables["ours"], record["tflm"], cpu)):
            continue
        lines += ["", f"### TFLite Micro, {cpu}", ""]
        lines += [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
        for name, row in rows.items():
            cells = [(f"{a:,}", f"{b:,}" if b else "", f"{a / b:.2f}" if b else "") for a, b in row]
            lines.append(f"| {' | '.join([name, *(text for cell in cells for text in cell)])} |")
        for way, name in zip(WAYS, ("geometric mean", "with `OPTIMIZE size`"), strict=True):
            found = means(pairs(tables[way], record["tflm"], cpu))
            lines += [f"| {name} |" + "".join(f" | | {mean:.2f} |" for mean in found)] * bool(found)
    return "\n".join(lines) + "\n"
