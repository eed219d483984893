# SPDX-License-Identifier: Apache-2.0
"""Measures how long the planner takes, by model and core.

    python -m benchmarks.planning                               # the benchmark models, lowered first
    python -m benchmarks.planning build/model.pte --optimize size --ram-limit 64K --int8

CPU time, the best of several processes that plan once, without start-up: it depends on the machine. It
is that of the plan, and of the look at what OPTIMIZE size would save (plan/search/alternatives.py), which
`cortexm compile` takes after every plan without a RAM limit. The function calls of both, counted by
Python's profiler, depend on the versions of Python and numpy alone.
"""

from __future__ import annotations

import argparse
import cProfile
import multiprocessing
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Graph
from cortexm_tools.options.sizes import parse_size
from cortexm_tools.plan.search.alternatives import smaller_plan
from cortexm_tools.plan.search.choose import plan_within
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.program import Program, load_program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from benchmarks.suite.measure import CORES, LARGE, MODELS, lower

REPEATS = 3


@dataclass(frozen=True)
class Row:
    """One model on one core.

    Attributes:
        seconds: to plan.
        beside: seconds to see what OPTIMIZE size would save.
        calls: functions called in both.
    """

    seconds: float
    beside: float
    calls: int
    arena: int
    lower_bound: int


def plan_once(
    graph: Graph, target: Target, optimize: Optimize, ram_limit: int | None, count: bool
) -> Row:
    """Plans a simplified graph; with `count` under the profiler, where the time means nothing."""
    profile = cProfile.Profile()
    begin = time.process_time()
    if count:
        profile.enable()
    space = SearchSpace(graph, target)
    plan = plan_within(space, optimize=optimize, ram_limit=ram_limit)
    planned = time.process_time()
    if ram_limit is None:
        smaller_plan(space, plan)
    profile.disable()
    beside = time.process_time() - planned
    calls = sum(entry.callcount for entry in profile.getstats())
    return Row(planned - begin, beside, calls, plan.arena_size, plan.lower_bound)


def measure(graph: Graph, target: Target, optimize: Optimize, ram_limit: int | None) -> Row:
    """Each time in a new process, because the planner remembers placements."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        *timed, counted = (
            pool.apply(plan_once, (graph, target, optimize, ram_limit, count))
            for count in (*[False] * REPEATS, True)
        )
    best = min(timed, key=lambda row: row.seconds + row.beside)
    return replace(counted, seconds=best.seconds, beside=best.beside)


def programs(files: list[Path]) -> list[Program]:
    """What is in the .pte files; without any, the benchmark models."""
    target = Target.parse("cortex-m55")
    if files:
        return [load_program(file, name=file.stem, target=target) for file in files]
    return [lower(name) for name in (*MODELS, LARGE)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "pte", nargs="*", type=Path, help="lowered models; default: the benchmarks'"
    )
    parser.add_argument("--cpus", default=",".join(CORES), help="default: %(default)s")
    parser.add_argument("--optimize", default="balanced", choices=[o.value for o in Optimize])
    parser.add_argument("--ram-limit", help="as in 64K")
    parser.add_argument(
        "--int8", action="store_true", help="inputs and outputs as IO int8 has them"
    )
    args = parser.parse_args(arguments)
    try:
        targets = [Target.parse(cpu) for cpu in args.cpus.split(",")]
        limit = parse_size(args.ram_limit) if args.ram_limit else None
        print("| model | core | plan, s | alternative, s | calls | arena | lower bound |")
        print("|---|---|---|---|---|---|---|")
        for program in programs(args.pte):
            graph = simplify(program.graph(), io_int8=args.int8)
            for target in targets:
                row = measure(graph, target, Optimize(args.optimize), limit)
                print(
                    f"| {program.name} | {target.core.value} | {row.seconds:.2f} | {row.beside:.2f} "
                    f"| {row.calls:,} | {row.arena:,} | {row.lower_bound:,} |",
                    flush=True,
                )
    except CortexMError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
