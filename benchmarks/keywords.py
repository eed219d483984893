# SPDX-License-Identifier: Apache-2.0
"""Measures samples/keyword-spotting: the table of its README.

    python -m benchmarks.keywords                       # on every core
    python -m benchmarks.keywords --cpus cortex-m4

Instructions of a call, counted on the emulated board, and of a second of sound; the share of a core at
80 MHz by the estimate of cycles (docs/cycles.md), from its optimistic to its pessimistic end; RAM and
flash of the image.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from cortexm_tools.compile import CompileOptions
from cortexm_tools.options.stream import Stream
from cortexm_tools.program import load_program
from cortexm_tools.run.bench import bench
from cortexm_tools.target import Target

from benchmarks import ROOT

CORES = ("cortex-m55", "cortex-m4", "cortex-m3", "cortex-m0")
MODEL = ROOT / "samples" / "keyword-spotting" / "keyword_spotting.py"
RATE, HOP = 16000, 320  # samples in a second and in a call, as in its CMakeLists.txt
CLOCK = 80_000_000  # Hz


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpus", nargs="+", default=CORES, choices=CORES)
    cpus = parser.parse_args(arguments).cpus
    name = "keyword_spotting"
    program = load_program(MODEL, name=name, target=Target.parse("cortex-m55"))
    calls = RATE // HOP
    print("| core | instructions a call | a second | of 80 MHz, estimate | RAM | flash |")
    print("|---|---|---|---|---|---|")
    for cpu in cpus:
        options = CompileOptions(target=Target.parse(cpu), stream=Stream(1, HOP), io_codes=True)
        with tempfile.TemporaryDirectory() as folder:
            data = bench(program, options, work=Path(folder))
        count, ram, cycles = data["instructions"], data["ram"], data["estimate"]
        flash = sum(data["flash_by_part"].values())
        low, high = (100 * calls * cycles[f"cycles_{end}"] / CLOCK for end in ("low", "high"))
        print(
            f"| {cpu} | {count:,} | {calls * count:,} | {low:.1f} – {high:.1f} % "
            f"| {ram['total']:,} | {flash:,} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
