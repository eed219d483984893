# SPDX-License-Identifier: Apache-2.0
"""Golden programs with operators in float: plan and kernels give the trusted results."""

from __future__ import annotations

import numpy as np
import pytest
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.exactness import differing, tolerances
from cortexm_tools.pte import read_pte
from cortexm_tools.pte.ops import CONVERTERS
from cortexm_tools.report import float_ops
from golden import GoldenCase, golden_cases
from plan_executor import PlanExecutor

CASES = [
    case
    for case in golden_cases(CONVERTERS)
    if float_ops(read_pte(case.pte, name="golden"))
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_plan_gives_the_trusted_result(case: GoldenCase, executor: PlanExecutor) -> None:
    graph = check_graph(read_pte(case.pte, name="golden"))
    results = executor.run_graph(graph, case.inputs)
    for got, expected, tolerance in zip(results, case.expected, tolerances(graph), strict=True):
        if tolerance == 0.0 and expected.dtype == np.float32:
            tolerance = None  # PyTorch sums in another order.
        assert got.shape == expected.shape and differing(got, expected, tolerance) == 0


def test_there_are_cases() -> None:
    assert len(CASES) > 20
