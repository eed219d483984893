# SPDX-License-Identifier: Apache-2.0
"""Every golden case whose operators can be read: the graph's meaning is the trusted result."""

from __future__ import annotations

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import interpreter_float, interpreter_more, ops  # noqa: F401
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte import read_pte
from cortexm_tools.pte.ops import CONVERTERS

from golden import GoldenCase, golden_cases, mismatch, output_step

# All their operators are known, but not in this form.
_REFUSED = {"conv-conv3d-cortex-m4": "not rank 5", "conv-conv3d-cortex-m55": "not rank 5"}

CASES = [case for case in golden_cases(CONVERTERS) if str(case) not in _REFUSED]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_interpreter_gives_the_trusted_result(case: GoldenCase) -> None:
    graph = check_graph(read_pte(case.pte, name="golden"))
    assert mismatch(case, run_graph(graph, case.inputs), output_step(graph)) == ""


def test_every_other_case_is_refused_with_a_reason() -> None:
    names = {str(case) for case in CASES}
    others = {str(case): case for case in golden_cases() if str(case) not in names}
    assert len(others) == len(golden_cases()) - len(CASES) == 4
    for name, case in others.items():
        with pytest.raises(CortexMError, match=_REFUSED.get(name, "not supported")):
            read_pte(case.pte, name="golden")
