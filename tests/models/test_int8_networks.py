# SPDX-License-Identifier: Apache-2.0
"""Networks that ExecuTorch's quantizer leaves partly in float: all int8 here, and the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.target import Target

from tests.support.lowered import alone, lowered
from tests.support.reference import ExactPools

M55 = Target.parse("cortex-m55")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(name))
        for name in ("shufflenet_v2_x0_5", "squeezenet1_1")
    ],
)
def test_no_float_and_equal_on_the_device(name: str) -> None:
    program = lowered(name)
    compiled = compile_program(program, CompileOptions(target=M55, require_int8=True))
    assert set(compiled.report["work"]) == {"int8", "move", "convert"}
    assert program.example is not None and program.reference is not None
    with ExactPools():
        (expected,) = program.reference(program.example)
    (got,) = run_graph(program.graph(), program.example)
    np.testing.assert_array_equal(got, expected)
    assert run_program(alone(compiled), RunRequest()).matched
