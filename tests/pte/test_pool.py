# SPDX-License-Identifier: Apache-2.0
"""Reading pools."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import ops
from cortexm_tools.ir.geometry import Window
from cortexm_tools.pte import parse_program, read_program, read_pte

from tests.pte.stored import graph_of, only
from tests.support.golden import golden_case


def test_windows_may_hang_over() -> None:
    pool = only(graph_of("avg_pool2d-avgpool_2x2_ceil_mode"), ops.AvgPool2d)
    assert isinstance(pool, ops.AvgPool2d)
    # 5 pixels, windows of 2, stride 2, 3 results: the last window needs a sixth pixel.
    assert pool == ops.AvgPool2d(Window((2, 2), (2, 2), (0, 0, 1, 1)))


def test_only_the_values_of_a_max_pool_with_indices_are_computed() -> None:
    case = golden_case("max_pool2d-maxpool_dilation")
    graph = read_pte(case.pte, name="test")
    pools = [op for op in graph.ops if isinstance(op.attrs, ops.MaxPool2d)]
    assert len(pools) == 1 and len(pools[0].outputs) == 1
    program = parse_program(case.pte)
    (call,) = (i for i in program.instructions if "max_pool2d" in i.operator)
    with pytest.raises(CortexMError, match="indices of a max pool"):
        read_program(replace(program, outputs=(call.args[7],)), name="test")
