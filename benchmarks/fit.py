# SPDX-License-Identifier: Apache-2.0
"""Fits the cost of kernels to exact instructions, and writes kernels/costs.json.

    python -m benchmarks.fit                              # all kernels, on the cores that are measured
    python -m benchmarks.fit --only 'conv2d_*' --cpus cortex-m55 --measured build/calls.json

Calls are measured as benchmarks/measured_calls.py says, with `--measured` only those that this file,
which is written, does not know. The coefficients of kernels/terms.json are found by non-negative least
squares of relative errors; terms that do not help are left out, and as many as a kernel has too few calls
for. Prints the errors: the median, that which 95 in 100 calls are within, and the largest.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from cortexm_tools.errors import CortexMError
from cortexm_tools.plan.kernels.cost import Formula, terms_of
from cortexm_tools.plan.kernels.table import BUILTIN, Kernel, kernels
from cortexm_tools.report.tables import table

from benchmarks import ROOT, measured_calls

COSTS = ROOT / "kernels" / "costs.json"
CPUS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55")
GOALS = (0.04, 0.15)
_CALLS = 2  # at least for each term
_WORTH = 1.02  # times the mean of squares that a term saves at least
_LEAST = 1e-6
_KERNELS = (*kernels(), *kernels("adapters"))

Floats = NDArray[np.float64]
Costs = dict[str, dict[str, dict[str, Any]]]  # by kernel, what, and core
Rows = list[tuple[dict[str, object], int]]  # parameter blocks, and instructions


def matrix(kernel: Kernel, rows: Rows) -> Floats:
    """What the terms of a kernel are for each call, less its instructions."""
    formula = Formula(kernel, "(" + ", ".join(terms_of(kernel.symbol)["terms"]) + ",)")
    found = np.array([formula(fields) for fields, _ in rows], float)
    return found / np.array([[count] for _, count in rows])


def _solved(a: Floats) -> tuple[Floats, float]:
    """Coefficients, and the mean of the squares of relative errors."""
    scale = a.max(axis=0)
    scale[scale == 0] = 1
    x = nnls(a / scale, np.ones(len(a)), maxiter=100 * a.shape[1])[0] / scale
    return x, float(np.square(a @ x - 1).mean())


def fitted(a: Floats) -> Floats:
    """The coefficients of a matrix of calls and terms, mostly 0."""
    x, _ = _solved(a)
    kept = list(np.flatnonzero(x))
    _, best = _solved(a[:, kept])
    while len(kept) > 1:
        ways = [(_solved(a[:, [k for k in kept if k != left]])[1], left) for left in kept]
        error, left = min(ways)
        if error > _WORTH * best + _LEAST and len(kept) * _CALLS <= len(a):
            break
        kept.remove(left)
        best = max(best, error)
    found = np.zeros(a.shape[1])
    found[kept] = _solved(a[:, kept])[0]
    return found


def errors(a: Floats, x: Floats) -> Floats:
    return np.abs(a @ x - 1)


def line(name: str, found: Floats, terms: int) -> list[str]:
    calls, middle, most = summary(found)
    marks = "!" * (middle > GOALS[0] or most > GOALS[1])
    cells = (f"{100 * each:.1f} %" for each in (middle, most, found.max()))
    return [name, str(calls), str(terms), *cells, marks]


def summary(found: Floats) -> tuple[int, float, float]:
    """How many errors, their median, and what 95 in 100 are within."""
    middle, most = (float(np.quantile(found, share)) for share in (0.5, 0.95))
    return len(found), round(middle, 3), round(most, 3)


def load() -> Costs:
    """What was found before, of the kernels and the terms that there are."""
    if not COSTS.is_file():
        return {}
    found: Costs = json.loads(COSTS.read_text(encoding="utf-8"))["kernels"]
    of = {kernel.symbol: len(terms_of(kernel.symbol)["terms"]) for kernel in _KERNELS}
    return {
        symbol: row
        for symbol, row in found.items()
        if {len(costs) for costs in row["costs"].values()} == {of.get(symbol)}
    }


def save(costs: Costs) -> None:
    """A line for each kernel."""
    rows = [f"{json.dumps(symbol)}: {json.dumps(costs[symbol])}" for symbol in sorted(costs)]
    about = (
        "Instructions of each term that terms.json has for a kernel, by core; of how many calls "
        "they were found, the median of the errors, and what 95 in 100 are within. Written by "
        "python -m benchmarks.fit."
    )
    text = f'{{"about": {json.dumps(about)},\n"kernels": {{\n' + ",\n".join(rows) + "\n}}\n"
    COSTS.write_text(text, encoding="utf-8")


def rounded(x: Floats) -> list[float]:
    """To four digits; whole numbers without a point."""
    return [int(v) if v == int(v) else v for v in (float(f"{each:.4g}") for each in x)]


def fit(cpu: str, counts: dict[str, int], only: str, costs: Costs) -> list[list[str]]:
    """Changes the costs of a core; the errors by kernel."""
    by_symbol: dict[str, Rows] = {}
    for key, count in sorted(counts.items()):
        symbol, _, fields = key.partition(" ")
        block = {n: tuple(v) if isinstance(v, list) else v for n, v in json.loads(fields).items()}
        by_symbol.setdefault(symbol, []).append((block, max(1, count)))
    lines, every = [], list[Floats]()
    for kernel in _KERNELS:
        rows = by_symbol.get(kernel.symbol, [])
        name = kernel.symbol.removeprefix("cortexm_")
        if not rows or not fnmatchcase(name, only) or not terms_of(kernel.symbol)["terms"]:
            continue
        a = matrix(kernel, rows)
        x = np.array(rounded(fitted(a)))
        if kernel.library != BUILTIN:
            # What is linked for a gain must bring it: 95 in 100 calls take no more.
            x = np.array(rounded(x / np.quantile(a @ x, 0.05)))
        every.append(errors(a, x))
        known = costs.setdefault(kernel.symbol, {"costs": {}, "errors": {}})
        known["costs"][cpu], known["errors"][cpu] = rounded(x), summary(every[-1])
        lines.append(line(name, every[-1], np.count_nonzero(x)))
    return [*lines, line("all", np.concatenate(every), 0)] if every else []


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cpus", nargs="+", default=CPUS, choices=CPUS)
    parser.add_argument("--only", default="*", metavar="GLOB", help="of kernels' names")
    parser.add_argument("--measured", type=Path, help="a file of calls that are known already")
    parser.add_argument("--no-run", action="store_true", help="measure no others")
    args = parser.parse_args(arguments)
    costs = load()
    known: dict[str, dict[str, int]] = {}
    if args.measured and args.measured.is_file():
        known = json.loads(args.measured.read_text(encoding="utf-8"))

    def keep() -> None:
        if args.measured:
            args.measured.write_text(json.dumps(known, indent=0), encoding="utf-8")

    try:
        for cpu in args.cpus:
            counts = known.setdefault(cpu, {})
            if not args.no_run:
                counts = measured_calls.measure(cpu, args.only, counts, keep)
            print(cpu)
            head = ("kernel", "calls", "terms", "median", "95 %", "worst", "")
            print(table(head, fit(cpu, counts, args.only, costs)), flush=True)
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    save(costs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
