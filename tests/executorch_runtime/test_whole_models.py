# SPDX-License-Identifier: Apache-2.0
"""Whole models on ExecuTorch's own runtime equal the compiled plan in every byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.executorch_runtime.executorch_host import Host, Job
from tests.support.lowered import lowered
from tests.support.plan_executor import PlanExecutor

# In the groups of tests/models: lowered once.
MODELS = (
    "ds_cnn",
    "resnet8",
    "mobilenet_v1_025",
    "deep_autoencoder",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "shufflenet_v2_x0_5",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in MODELS]
)
def test_model_equals_the_plan(
    name: str, host: Host, executor: PlanExecutor, tmp_path: Path
) -> None:
    program = lowered(name)
    assert program.example is not None
    random = np.random.default_rng(11)
    other = tuple(random.normal(0, 1, x.shape).astype(x.dtype) for x in program.example)
    rows = [program.example, other]
    # The models that use nothing but our wrappers share one runner.
    runner = name if name == "shufflenet_v2_x0_5" else "wrappers"
    (result,) = host.run(runner, [Job(program, rows)], tmp_path)
    assert result.error == 0 and result.used == result.planned
    assert len(result.outputs) == 2
    graph = program.graph()
    for row, got in zip(rows, result.outputs, strict=True):
        for have, want in zip(got, executor.run_graph(graph, row), strict=True):
            np.testing.assert_array_equal(have, want)
