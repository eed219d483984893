# SPDX-License-Identifier: Apache-2.0
"""Programs that keep state, on every core: a sequence of calls gives what the interpreter does, in every
byte, with the arena overwritten between the calls and all dead bytes within them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.program import Program
from cortexm_tools.target import Core, Target

from tests.support.batches import Job, run_jobs
from tests.support.random_graphs import random_inputs
from tests.support.streams import stored_program, stored_programs

_CALLS = 6


@pytest.mark.parametrize(
    "cpu", ["host", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"]
)
def test_sequences_of_calls(cpu: str, tmp_path: Path) -> None:
    target = Target.parse(cpu)
    programs = [Program(name, stored_program(name)) for name in stored_programs()]
    rows = [[random_inputs(p.graph(), k) for k in range(_CALLS)] for p in programs]
    jobs = [Job(program, each) for program, each in zip(programs, rows, strict=True)]
    results = run_jobs(jobs, target, tmp_path, sanitize=target.core is Core.HOST, poison=True)
    for program, each, got in zip(programs, rows, results, strict=True):
        for outputs, wanted in zip(got, run_sequence(program.graph(), each), strict=True):
            for value, expected in zip(outputs, wanted, strict=True):
                np.testing.assert_array_equal(value, expected, err_msg=program.name)
