# SPDX-License-Identifier: Apache-2.0
"""Random small networks: interpreter = this machine under sanitizers = M0 = M3 = M4 = M33 = M55."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import Program
from cortexm_tools.target import Core, Target

from batches import Job, run_jobs
from graphs import random_inputs, random_network

COUNT = 40


class GraphProgram(Program):
    """A program that was never a .pte."""

    def graph(self) -> Graph:
        return random_network(int(self.pte))


@pytest.mark.parametrize(
    "cpu", ["host", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"]
)
def test_random_networks(cpu: str, tmp_path: Path) -> None:
    target = Target.parse(cpu)
    graphs = [random_network(seed) for seed in range(COUNT)]
    rows = [[random_inputs(graph, k) for k in range(2)] for graph in graphs]
    jobs = [Job(GraphProgram("net", str(seed).encode()), rows[seed]) for seed in range(COUNT)]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST)
    for graph, invocations, got in zip(graphs, rows, results, strict=True):
        for inputs, outputs in zip(invocations, got, strict=True):
            for value, expected in zip(outputs, run_graph(graph, inputs), strict=True):
                np.testing.assert_array_equal(value, expected, err_msg=graph.name)
