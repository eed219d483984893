# SPDX-License-Identifier: Apache-2.0
"""docs/networks.md from what the networks of tests/networks cost on the M55.

python -m tests.networks [NAME…]            measures and prints, without names all networks
python -m tests.networks --record [NAME…]   writes the numbers and the page
python -m tests.networks --check [NAME…]    says what is not as recorded, and fails if there is any
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

# As in the tests (tests/conftest.py): with more threads a trained network is another one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from cortexm_tools.errors import CortexMError  # noqa: E402

from . import measured, record  # noqa: E402
from .corpus import networks  # noqa: E402

_ABOUT = (__doc__ or "").partition("\n")[0]


def rows(names: list[str]) -> dict[str, measured.Row]:
    """The rows of the networks that are not refused."""
    chosen = []
    for name in names:
        print(f"lowering {name}", file=sys.stderr, flush=True)
        found = measured.subject(name)
        if isinstance(found, CortexMError):
            if not networks()[name].refused:
                print(f"refused: {name}: {found}", file=sys.stderr)
        else:
            chosen.append(name)
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        done = measured.run(chosen, measured.CPU, folder)
        return {name: measured.row(name, done[name], folder) for name in chosen}


def main() -> int:
    known = list(networks())
    parser = argparse.ArgumentParser("python -m tests.networks", description=_ABOUT)
    parser.add_argument("names", nargs="*", metavar="NAME")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--record", action="store_true")
    group.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"there is no network {unknown[0]!r}")
    found = rows(options.names or known)
    if options.record:
        before = record.load()[1] if options.names else {}
        record.save({**before, **found})
        return 0
    failed = False
    recorded = record.load()[1] if options.check else {}
    for name, row in found.items():
        if options.check and name not in recorded:
            print(f"{name}: not recorded")
            failed = True
        elif options.check:
            worse, better = record.changes(recorded[name], row)
            for change in (*worse, *better):
                print(f"{name}: {change}")
            failed |= bool(worse or better)
        else:
            print(name, *(f"{key} {value}" for key, value in row.items()))
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
