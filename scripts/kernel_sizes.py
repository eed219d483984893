#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes kernels/code_sizes.json: bytes of machine code of the kernels that have variants.

    python scripts/kernel_sizes.py            # compile each with arm-none-eabi-gcc -Os, and write
    python scripts/kernel_sizes.py --check    # exit 1 if one is more than half off

MVE variants are compiled for a Cortex-M55, v6m ones for a Cortex-M0, the others for a Cortex-M4.
OPTIMIZE size weighs these numbers against one another (plan/search/least_flash.py), so a few bytes
do not matter.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from checkout import ROOT

from cortexm_tools.kernels.rows import Row, expand, source
from cortexm_tools.target import CORES, Target

KERNELS = ROOT / "kernels"
SIZES = KERNELS / "code_sizes.json"
CORE = {
    "scalar": "cortex-m4",
    "v6m": "cortex-m0",
    "v7m": "cortex-m4",
    "dsp": "cortex-m4",
    "mve": "cortex-m55",
}
OPTIONS = ["-Os", "-std=c11", "-fwrapv", "-ffp-contract=off"]


def code_sizes(rows: list[Row], table: dict[str, Any], folder: Path) -> dict[str, int]:
    """Bytes of code and constants of each kernel."""
    found = {}
    for isa in sorted({row["isa"] for row in rows}):
        files = [source(row, table, KERNELS, folder) for row in rows if row["isa"] == isa]
        target = Target.parse(CORE[isa])
        core = CORES[target.core].flags[target.isa]
        includes = [f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}"]
        compiler = ["arm-none-eabi-gcc", *core, *OPTIONS, *includes]
        subprocess.run([*compiler, "-c", *map(str, files)], cwd=folder, check=True)
        objects = [f"{file.stem}.o" for file in files]
        sizes = subprocess.run(
            ["arm-none-eabi-size", *objects],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        for line in sizes.stdout.splitlines()[1:]:
            words = line.split()
            found["cortexm_" + words[-1].removesuffix(".o")] = int(words[0])
    return {name: found[name] for name in (f"cortexm_{row['name']}" for row in rows)}


def main() -> int:
    table = json.loads((KERNELS / "kernels.json").read_text(encoding="utf-8"))
    rows = list(expand(table["kernels"]))
    variants = Counter((row.get("of", row["op"]), row["types"]) for row in rows)
    known = json.loads(SIZES.read_text(encoding="utf-8")) if SIZES.is_file() else {}
    with tempfile.TemporaryDirectory() as folder:
        several = [row for row in rows if variants[row.get("of", row["op"]), row["types"]] > 1]
        sizes = code_sizes(several, table, Path(folder))
    changed = [name for name in sizes | known if _differ(sizes.get(name, 0), known.get(name, 0))]
    for name in changed:
        print(f"{name}: {known.get(name)} -> {sizes.get(name)}")
    if "--check" in sys.argv[1:]:
        return 1 if changed else 0
    SIZES.write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")
    return 0


def _differ(a: int, b: int) -> bool:
    return abs(a - b) * 2 > max(a, b)


if __name__ == "__main__":
    sys.exit(main())
