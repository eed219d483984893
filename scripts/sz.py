#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the lines of the checkout by room, beside the limits of scripts/budget.json.

    python scripts/sz.py               # and exit 1 if a room is above its limit
    python scripts/sz.py --base main   # and what the files of the checkout add to those of main

All lines of files that git knows count, also empty ones. Tables, that is JSON, are a room of their own, and
data (programs, pictures) is none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter

from checkout import ROOT

from cortexm_tools.kernels.rows import expand

BUDGET = ROOT / "scripts" / "budget.json"
DEPTHS = {
    "kernels/src": (1, 2, 3),
    "kernels/ref": (1, 2),
    "kernels/include": (1, 2),
    "python/cortexm_tools": (1, 3),
}
"""How many folders of a path name its rooms, where that is not the first one alone."""


def rooms(path: str) -> list[str]:
    """Where the lines of a file count."""
    if path.endswith(".json"):
        return ["tables"]
    parts = path.split("/")
    depths = DEPTHS.get("/".join(parts[:2]), (1,))
    return ["/".join(parts[:depth]) for depth in depths if depth < len(parts)] or ["root"]


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return list(filter(None, done.stdout.decode().split("\0")))


def sizes() -> Counter[str]:
    """Lines by room, and what else has a limit."""
    found = Counter[str]()
    longest = {"kernels/src": 0, "python": 0}
    for path in _git("ls-files", "-z"):
        data = (ROOT / path).read_bytes() if (ROOT / path).is_file() else b""
        count = 0 if b"\0" in data else data.count(b"\n")
        found.update(dict.fromkeys(rooms(path), count))
        longest |= {room: max(longest[room], count) for room in longest.keys() & {*rooms(path)}}
    table = json.loads((ROOT / "kernels" / "kernels.json").read_text(encoding="utf-8"))
    found["kernels in the table"] = len(list(expand(table["kernels"])))
    return found + Counter({f"longest file of {room}": most for room, most in longest.items()})


def added(base: str) -> Counter[str]:
    """Lines that the tracked files have more than those of a revision, by room."""
    found = Counter[str]()
    for line in _git("diff", "--numstat", "--no-renames", "-z", base, "--"):
        more, fewer, path = line.split("\t")
        if more != "-":
            found.update(dict.fromkeys(rooms(path), int(more) - int(fewer)))
    return found


def excess(found: Counter[str], most: dict[str, int]) -> list[str]:
    """What is above its limit, or has none, as sentences."""
    said = [f"{room} has no limit in scripts/budget.json: add it" for room in found.keys() - most]
    return sorted(said) + [
        f"{room}: {found[room]:,} is {found[room] - limit:,} above the limit of {limit:,}: take out as "
        "much of what does not earn its place, or raise scripts/budget.json in the same change and "
        "say in its message what is worth it"
        for room, limit in most.items()
        if found[room] > limit
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--base", metavar="REV", help="print what the checkout adds to this one")
    base = parser.parse_args().base
    found, most = sizes(), json.loads(BUDGET.read_text(encoding="utf-8"))
    more = added(base) if base else Counter[str]()
    for room in sorted(found.keys() | more.keys()):
        change = f" {more[room]:+8,}" if more[room] else ""
        print(f"{room:32} {found[room]:7,} of {most.get(room, 0):7,}{change}")
    said = excess(found, most)
    print("\n".join(said), file=sys.stderr, end="\n" * bool(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
