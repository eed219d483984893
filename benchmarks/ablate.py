# SPDX-License-Identifier: Apache-2.0
"""What kernels save: plans and runs the programs of goldens.py with and without them.

    python -m benchmarks.ablate softmax_table_s8_dsp
    python -m benchmarks.ablate 'conv2d_depthwise*_f32_*' --cpus cortex-m55 --only 'float/*'

Each plan does without all of them: they are taken out of the table in the process. Prints the programs whose
plans change with their instructions and bytes of code, how much costs grow in all as goldens.py does, and the
instructions that each line saves of the source that no other kernel needs. A line belongs to the kernels for
which the preprocessor keeps it; a directive or an empty line to those of the line before.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path

from cortexm_tools.errors import CortexMError
from cortexm_tools.kernels.rows import sources
from cortexm_tools.plan.kernels import table as of_kernels
from cortexm_tools.report.tables import table
from cortexm_tools.target import Isa, Target

from benchmarks import ROOT, goldens, programs
from benchmarks.goldens import COSTS, Rows, measured, percent, ratio
from tests.support.cores import cross_compiler

KERNELS = ROOT / "kernels"
_CORE = {Isa.MVE: "cortex-m55", Isa.V6M: "cortex-m0"}
_PLACE = re.compile(r'# (\d+) "(.*)"')


def take_out(symbols: set[str]) -> None:
    """Of the table of kernels, in this process."""
    whole = of_kernels.kernels
    of_kernels.kernels = cache(
        lambda part="kernels": tuple(k for k in whole(part) if k.symbol not in symbols)
    )
    of_kernels.variants.cache_clear()


def kept(source: Path, isa: Isa) -> set[tuple[str, int]]:
    """The lines that the preprocessor keeps of the files of a kernel."""
    compiler = cross_compiler(_CORE.get(isa, "cortex-m4"))
    options = ["-E", "-fdirectives-only", *(f"-I{KERNELS / name}" for name in ("include", "src"))]
    command = [*compiler, *options, str(source)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found, file, number = set(), "", 0
    for line in done.stdout.splitlines():
        if place := _PLACE.match(line):
            number, file = int(place[1]) - 1, place[2]
        elif line.strip() and file.startswith(str(KERNELS)):
            found.add((file, number))
        number += 1
    return found


def lines_of(symbols: set[str]) -> int:
    """The lines of kernels/ that no other kernel needs."""
    isas = {kernel.symbol: kernel.isa for kernel in of_kernels.kernels()}
    with tempfile.TemporaryDirectory() as stamps, ThreadPoolExecutor(programs.WORKERS) as pool:
        files = sources(KERNELS, Path(stamps))
        each = pool.map(kept, files.values(), [isas[symbol] for symbol in files])
        lines = dict(zip(files, each, strict=True))
    own = set().union(*(lines[symbol] for symbol in symbols))
    others = set().union(*(lines[symbol] for symbol in lines.keys() - symbols))
    count = 0
    for file in {file for file, _ in own}:
        is_own = False
        for number in range(1, Path(file).read_bytes().count(b"\n") + 1):
            place = (file, number)
            is_own = place not in others and (is_own or place in own)
            count += is_own
    return count


def show(before: Rows, after: Rows, changed: list[str], lines: int) -> None:
    """Prints what the kernels save: rows of all programs with and without them."""
    growth = {key: ratio(before[key], after[key], "instructions") for key in changed}
    cells = [
        [
            *key.split(),
            *(rows[key][c] for c in COSTS[:2] for rows in (before, after)),
            percent(more),
        ]
        for key, more in sorted(growth.items(), key=lambda item: item[1])
    ]
    print(table(("program", "core", "instructions", "without", "code", "without", "grow"), cells))
    header, *means = goldens.compared(before, after)
    print("\n" + table(header, means))
    for cpu in {key.split()[1]: None for key in before}:
        keys = [key for key in changed if key.endswith(f" {cpu}")]
        saved = sum(after[key]["instructions"] - before[key]["instructions"] for key in keys)
        print(f"{cpu}: {saved:,} instructions, {saved / max(1, lines):,.1f} for each line")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="+", metavar="KERNEL", help="names or globs")
    goldens.add_choices(parser)
    args = parser.parse_args()
    found = {
        kernel.symbol: kernel.isa
        for kernel in of_kernels.kernels()
        if any(fnmatchcase(kernel.symbol.removeprefix("cortexm_"), glob) for glob in args.kernels)
    }
    if not found:
        parser.error("no kernel has such a name")
    cpus = [cpu for cpu in args.cpus if {*found.values()} & {*Target.parse(cpu).runs}]
    both = (None, partial(take_out, {*found}))
    try:
        names = programs.names(args.only)
        folder = programs.prepared(names)
        keys = [f"{name} {cpu}" for name in names for cpu in cpus]
        plans, without = (measured(keys, folder, "plans", start) for start in both)
        planned = {key: row for key, row in without.items() if "error" not in row}
        changed = goldens.unlike(plans, planned, "plan", "kernels")
        # What does not change costs the same, whatever that is.
        same = {key: plans[key] | dict.fromkeys(("outputs", *COSTS), 1) for key in planned}
        before, after = (same | measured(changed, folder, "costs", start) for start in both)
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    lines = lines_of({*found})
    print(f"kernels: {len(found)}, lines that no others need: {lines:,}, ", end="")
    print(f"plans that are others without them: {len(changed)} of {len(keys)}")
    for key in sorted(without.keys() - planned.keys()):
        print(f"no plan without them: {key}: {without[key]['error']}")
    if changed:
        show(before, after, changed, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
