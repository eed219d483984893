# SPDX-License-Identifier: Apache-2.0
"""Random small networks: interpreter = this machine under sanitizers = M4 = M55 = M0 or M3, which run
the same plans; some on the M33, which runs those of the M4. All on all cores in a thorough run.

So are networks for images of one channel, row or column, networks of int16 codes, half of them with
the fastest kernels, networks whose layers have several precisions, and one of these that was lowered.
So are single operators of many geometries whose results overlap their inputs as far as the order that
kernels.json promises of their kernels allows: what a kernel reads too late shows in the result. And
networks that are computed in bands of rows, and with kernels without scratch, to need as little memory
as they can, attention in bands of rows, gates, networks of branches that are computed where they are
joined, recurrent layers, convolutions whose pixels or groups are computed as one, and networks that
keep state from call to call, streams of windows among them. The weights of every third lie apart from
the code. Dead bytes are overwritten after every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools import compile as compile_module
from cortexm_tools.ir import Array
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.options.memories import Region
from cortexm_tools.plan import Plan
from cortexm_tools.plan.memory import offsets
from cortexm_tools.plan.search.choose import plan_within
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.program import Program
from cortexm_tools.target import Core, Optimize, Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import GraphProgram
from tests.support.random_graphs import (
    random_attention,
    random_branches,
    random_bytes,
    random_few,
    random_gate,
    random_inputs,
    random_layer,
    random_narrow,
    random_network,
    random_precisions,
    random_tower,
    random_wide,
)
from tests.support.recurrent import random_recurrent
from tests.support.streams import random_stream
from tests.support.thorough import share
from tests.support.windows import random_streamed

GRAPHS = [
    *((random_network, seed) for seed in range(40)),
    *((random_narrow, seed) for seed in range(18)),
    *((random_bytes, seed) for seed in range(12)),
    *((random_layer, seed) for seed in range(40)),
    *((random_tower, seed) for seed in range(16)),
    *((random_branches, seed) for seed in range(24)),
    *((random_stream, seed) for seed in range(24)),
    *((random_streamed, seed) for seed in range(16)),
    *((random_wide, seed) for seed in range(36)),
    *((random_precisions, seed) for seed in range(24)),
    *((random_recurrent, seed) for seed in range(40)),
    *((random_attention, seed) for seed in range(2, 8)),
    *((random_gate, seed) for seed in range(48)),
    *((random_few, seed) for seed in range(24)),
]
DATA = Path(__file__).parents[1] / "data"
# Lowered here, and by other quantizers.
LOWERED = [DATA / "precision" / "mixed.pte", *sorted((DATA / "pairs").glob("*.pte"))]


@cache
def _program(number: int) -> Program:
    if number < len(GRAPHS):
        make, seed = GRAPHS[number]
        return GraphProgram("net", str(number).encode(), made=make(seed))
    path = LOWERED[number - len(GRAPHS)]
    return Program(path.stem, path.read_bytes())


@cache
def _calls(number: int) -> tuple[list[list[Array]], list[tuple[Array, ...]]]:
    """The inputs of some calls, and what they give on every core."""
    graph = _program(number).graph()
    rows = [random_inputs(graph, k) for k in range(4 if graph.states else 2)]
    return rows, list(map(tuple, run_sequence(graph, rows)))


_PLENTY = 1 << 30  # bytes


def smallest(
    space: SearchSpace,
    regions: Sequence[Region],
    optimize: Optimize,
    limit: int | None,
    *,
    bands: bool,
) -> Plan:
    """In the place of plan_within: the plan with the smallest arena, whatever the limit is."""
    return plan_within(space, regions, optimize, limit and 1, bands=bands)


def _limit(number: int) -> int | None:
    """None for the fastest kernels, whatever scratch they take."""
    make, seed = GRAPHS[number] if number < len(GRAPHS) else (None, 0)
    return None if make is random_wide and seed // 4 % 2 == 1 else _PLENTY


# Of the graphs, which share: scalar kernels run on three cores.
SHARES = {
    "host": (0, 1),
    "cortex-m0": (0, 2),
    "cortex-m3": (1, 2),
    "cortex-m4": (0, 1),
    "cortex-m33": (0, 8),
    "cortex-m55": (0, 1),
}


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Arenas need not be the smallest of all here, and to prove that they are took half of the time."""
    monkeypatch.setattr(offsets, "WORK", offsets.WORK // 64)
    offsets._place.cache_clear()
    yield
    offsets._place.cache_clear()


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("cpu", SHARES)
def test_random_networks(cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_module, "plan_within", smallest)
    target = Target.parse(cpu)
    numbers = share(range(len(GRAPHS)), *SHARES[cpu])
    numbers += range(len(GRAPHS), len(GRAPHS) + len(LOWERED))
    jobs = [
        Job(_program(number), _calls(number)[0], _limit(number), weights_apart=place % 3 == 2)
        for place, number in enumerate(numbers)
    ]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST, poison=True)
    for number, got in zip(numbers, results, strict=True):
        for outputs, wanted in zip(got, _calls(number)[1], strict=True):
            for value, expected in zip(outputs, wanted, strict=True):
                np.testing.assert_array_equal(value, expected, err_msg=f"{GRAPHS[number:][:1]}")
