# SPDX-License-Identifier: Apache-2.0
"""Pools: rounding, padding, and the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.ir import ops
from cortexm_tools.ir.geometry import Window

from tests.support.float_graphs import LAYERS
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, run, seeds


def test_average_pool_rounds_ties_away_from_zero_and_skips_padding() -> None:
    x = np.array([[[[1, 2, -1], [-2, 5, 7]]]], np.int8)
    attrs = ops.AvgPool2d(Window((1, 2), (1, 1), (0, 0, 0, 1)))
    result = run(attrs, [x], (1, 1, 2, 3))
    assert result.tolist() == [[[[2, 1, -1], [2, 6, 7]]]]  # 1.5, .5, -1 alone; 1.5, 6, 7 alone
    below = run(ops.AvgPool2d(Window((1, 2), (1, 1), (0, 0, 0, 0))), [-x], (1, 1, 2, 2))
    assert below.tolist() == [[[[-2, -1], [-2, -6]]]]


@pytest.mark.parametrize("layer", ["pool"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


@pytest.mark.parametrize("layer", ["pool"])
def test_infinities_and_nan_go_through(executor: PlanExecutor, layer: str) -> None:
    for seed in range(10):
        compare_with_kernels(executor, LAYERS[layer](seed), seed, special=True)
