# SPDX-License-Identifier: Apache-2.0
"""State between calls on ExecuTorch's own runtime: what the interpreter keeps, in every byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.compile import CompileOptions, ExecutorchOptions, compile_program
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.interpreter import run_sequence
from cortexm_tools.options.arena import SharedArena
from cortexm_tools.program import Program

from tests.executorch_runtime.executorch_host import HOST, Host, Job
from tests.support.random_graphs import random_inputs
from tests.support.streams import stored_program, stored_programs

_CALLS = 5


def test_state_in_a_shared_arena_is_refused(host: Host) -> None:
    runtime = ExecutorchOptions(host.sizes())
    options = CompileOptions(HOST, arena=SharedArena("pool"), executorch=runtime)
    with pytest.raises(CortexMError, match="keeps the model's state in its arena"):
        compile_program(Program("recurrent", stored_program("recurrent")), options)


def test_sequences_of_calls(host: Host, tmp_path: Path) -> None:
    programs = [Program(name, stored_program(name)) for name in stored_programs()]
    assert programs
    rows = [[random_inputs(p.graph(), k) for k in range(_CALLS)] for p in programs]
    jobs = [Job(program, each) for program, each in zip(programs, rows, strict=True)]
    results = host.run("states", jobs, tmp_path)
    for program, each, result in zip(programs, rows, results, strict=True):
        assert result.error == 0 and result.used == result.planned
        for got, want in zip(result.outputs, run_sequence(program.graph(), each), strict=True):
            for have, expected in zip(got, want, strict=True):
                np.testing.assert_array_equal(have, expected, err_msg=program.name)
