# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: the kernels give what the operators say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.support.float_graphs import LAYERS
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, seeds


@pytest.mark.parametrize("layer", ["linear", "matmul"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


@pytest.mark.parametrize("layer", ["matmul"])
def test_infinities_and_nan_go_through(executor: PlanExecutor, layer: str) -> None:
    for seed in range(10):
        compare_with_kernels(executor, LAYERS[layer](seed), seed, special=True)
