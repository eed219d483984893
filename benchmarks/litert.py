# SPDX-License-Identifier: Apache-2.0
"""Measures .tflite files on emulated cores beside TensorFlow Lite Micro with CMSIS-NN.

    python -m benchmarks.litert FILE.tflite…             # their rows of the tables
    python -m benchmarks.litert FILE.tflite… --record    # write litert.json and docs/litert.md
    python -m benchmarks.litert                          # the recorded tables

litert.json knows the files by their digests and says where each is from, and how TFLM was measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from cortexm_tools.errors import CortexMError
from cortexm_tools.program import load_program
from cortexm_tools.target import Target

from benchmarks import ROOT
from benchmarks.run import chosen
from benchmarks.suite.measure import Row, compiler_version, measure, ram_of

RECORD = ROOT / "benchmarks" / "litert.json"
PAGE = ROOT / "docs" / "litert.md"
BLOCK = re.compile(r"(<!-- peer: begin -->\n).*?(<!-- peer: end -->)", re.DOTALL)

Table = dict[str, dict[str, Row]]  # by core and file
Pair = tuple[int, int | None]  # ours, and TFLM's if it was measured


def measured(files: list[Path], cpus: list[str], known: dict[str, Any]) -> Table:
    """A row for every core and file; files that are not known keep their suffix in their name.

    Raises:
        CortexMError: a file is none, or its build or run fails.
    """
    rows: Table = {cpu: {} for cpu in cpus}
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            program = load_program(file, name="model", target=Target.parse(cpus[0]))
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            name = known.get(digest, {"name": file.name})["name"]
            for cpu in cpus:
                print(f"{name}:", end=" ", file=sys.stderr)
                rows[cpu][name] = measure(program, "as it is", cpu, Path(folder))
    return rows


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


def tables(record: dict[str, Any], ours: Table) -> str:
    """Rows of ours beside those of TFLM, a table for each core."""
    columns = ("instructions", "code flash", "constants", "RAM")
    header = ["file", *(word for name in columns for word in (name, "TFLM's", "ratio"))]
    lines = [f"Ours: {record['compiler']}. TFLM: {record['peer']}"]
    for cpu in record["tflm"]:
        if not (rows := pairs(ours, record["tflm"], cpu)):
            continue
        lines += ["", f"### {cpu}", "", f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
        for name, row in rows.items():
            cells = [(f"{a:,}", f"{b:,}" if b else "", f"{a / b:.2f}" if b else "") for a, b in row]
            lines.append(f"| {' | '.join([name, *(text for cell in cells for text in cell)])} |")
        if found := means(rows):
            lines.append("| geometric mean |" + "".join(f" | | {mean:.2f} |" for mean in found))
    return "\n".join(lines) + "\n"


def main() -> int:
    record = json.loads(RECORD.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.tflite")
    parser.add_argument("--cpus", default=",".join(record["tflm"]))
    parser.add_argument("--record", action="store_true", help="write litert.json and the tables")
    args = parser.parse_args()
    try:
        cpus = chosen(args.cpus, tuple(record["tflm"]))
        ours = measured(args.files, cpus, record["files"]) if args.files else record["ours"]
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    record["compiler"] = compiler_version() if args.files else record["compiler"]
    print(tables(record, ours), end="")
    if args.record:
        names = [file["name"] for file in record["files"].values()]
        for cpu in ours:
            rows = {**record["ours"].get(cpu, {}), **ours[cpu]}
            record["ours"][cpu] = {name: rows[name] for name in names if name in rows}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        text = tables(record, record["ours"])
        page = BLOCK.sub(lambda found: found[1] + text + found[2], PAGE.read_text("utf-8"))
        PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
