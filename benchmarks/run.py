#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the benchmark models on emulated cores and shows them beside the baseline.

    python benchmarks/run.py                        # the tables of docs/benchmarks.md
    python benchmarks/run.py --check                # exit 1 if a number differs from recorded.json
    python benchmarks/run.py --record               # write recorded.json and docs/benchmarks.md

Instructions are exact counts of the emulator, not cycles; they do not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from cortexm_tools.compile import CompileOptions  # noqa: E402
from cortexm_tools.errors import CortexMError  # noqa: E402
from cortexm_tools.program import Program, load_program  # noqa: E402
from cortexm_tools.run.bench import bench  # noqa: E402
from cortexm_tools.target import Target  # noqa: E402

MODELS = ("ds_cnn", "resnet8", "mobilenet_v1_025", "deep_autoencoder", "mobilenet_v2")
CORES = ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0")
RECORD = ROOT / "benchmarks" / "recorded.json"
PAGE = ROOT / "docs" / "benchmarks.md"
BASELINE = json.loads((ROOT / "benchmarks" / "baseline.json").read_text(encoding="utf-8"))

Row = dict[str, int]
Table = dict[str, dict[str, Row]]


def lower(name: str) -> Program:
    """The model lowered once; its .pte serves every core."""
    print(f"lowering {name}", file=sys.stderr, flush=True)
    path = ROOT / "benchmarks" / "models" / f"{name}.py"
    return load_program(path, name=name, target=Target.parse("cortex-m55"))


def measure(program: Program, cpu: str, folder: Path) -> Row:
    """One model on one core."""
    print(f"measuring {program.name} on {cpu}", file=sys.stderr, flush=True)
    data: dict[str, Any] = bench(program, CompileOptions(target=Target.parse(cpu)), work=folder)
    flash = data["flash_by_part"]
    return {
        "instructions": data["instructions"],
        "code_flash": sum(flash.values()) - flash["constants"],
        "constants": flash["constants"],
        "arena": data["ram"]["arena"],
        "stack": data["ram"]["stack"],
        "ram": data["ram"]["total"],
    }


def ratio(cpu: str, model: str, kind: str, value: int) -> float | None:
    base = BASELINE[kind].get(cpu, {}).get(model)
    return value / base if base else None


def page(results: Table) -> str:
    """docs/benchmarks.md."""
    lines = [
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        "<!-- Written by benchmarks/run.py --record. -->",
        "# Benchmarks",
        "",
        "`python benchmarks/run.py` prints these tables; `--check` compares with the recorded numbers,"
        " `--record` writes both.",
        "Instructions are exact counts of the emulator per inference, not cycles. Float inputs and"
        " outputs on both sides.",
        "",
        "The baseline (`benchmarks/baseline.json`): " + BASELINE["about"],
        "",
    ]
    for cpu, rows in results.items():
        lines += [
            f"## {cpu}",
            "",
            "| model | instructions | of baseline | code flash | of baseline "
            "| constants | RAM | of baseline |",
            "|---|---|---|---|---|---|---|---|",
        ]
        ratios = []
        for model, row in rows.items():
            speed = ratio(cpu, model, "instructions", row["instructions"])
            if speed:
                ratios.append(speed)
            lines.append(
                f"| {model} | {row['instructions']:,} | {_percent(speed)} "
                f"| {row['code_flash']:,} "
                f"| {_percent(ratio(cpu, model, 'code_flash', row['code_flash']))} "
                f"| {row['constants']:,} | {row['ram']:,} "
                f"| {_percent(ratio(cpu, model, 'ram', row['ram']))} |"
            )
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            lines += ["", f"Geometric mean of instructions: {mean:.2f} of the baseline's."]
        lines.append("")
    return "\n".join(lines)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def differences(recorded: Table, results: Table) -> list[str]:
    """Every number that changed, as ``core model number: old -> new``."""
    found = []
    for cpu, rows in results.items():
        for model, row in rows.items():
            before = recorded.get(cpu, {}).get(model, {})
            for kind, value in row.items():
                if before.get(kind) != value:
                    found.append(f"{cpu} {model} {kind}: {before.get(kind)} -> {value}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--cpus", default=",".join(CORES))
    parser.add_argument("--record", action="store_true", help="write recorded.json and the page")
    parser.add_argument("--check", action="store_true", help="fail if a number changed")
    args = parser.parse_args()
    results: Table = {cpu: {} for cpu in args.cpus.split(",")}
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name in args.models.split(","):
                program = lower(name)
                for cpu in results:
                    results[cpu][name] = measure(program, cpu, Path(folder))
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(page(results))
    if args.record:
        RECORD.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(results), encoding="utf-8")
    if args.check:
        changed = differences(json.loads(RECORD.read_text(encoding="utf-8")), results)
        print("\n".join(changed) or "no number changed", file=sys.stderr)
        return 1 if changed else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
