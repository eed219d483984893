# SPDX-License-Identifier: Apache-2.0
"""Random graphs of data operators: interpreter = this machine under sanitizers = M3 = M55."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir import Graph
from cortexm_tools.ir.exactness import differing
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import Program
from cortexm_tools.target import Core, Target

from batches import Job, run_jobs
from data_graphs import STEPS, data_graph, data_inputs

# Every operator first, seven times: once for each element type.
COUNT = 7 * len(STEPS)


class GraphProgram(Program):
    """A program that was never a .pte."""

    def graph(self) -> Graph:
        return data_graph(int(self.pte))


@pytest.mark.parametrize("cpu", ["host", "cortex-m3", "cortex-m55"])
def test_random_graphs(cpu: str, tmp_path: Path) -> None:
    target = Target.parse(cpu)
    share = 2 if target.core is Core.HOST else 4
    # Every operator with every second or fourth type, however many operators there are.
    seeds = [seed for seed in range(COUNT) if sum(divmod(seed, len(STEPS))) % share == share // 4]
    graphs = [graph for graph in map(data_graph, seeds) if graph.outputs]
    rows = [[data_inputs(graph, k) for k in range(2)] for graph in graphs]
    jobs = [
        Job(GraphProgram("net", graph.name.removeprefix("data").encode()), row)
        for graph, row in zip(graphs, rows, strict=True)
    ]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST)
    for graph, invocations, got in zip(graphs, rows, results, strict=True):
        for inputs, outputs in zip(invocations, got, strict=True):
            with np.errstate(all="ignore"):
                expected = run_graph(graph, inputs)
            for value, wanted in zip(outputs, expected, strict=True):
                assert differing(value, wanted) == 0, (graph.name, value, wanted)
