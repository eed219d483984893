# SPDX-License-Identifier: Apache-2.0
"""Pools: rounding, padding, and the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.ir import DType, ops
from cortexm_tools.ir.geometry import Window

from tests.support.float_graphs import LAYERS
from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, run, seeds


def test_average_pool_rounds_ties_away_from_zero_and_skips_padding() -> None:
    x = np.array([[[[1, 2, -1], [-2, 5, 7]]]], np.int8)
    attrs = ops.AvgPool2d(Window((1, 2), (1, 1), (0, 0, 0, 1)))
    result = run(attrs, [x], (1, 1, 2, 3))
    assert result.tolist() == [[[[2, 1, -1], [2, 6, 7]]]]  # 1.5, .5, -1 alone; 1.5, 6, 7 alone
    below = run(ops.AvgPool2d(Window((1, 2), (1, 1), (0, 0, 0, 0))), [-x], (1, 1, 2, 2))
    assert below.tolist() == [[[[-2, -1], [-2, -6]]]]


@pytest.mark.parametrize("dtype", [DType.S8, DType.S16])
@pytest.mark.parametrize("channels", [1, 3, 5, 16])
@pytest.mark.parametrize("stride", [1, 2])
def test_columns_are_pooled_as_channels(
    executor: PlanExecutor, dtype: DType, channels: int, stride: int
) -> None:
    """Windows of one column: rows of the image are pixels of so many channels."""
    for padding in ((0, 0, 0, 0), (1, 0, 2, 0)):
        window = Window((3, 1), (stride, 1), padding)
        rows = (7 + padding[0] + padding[2] - 3) // stride + 1
        for attrs in (ops.AvgPool2d(window), ops.MaxPool2d(window, -100, 90)):
            net = Net("columns", channels)
            x = net.input((1, channels, 7, 5), dtype)
            graph = net.finish(net.add(attrs, [x], (1, channels, rows, 5)))
            compare_with_kernels(executor, graph, channels)


@pytest.mark.parametrize("layer", ["pool"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


@pytest.mark.parametrize("layer", ["pool"])
def test_infinities_and_nan_go_through(executor: PlanExecutor, layer: str) -> None:
    for seed in range(10):
        compare_with_kernels(executor, LAYERS[layer](seed), seed, special=True)
