# SPDX-License-Identifier: Apache-2.0
"""Reading linear layers."""

from __future__ import annotations

import numpy as np

from cortexm_tools.ir import ops

from tests.pte.stored import KINDS, graph_of
from tests.support.golden import golden_cases


def test_a_kernel_sum_and_a_bias_give_the_same_linear_layer() -> None:
    linear = "cortex_m::quantized_linear.out"
    names = {case.name for case in golden_cases(KINDS) if linear in case.operators}
    assert len(names) > 20
    with_bias = 0
    for name in sorted(names):
        graphs = [graph_of(name, cpu) for cpu in ("cortex-m4", "cortex-m55")]
        first, second = ([op for op in g.ops if isinstance(op.attrs, ops.Linear)] for g in graphs)
        for a, b in zip(first, second, strict=True):
            assert a.attrs == b.attrs
            assert len(a.inputs) == len(b.inputs)
            for x, y in zip(a.inputs[1:], b.inputs[1:], strict=True):
                left, right = graphs[0].tensors[x], graphs[1].tensors[y]
                assert left.data is not None and right.data is not None
                assert left.dtype == right.dtype and np.array_equal(left.data, right.data)
            with_bias += len(a.inputs) == 3
    assert with_bias >= 2
