# SPDX-License-Identifier: Apache-2.0
"""Every golden case whose operators can be read: the graph's meaning is the trusted result."""

from __future__ import annotations

import pytest
from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import interpreter_float, interpreter_more, ops  # noqa: F401
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.types import Graph
from cortexm_tools.pte import read_pte
from cortexm_tools.pte.ops import CONVERTERS
from golden import GoldenCase, golden_cases, mismatch

# Test programs in which an operator's scratch buffer is an input, of zero bytes; models have none.
_EMPTY_INPUT = {
    "nhwc_pool-avg_pool2d-cortex-m55",
    "nhwc_conv-transpose_conv2d-cortex-m4",
    "nhwc_conv-transpose_conv2d-cortex-m55",
}

# All their operators are known, but not in this form.
_REFUSED = {"conv-conv3d-cortex-m4": "not rank 5", "conv-conv3d-cortex-m55": "not rank 5"}

CASES = [
    case for case in golden_cases(CONVERTERS) if str(case) not in _EMPTY_INPUT | _REFUSED.keys()
]


def output_step(graph: Graph) -> float:
    """The quantization step of the first output: its Dequantize's scale, or one code."""
    for op in graph.ops:
        if graph.outputs[0] in op.outputs and isinstance(op.attrs, ops.Dequantize):
            return op.attrs.scale
    return 1.0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_interpreter_gives_the_trusted_result(case: GoldenCase) -> None:
    graph = check_graph(read_pte(case.pte, name="golden"))
    assert mismatch(case, run_graph(graph, case.inputs), output_step(graph)) == ""


def test_every_other_case_is_refused_with_a_reason() -> None:
    names = {str(case) for case in CASES}
    others = {str(case): case for case in golden_cases() if str(case) not in names}
    assert len(others) == len(golden_cases()) - len(CASES) == 7
    for name, case in others.items():
        with pytest.raises(CortexMError, match=_REFUSED.get(name, "not supported|empty tensor")):
            read_pte(case.pte, name="golden")
