# SPDX-License-Identifier: Apache-2.0
"""int16 activations on ExecuTorch's own runtime: what the interpreter gives, in every byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import Program

from tests.executorch_runtime.executorch_host import Host, Job
from tests.support.graphs import random_inputs

PROGRAM = Path(__file__).parents[1] / "data" / "precision" / "network.pte"


def test_a_network_with_int16_activations(host: Host, tmp_path: Path) -> None:
    program = Program("network", PROGRAM.read_bytes())
    graph = program.graph()
    assert {op.attrs.kind for op in graph.ops} >= {
        "conv2d", "depthwise_conv2d", "transpose_conv2d", "linear", "wide_softmax", "activation",
        "max_pool2d", "avg_pool2d", "add", "concat", "requantize",
    }  # fmt: skip
    rows = [random_inputs(graph, seed) for seed in range(3)]
    (result,) = host.run("wide", [Job(program, rows)], tmp_path)
    assert result.error == 0 and result.used == result.planned
    for got, row in zip(result.outputs, rows, strict=True):
        for have, want in zip(got, run_graph(graph, row), strict=True):
            np.testing.assert_array_equal(have, want)
