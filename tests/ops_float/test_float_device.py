# SPDX-License-Identifier: Apache-2.0
"""Float operators on emulated cores and, under sanitizers, on this machine: many in one image."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import Program
from cortexm_tools.target import Core, Target

from batches import Job, run_jobs
from float_graphs import INEXACT_UNARY, LAYERS, binary, clamp, unary, values


def _graphs() -> list[Graph]:
    graphs = [unary(seed, name) for seed, name in enumerate(ops.UNARY_FUNCTIONS)]
    for seed, name in enumerate(ops.BINARY_FUNCTIONS):
        graphs += [binary(100 + seed, ops.Binary(name)), binary(200 + seed, ops.Binary(name))]
    for seed, dtype in enumerate((DType.S32, DType.S64)):
        graphs += [binary(300 + seed, ops.Binary(name), dtype) for name in ops.INTEGER_FUNCTIONS]
    graphs += [clamp(400 + n, dtype) for n, dtype in enumerate((DType.F32, DType.S8, DType.S32))]
    graphs += [layer(500 + seed) for layer in LAYERS.values() for seed in range(4)]
    return graphs


GRAPHS = _graphs()


class GraphProgram(Program):
    """A program that was never a .pte: the number of one of GRAPHS."""

    def graph(self) -> Graph:
        return GRAPHS[int(self.pte)]


@pytest.mark.parametrize("cpu", ["host", "cortex-m0", "cortex-m33", "cortex-m55"])
def test_operators(cpu: str, tmp_path: Path) -> None:
    target = Target.parse(cpu)
    rows = [
        [values(graph, 1), values(graph, 2, special=graph.name not in INEXACT_UNARY)]
        for graph in GRAPHS
    ]
    jobs = [Job(GraphProgram("net", str(n).encode()), row) for n, row in enumerate(rows)]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST)
    for graph, invocations, got in zip(GRAPHS, rows, results, strict=True):
        allowed = tolerances(graph)
        for inputs, outputs in zip(invocations, got, strict=True):
            for value, wanted, tolerance in zip(
                outputs, run_graph(graph, inputs), allowed, strict=True
            ):
                assert differing(value, wanted, tolerance) == 0, (graph.ops, value, wanted)
