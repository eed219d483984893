# SPDX-License-Identifier: Apache-2.0
"""Golden operator cases on ExecuTorch's own runtime: our operators against the compiled plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.executorch.compile import prepare
from cortexm_tools.program import Program
from cortexm_tools.pte import parse_program
from cortexm_tools.pte.schemas import SCHEMAS
from cortexm_tools.pte.values import PteTensor

from tests.executorch_runtime.executorch_host import HOST, Host, Job
from tests.support.golden import GoldenCase, golden_cases, mismatch, output_step
from tests.support.plan_executor import PlanExecutor

# Programs without a kernel for an operator; a plan cannot be compiled for them either.
REFUSED = {"conv-conv3d": "not rank 5", "portable_int8-where_default": "nonzero"}
CONTIGUOUS_PADS = ("pad-pad_rank2", "pad-pad_rank3", "pad-pad_rank4_all_dims")
FAR_SHIFTS = ("conv-conv2d_x3", "torch_functions-depthwise_separable", "nn_modules-conv_add_relu")

pytestmark = pytest.mark.xdist_group("executorch")


def program(case: GoldenCase) -> Program:
    return Program("case", case.pte)


def with_far_shifts(pte: bytes) -> bytes:
    """A program whose convolutions shift two channels by more than a word, as channels without
    weights are; read and run, they give zero."""
    changed = pte
    parsed = parse_program(pte)
    for call in parsed.instructions:
        if "conv2d" in call.operator:
            shifts = parsed.values[call.args[SCHEMAS[call.operator].positions["requantize_shifts"]]]
            assert isinstance(shifts, PteTensor) and shifts.data is not None
            old = bytes(shifts.data)
            assert pte.count(old) == 1
            changed = changed.replace(old, np.array([-40, -32], np.int32).tobytes() + old[8:])
    assert changed != pte
    return changed


def with_contiguous_pads(pte: bytes) -> bytes:
    """A program with the operator that ExecuTorch has from 1.6 on."""
    from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary

    file = deserialize_pte_binary(pte)
    (pad,) = (o for o in file.program.execution_plan[0].operators if o.name == "cortex_m::pad")
    pad.name = "cortex_m::pad_contiguous"
    return bytes(serialize_pte_binary(file))


def test_every_case_equals_the_plan(host: Host, executor: PlanExecutor, tmp_path: Path) -> None:
    cases = [case for case in golden_cases() if case.name not in REFUSED]
    # A call with nothing taken in before: the inputs, then once more, to see that nothing stays.
    jobs = [Job(program(case), [case.inputs, case.inputs]) for case in cases]
    changed = [
        Job(Program(f"{case} {change.__name__}", change(case.pte)), [case.inputs])
        for change, names in (
            (with_far_shifts, FAR_SHIFTS),
            (with_contiguous_pads, CONTIGUOUS_PADS),
        )
        for case in cases
        if case.name in names
    ]
    results = host.run("golden", jobs + changed, tmp_path)
    wrong: dict[str, str] = {}
    for job, result in zip(changed, results[len(cases) :], strict=True):
        (row,) = result.outputs
        want = executor.run_graph(job.program.graph(), job.rows[0])
        if result.error or [x.tobytes() for x in row] != [x.tobytes() for x in want]:
            wrong[job.program.name] = f"differs from the plan, error {result.error:#x}"
    for case, result in zip(cases, results[: len(cases)], strict=True):
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
