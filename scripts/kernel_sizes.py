#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes kernels/code_sizes.json: bytes of machine code of the kernels.

    python scripts/kernel_sizes.py            # compile each with arm-none-eabi-gcc -Os, and write
    python scripts/kernel_sizes.py --check    # exit 1 if one is missing, or of every fourth half off

MVE variants are compiled for a Cortex-M55, v6m ones for a Cortex-M0, the others for a Cortex-M4. Adapters
count with all that they take of CMSIS-NN, if CMSIS_NN_ROOT names a checkout; else theirs stay as they are.
Plans weigh them against instructions (plan/choose/kernels.py), so a few bytes do not matter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
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
FLOATS = ("_f16", "_f32", "_flt")  # sources of CMSIS-NN that are for nothing else
OPTIONS = ["-Os", "-std=c11", "-fwrapv", "-ffp-contract=off"]


def compiled(files: list[Path], isa: str, folder: Path, *options: str) -> list[str]:
    """The names of the object files of sources."""
    target = Target.parse(CORE[isa])
    core = CORES[target.core].flags[target.isa]
    includes = [f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}"]
    compiler = ["arm-none-eabi-gcc", *core, *OPTIONS, *includes, *options]
    subprocess.run([*compiler, "-c", *map(str, files)], cwd=folder, check=True)
    return [f"{file.stem}.o" for file in files]


def sizes_of(files: list[str], folder: Path) -> dict[str, int]:
    """Bytes of code and constants of objects or images, by the kernels whose names they have."""
    command = ["arm-none-eabi-size", *files]
    sizes = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    rows = map(str.split, sizes.stdout.splitlines()[1:])
    return {"cortexm_" + row[-1].rpartition(".")[0]: int(row[0]) for row in rows}


def code_sizes(rows: list[Row], table: dict[str, Any], folder: Path) -> dict[str, int]:
    """Bytes of code and constants of each kernel."""
    found = {}
    for isa in sorted({row["isa"] for row in rows}):
        files = [source(row, table, KERNELS, folder) for row in rows if row["isa"] == isa]
        found |= sizes_of(compiled(files, isa, folder), folder)
    return {name: found[name] for name in (f"cortexm_{row['name']}" for row in rows)}


def library_sizes(
    rows: list[Row], table: dict[str, Any], root: Path, folder: Path
) -> dict[str, int]:
    """Those of adapters, linked with a checkout of CMSIS-NN and with nothing else."""
    files = [source(row, table, KERNELS, folder) for row in rows]
    options = (
        "-ffunction-sections",
        "-w",
        f"-I{root / 'Include'}",
        f"-I{KERNELS / 'src/cmsis_nn'}",
    )
    library = [f for f in sorted((root / "Source").rglob("*.c")) if f.stem[-4:] not in FLOATS]
    names = compiled([*files, *library], "dsp", folder, *options)
    link = ["arm-none-eabi-gcc", "-nostdlib", "-Wl,--gc-sections,--unresolved-symbols=ignore-all"]
    for row in rows:
        images = [f"-Wl,-e,cortexm_{row['name']}", "-o", f"{row['name']}.elf"]
        subprocess.run([*link, *images, *names], cwd=folder, check=True)
    return sizes_of([f"{row['name']}.elf" for row in rows], folder)


def main() -> int:
    table = json.loads((KERNELS / "kernels.json").read_text(encoding="utf-8"))
    is_check = "--check" in sys.argv[1:]
    known = json.loads(SIZES.read_text(encoding="utf-8")) if SIZES.is_file() else {}
    with tempfile.TemporaryDirectory() as folder:
        rows = list(expand(table["kernels"]))
        some = rows[::4] if is_check else rows
        sizes = {name: known.get(name, 1) for name in (f"cortexm_{row['name']}" for row in rows)}
        sizes |= code_sizes(some, table, Path(folder))
        adapters = list(expand(table["adapters"]))
        if root := os.environ.get("CMSIS_NN_ROOT"):
            sizes |= library_sizes(adapters, table, Path(root), Path(folder))
        else:
            sizes |= {name: known[name] for name in (f"cortexm_{row['name']}" for row in adapters)}
    changed = [name for name in sizes | known if _differ(sizes.get(name, 0), known.get(name, 0))]
    for name in changed:
        print(f"{name}: {known.get(name)} -> {sizes.get(name)}")
    if is_check:
        return 1 if changed else 0
    SIZES.write_text(json.dumps(sizes, indent=1) + "\n", encoding="utf-8")
    return 0


def _differ(a: int, b: int) -> bool:
    return abs(a - b) * 2 > max(a, b)


if __name__ == "__main__":
    sys.exit(main())
