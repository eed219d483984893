# SPDX-License-Identifier: Apache-2.0
"""Random small networks: interpreter = this machine under sanitizers = M0 = M3 = M4 = M33 = M55.

So are networks for images of one channel, row or column.
So are single operators of many geometries whose results overlap their inputs as far as the order that
kernels.json promises of their kernels allows: what a kernel reads too late shows in the result. And
networks that are computed in bands of rows, and with kernels without scratch, to need as little memory
as they can, networks of branches that are computed where they are joined, and networks that keep state from
call to call. Dead bytes are overwritten after every step.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Graph
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.plan import make_plan
from cortexm_tools.program import Program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Core, Target

from tests.support.batches import Job, run_jobs
from tests.support.graphs import (
    random_branches,
    random_inputs,
    random_layer,
    random_narrow,
    random_network,
    random_tower,
)
from tests.support.streams import random_stream

GRAPHS = [
    *((random_network, seed) for seed in range(40)),
    *((random_narrow, seed) for seed in range(18)),
    *((random_layer, seed) for seed in range(40)),
    *((random_tower, seed) for seed in range(16)),
    *((random_branches, seed) for seed in range(24)),
    *((random_stream, seed) for seed in range(24)),
]


def _graph(number: int) -> Graph:
    make, seed = GRAPHS[number]
    return make(seed)


class GraphProgram(Program):
    """A program that was never a .pte."""

    def graph(self) -> Graph:
        return _graph(int(self.pte))


def smallest(graph: Graph, target: Target) -> int:
    """Bytes of the smallest arena."""
    return make_plan(simplify(graph), target, ram_limit=1).arena_size


@pytest.mark.parametrize(
    "cpu", ["host", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"]
)
def test_random_networks(cpu: str, tmp_path: Path) -> None:
    target = Target.parse(cpu)
    graphs = [_graph(number) for number in range(len(GRAPHS))]
    rows = [[random_inputs(graph, k) for k in range(4 if graph.states else 2)] for graph in graphs]
    jobs = [
        Job(GraphProgram("net", str(number).encode()), rows[number], smallest(graph, target))
        for number, graph in enumerate(graphs)
    ]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST, poison=True)
    for graph, invocations, got in zip(graphs, rows, results, strict=True):
        for outputs, wanted in zip(got, run_sequence(graph, invocations), strict=True):
            for value, expected in zip(outputs, wanted, strict=True):
                np.testing.assert_array_equal(value, expected, err_msg=graph.name)
