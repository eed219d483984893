# SPDX-License-Identifier: Apache-2.0
"""Golden operator cases on the emulated cores: our plans against ExecuTorch's real device code."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.plan import make_plan
from cortexm_tools.program import Program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Core, Target

from tests.support.batches import Job, run_jobs
from tests.support.cores import lowered_for
from tests.support.golden import GoldenCase, golden_cases, mismatch, output_step

CORES = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m55")

# Refused, with what the user is told; everything else must run.
REFUSED = {
    "conv-conv3d": "not rank 5",  # 3-D convolutions have no kernels
    "portable_int8-where_default": "nonzero",  # its result's size depends on the values
}


def program(case: GoldenCase) -> Program:
    return Program("case", case.pte)


def cases(cpu: str) -> list[GoldenCase]:
    return [case for case in golden_cases(cpu=lowered_for(Core(cpu))) if case.name not in REFUSED]


@pytest.mark.parametrize("cpu", CORES)
def test_golden_cases(cpu: str, tmp_path: Path) -> None:
    chosen = cases(cpu)
    jobs = [Job(program(case), [case.inputs]) for case in chosen]
    results = run_jobs(jobs, Target.parse(cpu), tmp_path)
    wrong = {
        case.name: found
        for case, rows in zip(chosen, results, strict=True)
        if (found := mismatch(case, rows[0], output_step(program(case).graph())))
    }
    assert not wrong


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_cases_are_refused(name: str) -> None:
    for case in golden_cases():
        if case.name == name:
            with pytest.raises(CortexMError, match=REFUSED[name]):
                make_plan(simplify(program(case).graph()), Target.parse("cortex-m55"))
