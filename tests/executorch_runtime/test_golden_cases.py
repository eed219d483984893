# SPDX-License-Identifier: Apache-2.0
"""Golden operator cases on ExecuTorch's own runtime: our operators against the compiled plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.executorch.compile import prepare
from cortexm_tools.program import Program

from tests.executorch_runtime.executorch_host import HOST, Host, Job
from tests.support.golden import GoldenCase, golden_cases, mismatch, output_step
from tests.support.plan_executor import PlanExecutor

# Programs without a kernel for an operator; a plan cannot be compiled for them either.
REFUSED = {"conv-conv3d": "not rank 5", "portable_int8-where_default": "nonzero"}

pytestmark = pytest.mark.xdist_group("executorch")


def program(case: GoldenCase) -> Program:
    return Program("case", case.pte)


def test_every_case_equals_the_plan(host: Host, executor: PlanExecutor, tmp_path: Path) -> None:
    cases = [case for case in golden_cases() if case.name not in REFUSED]
    # A call with nothing taken in before: the inputs, then once more, to see that nothing stays.
    jobs = [Job(program(case), [case.inputs, case.inputs]) for case in cases]
    results = host.run("golden", jobs, tmp_path)
    wrong: dict[str, str] = {}
    for case, result in zip(cases, results, strict=True):
        graph = program(case).graph()
        if result.error:
            wrong[str(case)] = f"error {result.error:#x}"
            continue
        if result.used != result.planned:
            wrong[str(case)] = f"took {result.used} bytes of a method pool of {result.planned}"
            continue
        expected = executor.run_graph(graph, case.inputs)
        for row in result.outputs:
            for got, want in zip(row, expected, strict=True):
                if got.tobytes() != want.tobytes():
                    wrong[str(case)] = "differs from the plan"
            if found := mismatch(case, row, output_step(graph)):
                wrong.setdefault(str(case), found)
        assert len(result.outputs) == 2
    assert not wrong


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_cases_are_refused(host: Host, name: str) -> None:
    for case in golden_cases():
        if case.name == name:
            with pytest.raises(CortexMError, match=REFUSED[name]) as caught:
                prepare(program(case), HOST, host.sizes())
            assert "EXTERNAL_OPERATORS" in str(caught.value.hint) or caught.value.hint
