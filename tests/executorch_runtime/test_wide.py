# SPDX-License-Identifier: Apache-2.0
"""int16 activations, layers of all precisions, recurrent ones and spectra of sound on ExecuTorch's own
runtime: what the interpreter gives, in every byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.program import Program

from tests.executorch_runtime.executorch_host import Host, Job
from tests.support.random_graphs import random_inputs

DATA = Path(__file__).parents[1] / "data" / "precision"


def test_networks_with_int16_activations(host: Host, tmp_path: Path) -> None:
    names = ("network", "mixed", "recurrent", "sound")
    programs = [Program(name, (DATA / f"{name}.pte").read_bytes()) for name in names]
    graph = programs[0].graph()
    assert {op.attrs.kind for op in graph.ops} >= {
        "conv2d", "depthwise_conv2d", "transpose_conv2d", "linear", "wide_softmax", "activation",
        "max_pool2d", "avg_pool2d", "add", "concat", "requantize",
    }  # fmt: skip
    assert "log_mel" in {op.attrs.kind for op in programs[3].graph().ops}
    jobs = [
        Job(program, [random_inputs(program.graph(), seed) for seed in range(3)])
        for program in programs
    ]
    for job, result in zip(jobs, host.run("wide", jobs, tmp_path), strict=True):
        assert result.error == 0 and result.used == result.planned
        for got, row in zip(result.outputs, job.rows, strict=True):
            for have, want in zip(got, run_graph(job.program.graph(), row), strict=True):
                np.testing.assert_array_equal(have, want, err_msg=job.program.name)
