# SPDX-License-Identifier: Apache-2.0
"""Normalizations: the kernels give what the operators say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.support.float_graphs import LAYERS
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, seeds


@pytest.mark.parametrize("layer", ["layer_norm", "group_norm"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)
