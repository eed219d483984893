# SPDX-License-Identifier: Apache-2.0
"""tests/networks/recorded.json: what the networks cost when it was written, and docs/networks.md, the
table made of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cortexm_tools.run.image import COMPILER

from .corpus import KINDS, SAMPLES, Network, networks
from .measured import Row, other_core

RECORD = Path(__file__).parent / "recorded.json"
PAGE = Path(__file__).parents[2] / "docs" / "networks.md"
REFRESH = "python -m tests.networks --record writes the new numbers, if they are meant to be so"

# The clock by which the boards count is read to within eight instructions (board_measure.c).
_CLOCK = 16
# Another machine may lower to other codes, whose numbers differ a little.
_OTHER_PROGRAM = 0.02
# Decibels, where the program is the recorded one and where it is not.
_DECIBELS = 0.5, 2.0

_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by python -m tests.networks --record. -->
# Networks

{count} small networks of the kinds that people bring, as they would write them in PyTorch: `tests/networks`.
CI lowers each, runs it on the emulated Cortex-M55 and on one other core, and compares every byte with
the interpreter. The numbers are those of the M55 with float inputs and outputs:

* **cores**: where it runs in CI;
* **int8**: of the operators that compute, how many do so in int8 (moves and conversions are not counted);
* **instr./MAC**: executed instructions by multiply-accumulates; **kinstr.**: the former, in thousands;
* **RAM**: bytes of arena, state, variables and the bound on the stack;
* **flash**: bytes of code, with the kernels and parts of the C library that it takes, and constants;
* **dB**: signal-to-quantization-noise ratio of the quantized against the float network over
  {samples} inputs, of the output where it is lowest. Weights are seeded and mostly not trained, so
  this says little about accuracy.

Compiler: {compiler}. `python -m tests.networks --check` compares with the recorded numbers,
`--record` writes `tests/networks/recorded.json` and this page.
"""


def compiler() -> str:
    """The compiler that sizes and counts depend on."""
    done = subprocess.run([COMPILER, "-dumpfullversion"], capture_output=True, text=True)
    return f"{COMPILER} {done.stdout.strip()}"


def load() -> tuple[str, dict[str, Row]]:
    """The compiler and the rows by network."""
    data = json.loads(RECORD.read_text(encoding="utf-8"))
    return data["compiler"], data["networks"]


def save(rows: dict[str, Row]) -> None:
    """Writes the record and the page."""
    ordered = {name: rows[name] for name in networks() if name in rows}
    data = {"compiler": compiler(), "networks": ordered}
    RECORD.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


def _not_in_int8(row: Row) -> int:
    return int(row.get("operators") or 0) - int(row.get("int8") or 0)


def changes(before: Row, after: Row) -> tuple[list[str], list[str]]:
    """What is worse than recorded, and what is better: "instructions: 1,000 -> 1,100"."""
    other = before["program"] != after["program"]
    share = _OTHER_PROGRAM if other else 0.0
    worse: list[str] = []
    better: list[str] = []
    for key, old in before.items():
        new = after[key]
        if key == "program" or old == new:
            continue
        if not isinstance(old, int | float) or not isinstance(new, int | float):
            worse.append(f"{key}: {old} -> {new}")
            continue
        allowed = share * abs(old)
        if key == "decibels":
            allowed = _DECIBELS[other]
        elif key == "instructions":
            allowed = max(allowed, _CLOCK)
        if abs(new - old) <= allowed:
            continue
        grew = new > old
        good = grew if key == "decibels" else not grew
        if key == "int8":  # fewer where several operators became one
            good = grew or _not_in_int8(after) <= _not_in_int8(before)
        (better if good else worse).append(f"{key}: {old:,} -> {new:,}")
    return worse, better


def page() -> str:
    """docs/networks.md."""
    made_with, rows = load()
    found = networks()
    parts = [_HEAD.format(count=len(found), samples=SAMPLES, compiler=made_with)]
    for kind in KINDS:
        nets = [net for net in found.values() if net.kind == kind]
        parts.append(f"## {kind.replace('_', ' ').capitalize()}\n")
        parts += [*_table(nets, rows), ""]
    return "\n".join(parts).rstrip() + "\n"


def _table(nets: list[Network], rows: dict[str, Row]) -> Iterator[str]:
    header = ("network", "cores", "int8", "instr./MAC", "kinstr.", "RAM", "flash", "dB")
    yield "| " + " | ".join(header) + " |"
    yield "|" + "---|" * len(header)
    for net in nets:
        yield "| " + " | ".join((f"{net.name}: {net.about}", *_cells(net, rows))) + " |"


def _cells(net: Network, rows: dict[str, Row]) -> list[str]:
    if net.name not in rows:
        return ["refused", *[""] * 6]
    row = rows[net.name]
    operators, int8, macs, count = (
        int(row[key] or 0) for key in ("operators", "int8", "macs", "instructions")
    )
    other = other_core(net.name).removeprefix("cortex-").upper()
    decibels = row["decibels"]
    return [
        f"M55 {other}",
        f"{int8 / operators:.0%}" if operators else "",
        f"{count / macs:.2f}" if macs else "",
        f"{count / 1000:,.1f}",
        f"{row['ram']:,}",
        f"{row['flash']:,}",
        "" if decibels is None else f"{decibels:.1f}",
    ]
