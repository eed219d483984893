# SPDX-License-Identifier: Apache-2.0
"""Emulated cores compute what the interpreter does of files of one operator: all of them in one image."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.program import Program
from cortexm_tools.run.command import differing_values
from cortexm_tools.target import Target

from tests.litert.cases import CASES, made
from tests.support.batches import Job, run_batch


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_files_of_one_operator_on_cores(cpu: str, tmp_path: Path) -> None:
    draws = [made(name, seed=8) for name in CASES]
    programs = [Program("net", draw.file.data(draw.inputs, draw.outputs)) for draw in draws]
    rows = [[draw.row() for _ in range(3)] for draw in draws]
    jobs = list(map(Job, programs, rows))
    wrong: dict[str, int] = {}
    for name, job, done in zip(
        CASES, jobs, run_batch(jobs, Target.parse(cpu), tmp_path, together=True), strict=True
    ):
        expected = [tuple(row) for row in run_sequence(job.program.graph(), job.invocations)]
        got = [tuple(row) for row in done.outputs]
        wrong[name] = differing_values(done.compiled.plan.graph, got, expected)
    assert not {name: count for name, count in wrong.items() if count}
