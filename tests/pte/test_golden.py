# SPDX-License-Identifier: Apache-2.0
"""Every golden case whose operators can be read: the graph's meaning is the trusted result."""

from __future__ import annotations

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.pte import read_pte

from tests.support.golden import GoldenCase, golden_cases, mismatch, output_step

# What cannot be compiled, and the part of the message that says why.
_REFUSED = {
    "conv-conv3d-cortex-m4": "not rank 5",
    "conv-conv3d-cortex-m55": "not rank 5",
    "portable_int8-where_default-cortex-m4": "no kernel for torch.nonzero",
    "portable_int8-where_default-cortex-m55": "no kernel for torch.nonzero",
}

CASES = [case for case in golden_cases() if str(case) not in _REFUSED]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_interpreter_gives_the_trusted_result(case: GoldenCase) -> None:
    graph = check_graph(read_pte(case.pte, name="golden"))
    assert mismatch(case, run_graph(graph, case.inputs), output_step(graph)) == ""


def test_every_other_case_is_refused_with_a_reason() -> None:
    others = {str(case): case for case in golden_cases() if str(case) in _REFUSED}
    assert others.keys() == _REFUSED.keys()
    for name, case in others.items():
        with pytest.raises(CortexMError, match=_REFUSED[name]):
            read_pte(case.pte, name="golden")
