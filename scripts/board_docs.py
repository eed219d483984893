#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of boards in docs/boards.md from boards/silicon.json. `--check` only says whether it
is up to date."""

from __future__ import annotations

import sys

from checkout import ROOT

from cortexm_tools.run.probe.silicon import silicon

PAGE = ROOT / "docs" / "boards.md"
BEGIN, END = "<!-- boards: begin -->\n", "<!-- boards: end -->"


def board_table() -> str:
    """A row for each board."""
    lines = [
        "| `--board` | what it is | core | memories | clock after reset | probes | Zephyr | tried |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in silicon().values():
        clock = (
            f"{row.clock_hz / 1e6:g} MHz ({row.clock_source})" if row.clock_hz else row.clock_source
        )
        memory = "<br>".join(f"`{word}`" for word in row.memory.split(","))
        probes = ", ".join(kind for kind in ("openocd", "pyocd", "jlink") if row.names[kind])
        zephyr = f"`{row.names['zephyr']}`" if row.names["zephyr"] else ""
        lines.append(
            f"| `{row.name}` | {row.about} | {row.core.value.removeprefix('cortex-').upper()} "
            f"| {memory} | {clock} | {probes} | {zephyr} | {row.tried or 'no'} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    before = PAGE.read_text(encoding="utf-8")
    head, _, rest = before.partition(BEGIN)
    after = head + BEGIN + board_table() + END + rest.partition(END)[2]
    if "--check" in sys.argv:
        if before != after:
            print("docs/boards.md is out of date: run scripts/board_docs.py", file=sys.stderr)
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
