# SPDX-License-Identifier: Apache-2.0
"""Measures what OPTIMIZE size, balanced and speed give.

python -m benchmarks.optimize                   # the tables of docs/optimize.md
python -m benchmarks.optimize --record          # write optimize.json and docs/optimize.md
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from cortexm_tools.compile import CompileOptions
from cortexm_tools.errors import CortexMError
from cortexm_tools.program import Program
from cortexm_tools.run.bench import bench
from cortexm_tools.target import Optimize, Target

from benchmarks import ROOT, run

MODELS = ("ds_cnn", "resnet8", "deep_autoencoder")
CORES = ("cortex-m55", "cortex-m4", "cortex-m0")
LEVELS = (Optimize.SIZE, Optimize.BALANCED, Optimize.SPEED)
RECORD = ROOT / "benchmarks" / "optimize.json"
PAGE = ROOT / "docs" / "optimize.md"

Row = dict[str, int]
Table = dict[str, dict[str, dict[str, Row]]]  # by core, model, level


def measure(program: Program, cpu: str, level: Optimize, folder: Path) -> Row:
    """One model on one core."""
    print(f"measuring {program.name} on {cpu} for {level.value}", file=sys.stderr, flush=True)
    options = replace(CompileOptions(target=Target.parse(cpu)), optimize=level)
    data: dict[str, Any] = bench(program, options, work=folder / level.value)
    flash = data["flash_by_part"]
    return {
        "instructions": data["instructions"],
        "kernels": flash["kernels"],
        "code_flash": sum(flash.values()) - flash["constants"],
        "constants": flash["constants"],
        "ram": data["ram"]["total"],
    }


def page(results: Table) -> str:
    """docs/optimize.md."""
    lines = [
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<!-- Written by benchmarks/optimize.py --record. -->",
        "# OPTIMIZE, measured",
        "",
        "What the choice does is said in [cmake.md](cmake.md#optimize). `python -m "
        "benchmarks.optimize` prints these tables; the columns are those of "
        "[benchmarks.md](benchmarks.md).",
        "",
    ]
    for cpu, models in results.items():
        lines += [
            f"## {cpu}",
            "",
            "| model | OPTIMIZE | instructions | of balanced | kernels | code flash | constants | RAM |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for model, rows in models.items():
            for level, row in rows.items():
                share = row["instructions"] / rows[Optimize.BALANCED.value]["instructions"]
                lines.append(
                    f"| {model} | {level} | {row['instructions']:,} | {share:.3f} "
                    f"| {row['kernels']:,} | {row['code_flash']:,} | {row['constants']:,} "
                    f"| {row['ram']:,} |"
                )
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--cpus", default=",".join(CORES))
    parser.add_argument("--record", action="store_true", help="write optimize.json and the page")
    args = parser.parse_args()
    results: Table = {cpu: {} for cpu in args.cpus.split(",")}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name in args.models.split(","):
                program = run.lower(name)
                for cpu in results:
                    results[cpu][name] = {
                        level.value: measure(program, cpu, level, Path(folder)) for level in LEVELS
                    }
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(page(results))
    if args.record:
        RECORD.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
