# SPDX-License-Identifier: Apache-2.0
"""Golden programs with operators in float: plan and kernels give the interpreter's results."""

from __future__ import annotations

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte import read_pte
from cortexm_tools.pte.ops import CONVERTERS
from cortexm_tools.report import float_ops

from tests.support.golden import GoldenCase, golden_cases
from tests.support.plan_executor import PlanExecutor


def _computes_in_float(case: GoldenCase) -> bool:
    """Programs that are refused are the business of tests/pte/test_golden.py."""
    try:
        return bool(float_ops(read_pte(case.pte, name="golden")))
    except CortexMError:
        return False


CASES = [case for case in golden_cases(CONVERTERS) if _computes_in_float(case)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_plan_gives_the_interpreters_result(case: GoldenCase, executor: PlanExecutor) -> None:
    """tests/pte/test_golden.py holds the interpreter's result against the trusted one."""
    graph = check_graph(read_pte(case.pte, name="golden"))
    expected = run_graph(graph, case.inputs)
    results = executor.run_graph(graph, case.inputs)
    for got, wanted, tolerance in zip(results, expected, tolerances(graph), strict=True):
        assert got.shape == wanted.shape and differing(got, wanted, tolerance) == 0


def test_there_are_cases() -> None:
    assert len(CASES) > 20
