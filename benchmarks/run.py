# SPDX-License-Identifier: Apache-2.0
"""Measures the benchmark models on emulated cores and shows them beside the baseline.

    python -m benchmarks.run                        # the tables of docs/benchmarks.md
    python -m benchmarks.run --check                # print what differs from recorded.json; exit 1
                                                    # if a number became worse
    python -m benchmarks.run --record               # write recorded.json, docs/benchmarks.md and
                                                    # the table of README.md
    python -m benchmarks.run --record --models ds_cnn --cpus cortex-m4    # only these rows
    python -m benchmarks.run --tables --record      # measure nothing; write the tables anew

Instructions are exact counts of the emulator, not cycles; they do not depend on the machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from cortexm_tools.errors import CortexMError, did_you_mean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for `python benchmarks/run.py`

from benchmarks import ROOT
from benchmarks.suite.measure import (
    CONFIGURATIONS,
    CORES,
    LARGE,
    MODELS,
    compiler_version,
    digest,
    lower,
    measure,
)
from benchmarks.suite.page import document, page, with_table
from benchmarks.suite.record import Record, changes, load, merge, missing, save

PAGE = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"


def chosen(text: str, known: tuple[str, ...]) -> list[str]:
    """The words of a list separated by commas.

    Raises:
        CortexMError: one is not known.
    """
    words = text.split(",")
    for word in words:
        if word not in known:
            raise CortexMError(f"{word!r} is not known", hint=did_you_mean(word, list(known)))
    return words


def measured(configurations: list[str], models: list[str], cpus: list[str]) -> Record:
    """The rows that the three lists leave of CONFIGURATIONS."""
    record = Record(compiler_version(), {}, {name: {} for name in configurations})
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            places = [
                (name, cpu)
                for name in configurations
                for cpu, wanted in CONFIGURATIONS[name].items()
                if cpu in cpus and model in wanted
            ]
            if not places:
                continue
            program = lower(model)
            record.programs[model] = digest(program)
            for name, cpu in places:
                row = measure(program, name, cpu, Path(folder))
                record.tables[name].setdefault(cpu, {})[model] = row
    return record


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", default=",".join((*MODELS, LARGE)))
    parser.add_argument("--cpus", default=",".join(CORES))
    parser.add_argument("--configurations", default=",".join(CONFIGURATIONS))
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.add_argument("--record", action="store_true", help="write the record and the pages")
    parser.add_argument("--check", action="store_true", help="fail if a number became worse")
    args = parser.parse_args()
    recorded = load()
    try:
        new = Record(recorded.compiler)
        if not args.tables:
            new = measured(
                chosen(args.configurations, tuple(CONFIGURATIONS)),
                chosen(args.models, (*MODELS, LARGE)),
                chosen(args.cpus, CORES),
            )
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    full = merge(recorded, new)
    print(page(full if args.tables or args.record else new))
    found = changes(recorded, new)
    print("\n".join(map(str, found)) or "no number changed", file=sys.stderr)
    if args.record:
        save(full)
        PAGE.write_text(document(full), encoding="utf-8")
        README.write_text(with_table(README.read_text(encoding="utf-8"), full), encoding="utf-8")
        if gaps := missing(full):
            print("not recorded: " + ", ".join(gaps), file=sys.stderr)
    return 1 if args.check and any(change.worse for change in found) else 0


if __name__ == "__main__":
    sys.exit(main())
