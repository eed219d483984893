# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's own test cases: reference = interpreter = M55 = one of M0, M3, M4, M7 and M33, or all of
them in a thorough run. On every core run the cases of tests/device that are stored."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import Array, ops
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.program import Program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.batches import Job, run_jobs
from tests.support.reference import ExactPools
from tests.support.thorough import share
from tests.wheel.collect import lower_case, wheel_cases

PARTS = 4
M55 = Target.parse("cortex-m55")
OTHERS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33")

# Cases that stop with an error, and the part of it that says why.
REFUSED = {
    "conv-conv1d": "fails on ModelInputs",  # the wheel's model does not take its own inputs
    "portable_int8-where_default": "depends on the input's values",  # the result's size depends on the values
    "portable_int8-cond": "control flow",
    "portable_int8-while_loop": "control flow",
}

# Cases on which ExecuTorch's Python reference itself fails; the golden device outputs cover both.
NO_REFERENCE = {"conv-conv2d_dilation", "maximum-broadcast_scalar"}

# Python reference operators that round in float, by at most one step of their result: docs/numerics.md.
ROUNDED = (ops.Softmax, ops.TransposeConv2d, ops.BatchMatmul)


@cache
def programs(part: int) -> dict[str, Program]:
    """The cases of one part that lower and plan, by name; the others must be in REFUSED."""
    found = {}
    for case in wheel_cases()[part::PARTS]:
        try:
            program = lower_case(case, M55)
            make_plan(simplify(program.graph()), M55)
        except CortexMError as error:
            assert case.name in REFUSED, f"{case.name}: {error}"
            assert REFUSED[case.name] in str(error), f"{case.name}: {error}"
            continue
        assert case.name not in REFUSED, f"{case.name} is listed as refused, but works"
        found[case.name] = program
    return found


def group(part: int) -> object:
    return pytest.param(part, marks=pytest.mark.xdist_group(f"wheel{part}"))


def example(program: Program) -> tuple[Array, ...]:
    assert program.example is not None
    return program.example


@pytest.mark.parametrize("part", [group(part) for part in range(PARTS)])
def test_interpreter_equals_executorch(part: int) -> None:
    wrong = {}
    for name, program in programs(part).items():
        if name in NO_REFERENCE:
            continue
        assert program.reference is not None
        graph = program.graph()
        with ExactPools():
            expected = program.reference(example(program))
        for got, want in zip(run_graph(graph, example(program)), expected, strict=True):
            step = largest_step(program) if rounded(program) else 0.0
            difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
            allowed = step * 1.001 if tolerances(graph)[0] == 0.0 else max(step, 1e-4)
            if got.shape != want.shape or not difference.max(initial=0.0) <= allowed:
                wrong[name] = float(difference.max(initial=0.0))
    assert not wrong


def rounded(program: Program) -> bool:
    return any(isinstance(op.attrs, ROUNDED) for op in program.graph().ops)


def largest_step(program: Program) -> float:
    """The coarsest quantization step at an output."""
    scales = [op.attrs.scale for op in program.graph().ops if isinstance(op.attrs, ops.Dequantize)]
    return max(scales, default=1.0)


@pytest.mark.parametrize("part", [group(part) for part in range(PARTS)])
@pytest.mark.parametrize("cpu", ["cortex-m55", *OTHERS])
def test_device_equals_interpreter(cpu: str, part: int, tmp_path: Path) -> None:
    chosen = programs(part)
    if cpu in OTHERS:
        chosen = dict(share([*chosen.items()], OTHERS.index(cpu), len(OTHERS)))
    jobs = [Job(program, [example(program)]) for program in chosen.values()]
    results = run_jobs(jobs, Target.parse(cpu), tmp_path)
    wrong = []
    for (name, program), rows in zip(chosen.items(), results, strict=True):
        graph = program.graph()
        expected = run_graph(graph, example(program))
        for got, want, allowed in zip(rows[0], expected, tolerances(graph), strict=True):
            if differing(got, want, allowed):
                wrong.append(name)
    assert not wrong
