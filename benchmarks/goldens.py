# SPDX-License-Identifier: Apache-2.0
"""Judges a change that must keep what models compute, and nearly what they cost.

    python -m benchmarks.goldens --check                # everything in goldens.json, on six cores
    python -m benchmarks.goldens --check --what plans   # plan, and run nothing
    python -m benchmarks.goldens --check --only 'float/*' 'int8/m*' --cpus cortex-m4 cortex-m7
    python -m benchmarks.goldens --record               # before the change: write goldens.json

The digest of a plan is that of the model's C, without comments and the names of kernels and types, and of
its constants; the kernels that it calls have one of their own, so that new names alone can be told. With
`--what outputs` every program runs on an emulated board; `costs`, the default, also counts instructions (to
within eight, the mean of the calls), and bytes of code, of constants, and of RAM with the bound on the stack.
`--check` prints how many digests differ and how much costs grew, in the geometric mean and at worst. It marks
what is beyond LIMITS, every output that differs, and, where nothing is run, every plan; then it fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from cortexm_tools.emit import EmitOptions
from cortexm_tools.emit.model import model_text
from cortexm_tools.errors import CortexMError
from cortexm_tools.plan import Plan
from cortexm_tools.plan.search.choose import plan_within
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.report.tables import table
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from benchmarks import ROOT, programs
from benchmarks.suite.measure import compiler_version
from tests.support.batches import footprint, run_batch

RECORD = ROOT / "benchmarks" / "goldens.json"
CPUS = tuple(f"cortex-{core}" for core in ("m0", "m3", "m4", "m33", "m7", "m55"))  # slowest first
DIGESTS = ("program", "plan", "kernels", "outputs")
COSTS = ("instructions", "code", "constants", "ram")
LARGE = 50_000
LIMITS = {
    "benchmark": (1.01, 1.08),
    "int8": (1.01, 1.08),
    "float": (1.04, 1.15),
    "a16w8": (1.04, 1.15),
    "all": (math.inf, math.inf),
}
"""Times as many instructions that a kind of programs may take on a core: in the mean, and each of those that
took LARGE or more. Of all kinds together the mean of the other costs must not grow."""
_SAID = 12

Row = dict[str, Any]  # of DIGESTS and COSTS what was asked for, or "error"
Rows = dict[str, Row]  # by "KIND/NAME CPU"


def digest(parts: Iterable[bytes]) -> str:
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return state.hexdigest()[:8]


def of_plan(plan: Plan) -> Row:
    """What is recorded of a plan."""
    text = re.sub(r"/\*.*?\*/", "", model_text(plan, EmitOptions("model", "", "")), flags=re.S)
    nameless = " ".join(re.sub(r"\bcortexm_\w+", "", text).split())
    symbols = [call.kernel.symbol for step in plan.steps for call in step.calls]
    return {
        "plan": digest([nameless.encode(), *(each.data.tobytes() for each in plan.constants)]),
        "kernels": digest([" ".join(symbols).encode()]),
        "constants": plan.constant_bytes,
    }


def planned(job: tuple[str, list[str]], folder: Path) -> Rows:
    """One program on several cores."""
    name, cpus = job
    program, rows = programs.load(name, folder).program, Rows()
    graph = simplify(program.graph())
    for cpu in cpus:
        row = rows[f"{name} {cpu}"] = Row(program=digest([program.pte]))
        try:
            row |= of_plan(plan_within(SearchSpace(graph, Target.parse(cpu))))
        except CortexMError as error:
            row["error"] = str(error)
    return rows


def ran(job: tuple[str, list[str]], folder: Path, sizes: bool) -> Rows:
    """Several programs on one core, in one image."""
    cpu, names = job
    jobs, rows = [programs.load(name, folder) for name in names], Rows()
    with tempfile.TemporaryDirectory() as work:
        done = run_batch(jobs, Target.parse(cpu), Path(work), together=not sizes)
        for name, each in zip(names, done, strict=True):
            plan, outputs = each.compiled.plan, [x for call in each.result.outputs for x in call]
            row = Row(program=digest([each.compiled.program.pte]), **of_plan(plan))
            row["outputs"] = digest(outputs)
            if sizes:
                size = footprint(each, Path(work))
                assert size.stack is not None, size.stack_note
                row["instructions"] = each.result.instructions
                row["code"] = size.flash - plan.constant_bytes
                row["ram"] = size.ram + plan.arena_size + size.stack
            rows[f"{name} {cpu}"] = row
    return rows


def measured(
    keys: Iterable[str], folder: Path, what: str, start: Callable[[], None] | None = None
) -> Rows:
    """The rows of these keys, found by processes that begin with `start`."""
    jobs, rows = dict[str, list[str]](), Rows()
    for name, cpu in map(str.split, keys):
        job, member = (name, cpu) if what == "plans" else (cpu, name)
        jobs.setdefault(job, []).append(member)
    work = planned if what == "plans" else partial(ran, sizes=what == "costs")
    with Pool(programs.WORKERS, start) as pool:
        for some in pool.imap_unordered(partial(work, folder=folder), jobs.items()):
            rows |= some
            if sys.stderr.isatty():
                print(f"{what}: {len(rows)}", end="\r", file=sys.stderr, flush=True)
    return rows


def load() -> tuple[str, Rows]:
    """The compiler, and what was recorded with it."""
    data = json.loads(RECORD.read_text(encoding="utf-8"))
    columns = (*DIGESTS, *COSTS)
    rows = {key: dict(zip(columns, row, strict=True)) for key, row in data["rows"].items()}
    return data["compiler"], rows


def save(rows: Rows) -> None:
    """One line a program and core."""
    lines = [
        f"{json.dumps(key)}: {json.dumps([row[column] for column in (*DIGESTS, *COSTS)])}"
        for key, row in sorted(rows.items())
    ]
    head = f'{{"compiler": "{compiler_version()}",\n"rows": {{\n'
    RECORD.write_text(head + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


def unlike(before: Rows, after: Rows, *columns: str) -> list[str]:
    """Where one of these differs, if it is known."""
    return [
        key
        for key, row in after.items()
        if any(row[c] != before[key][c] for c in {*columns} & {*row})
    ]


def compared(before: Rows, after: Rows) -> list[list[str]]:
    """A header and a line for each core and kind of programs; what is beyond a limit has a !."""
    known = next(iter(after.values()), {})
    columns = [c for c in (*DIGESTS, *COSTS) if c in known] + ["worst"] * ("instructions" in known)
    lines = [["core", "kind", "programs", *columns]]
    for cpu, kind in product(CPUS, LIMITS):
        here = {k: row for k, row in after.items() if k.endswith(f" {cpu}")}
        some = {k: row for k, row in here.items() if kind in ("all", k.partition("/")[0])}
        if some:
            cells = [_cell(kind, column, before, some) for column in columns]
            lines.append([cpu, kind, str(len(some)), *cells])
    return lines


def _cell(kind: str, column: str, before: Rows, after: Rows) -> str:
    """How many digests differ, how the mean of a cost changed, or the large program that became worst."""
    if column in DIGESTS:
        count = len(unlike(before, after, column))
        may_differ = column in ("plan", "kernels") and "outputs" in next(iter(after.values()))
        return f"{count}{' !' * (count > 0 and not may_differ)}"
    mean, most = LIMITS[kind]
    if column == "worst":
        large = {k: row for k, row in after.items() if before[k]["instructions"] >= LARGE}
        ratios = {ratio(before[k], row, "instructions"): k.split()[0] for k, row in large.items()}
        return f"{ratios[max(ratios)]} {percent(max(ratios), most)}" if ratios else ""
    limit = mean if column == "instructions" else 1.0 if kind == "all" else math.inf
    return percent(geometric_mean(ratio(before[k], row, column) for k, row in after.items()), limit)


def ratio(before: Row, after: Row, cost: str) -> float:
    return float(max(1, after[cost]) / max(1, before[cost]))


def percent(ratio: float, limit: float = math.inf) -> str:
    return f"{100 * (ratio - 1):+.2f} %{' !' * (ratio > limit + 1e-9)}"


def listed(keys: Iterable[str]) -> str:
    """Programs with their cores: "int8/ds_cnn m0 m4, int8/vgg m55"."""
    cores: dict[str, str] = {}
    for name, cpu in map(str.split, sorted(keys)):
        cores[name] = cores.get(name, name) + cpu.replace("cortex-", " ")
    more = f" and {len(cores) - _SAID} more" if len(cores) > _SAID else ""
    return ", ".join(list(cores.values())[:_SAID]) + more


def show(before: Rows, after: Rows) -> bool:
    """Prints how rows changed; whether nothing is marked."""
    known = {key: row for key, row in after.items() if key in before and "error" not in row}
    header, *lines = compared(before, known)
    print(table(header, lines))
    for column in DIGESTS:
        if keys := unlike(before, known, column):
            print(f"{column} differs: {listed(keys)}")
    for key in sorted(after.keys() - known.keys()):
        print(f"! {key}: {after[key].get('error', 'is not recorded')}")
    return known == after and not any("!" in cell for line in lines for cell in line)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """The options that choose programs and cores."""
    parser.add_argument("--only", nargs="+", default=["*"], metavar="GLOB", help="of KIND/NAME")
    parser.add_argument("--cpus", nargs="+", default=CPUS, choices=CPUS, metavar="CPU")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--record", action="store_true", help="write goldens.json")
    action.add_argument("--check", action="store_true", help="fail if anything is marked")
    parser.add_argument("--what", choices=("plans", "outputs", "costs"), default="costs")
    add_choices(parser)
    args = parser.parse_args()
    if args.record and args.what != "costs":
        parser.error("--record writes all that there is: leave out --what")
    try:
        names = programs.names(args.only)
        keys = [f"{name} {cpu}" for name in names for cpu in args.cpus]
        found = measured(keys, programs.prepared(names), args.what)
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if args.record:
        is_whole = len(found) == len(programs.names()) * len(CPUS)
        save(found if is_whole else load()[1] | found)
        return 0
    compiler, recorded = load()
    if compiler != compiler_version():
        print(f"recorded with {compiler}, this is {compiler_version()}", file=sys.stderr)
    return 0 if show(recorded, found) else 1


if __name__ == "__main__":
    sys.exit(main())
