# SPDX-License-Identifier: Apache-2.0
"""Measures samples/tiny-language-model: the table of its README.

    python -m benchmarks.language                       # on both cores
    python -m benchmarks.language --cpus cortex-m4

Instructions of a character, counted on the emulated board, and of a product of its layers; characters a
second of a core at 80 MHz by the estimate of cycles (docs/cycles.md), from its pessimistic to its
optimistic end; RAM, of it the caches, and flash of the image.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from cortexm_tools.compile import CompileOptions
from cortexm_tools.program import load_program
from cortexm_tools.run.bench import bench
from cortexm_tools.target import Target

from benchmarks import ROOT

CORES = ("cortex-m55", "cortex-m4")
MODEL = ROOT / "samples" / "tiny-language-model" / "tiny_language_model.py"
CLOCK = 80_000_000  # Hz


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpus", nargs="+", default=CORES, choices=CORES)
    parser.add_argument("--pte", type=Path, help="of the sample, in place of lowering it")
    given = parser.parse_args(arguments)
    name = "tiny_language_model"
    program = load_program(given.pte or MODEL, name=name, target=Target.parse("cortex-m55"))
    print(
        "| core | instructions | per MAC | characters a second, estimate | RAM | caches | flash |"
    )
    print("|---|---|---|---|---|---|---|")
    for cpu in given.cpus:
        options = CompileOptions(target=Target.parse(cpu), io_codes=True)
        with tempfile.TemporaryDirectory() as folder:
            data = bench(program, options, work=Path(folder))
        count, ram, cycles = data["instructions"], data["ram"], data["estimate"]
        flash = sum(data["flash_by_part"].values())
        low, high = (CLOCK / cycles[f"cycles_{end}"] for end in ("high", "low"))
        print(
            f"| {cpu} | {count:,} | {count / data['macs']:.2f} | {low:.0f} – {high:.0f} "
            f"| {ram['total']:,} | {ram['state']:,} | {flash:,} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
