# SPDX-License-Identifier: Apache-2.0
"""Normalizations: the kernels give what the operators say, of codes within one of the exact function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.ir import Attrs, DType, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.norms import RealNorm

from tests.support.float_graphs import LAYERS
from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, seeds


@pytest.mark.parametrize("layer", ["layer_norm", "group_norm"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


def _exact(real: RealNorm, rows: np.ndarray, epsilon: float) -> np.ndarray:
    """Real numbers, rows of `real.size`, before weights and biases."""
    centred = rows - rows.mean(axis=1, keepdims=True) if real.centred else rows
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=seeds,
    dtype=st.sampled_from([DType.S8, DType.S16]),
    kind=st.sampled_from(["layer", "rms", "group", "channels last"]),
    epsilon=st.sampled_from([1e-12, 1e-5, 0.1]),
    narrow=st.booleans(),
)
def test_codes_are_within_one_of_the_exact_norm(
    executor: PlanExecutor, seed: int, dtype: DType, kind: str, epsilon: float, narrow: bool
) -> None:
    random = np.random.default_rng(seed)
    n, groups, channels, pixels = (int(random.integers(1, most)) for most in (4, 4, 24, 40))
    if kind in ("layer", "rms"):
        groups = pixels = 1
    size, low = channels * pixels, dtype.limits[0]
    spread = int(random.integers(1, 9)) if narrow else -low
    middle = int(random.integers(low // 2, -low // 2))
    x = np.clip(random.integers(-spread, spread, (n, groups * channels, pixels)) + middle,
                *dtype.limits)  # fmt: skip
    scale = float(10 ** random.uniform(-3, 0)) * 128 / -low
    epsilon = min(epsilon, (scale * low) ** 2 / 8)  # what is beyond is no norm any more
    zero_point = int(random.integers(-128, 128)) if dtype is DType.S8 else 0
    weight, bias = random.uniform(-2, 2, groups * channels), random.normal(0, 1, groups * channels)
    real = RealNorm(size, kind != "rms", epsilon, weight, bias)
    values = _exact(real, ((x - zero_point) * scale).reshape(n * groups, size), epsilon)
    y = values.reshape(n, groups * channels, pixels) * weight[:, None] + bias[:, None]
    out_scale = max(float(np.abs(y).max()), 0.1) / -low
    designed = real.on_codes(scale, out_scale, 0, 8 * dtype.size)
    assert designed is not None
    integer, shift, *tables = designed
    attrs: Attrs = ops.GroupNorm(groups, integer, shift)
    if kind in ("layer", "rms"):
        attrs = ops.LayerNorm(
            size, kind == "layer", zero_point if kind == "rms" else 0, integer, shift
        )
    shape: tuple[int, ...] = x.shape if pixels > 1 else x.shape[:2]
    order = (0, 2, 1) if kind == "channels last" and len(shape) == 3 else tuple(range(len(shape)))
    net = Net()
    source = net.input(shape, dtype, order)
    constants = [net.constant(table, DType.S32) for table in tables]
    graph = net.finish(net.add(attrs, [source, *constants], shape, dtype))
    given_codes: Any = x.reshape(shape).astype(dtype.numpy)
    (got,) = run_graph(graph, [given_codes])
    expected = np.clip(y.reshape(shape) / out_scale, *dtype.limits)
    assert np.abs(got - expected).max() <= 1
    (by_kernel,) = executor.run_graph(graph, [given_codes])
    np.testing.assert_array_equal(by_kernel, got)
