# SPDX-License-Identifier: Apache-2.0
"""Convolutions: their definitions by loops, and the kernels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.ir import Rescale, ops
from cortexm_tools.ir.geometry import Window

from tests.support.float_graphs import LAYERS
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, requantize_one, run, seeds

CONVOLUTIONS = list(
    itertools.product(
        [(1, 1), (2, 1), (2, 3)],  # stride
        [(0, 0, 0, 0), (1, 2, 0, 1)],  # padding
        [(1, 1), (1, 2)],  # dilation
        [1, 2],  # groups
    )
)


@pytest.mark.parametrize(("stride", "padding", "dilation", "groups"), CONVOLUTIONS)
def test_conv2d_by_loops(
    stride: tuple[int, int],
    padding: tuple[int, int, int, int],
    dilation: tuple[int, int],
    groups: int,
) -> None:
    random = np.random.default_rng(1)
    x = random.integers(-128, 128, (2, 4, 5, 6)).astype(np.int8)
    weight = random.integers(-128, 128, (6, 2, 3, 4 // groups)).astype(np.int8)
    bias = random.integers(-5000, 5000, 6).astype(np.int32)
    out_h = (5 + padding[0] + padding[2] - dilation[0] - 1) // stride[0] + 1
    out_w = (6 + padding[1] + padding[3] - 2 * dilation[1] - 1) // stride[1] + 1
    multipliers = random.integers(2**30, 2**31, 6).tolist()
    rescales = tuple(map(Rescale, multipliers, (-7, -8, -9, -7, -8, -6)))
    attrs = ops.Conv2d(
        Window((2, 3), stride, padding, dilation), 5, -3, rescales, -100, 90, groups=groups
    )
    result = run(attrs, [x, weight, bias], (2, 6, out_h, out_w))
    for n, o, y, col in itertools.product(range(2), range(6), range(out_h), range(out_w)):
        acc = int(bias[o])
        for ky, kx, c in itertools.product(range(2), range(3), range(4 // groups)):
            iy = y * stride[0] + ky * dilation[0] - padding[0]
            ix = col * stride[1] + kx * dilation[1] - padding[1]
            if 0 <= iy < 5 and 0 <= ix < 6:
                value = int(x[n, o // (6 // groups) * (4 // groups) + c, iy, ix]) - 5
                acc += value * int(weight[o, ky, kx, c])
        expected = requantize_one(acc, rescales[o].multiplier, rescales[o].shift) - 3
        assert result[n, o, y, col] == min(max(expected, -100), 90)


def test_depthwise_is_conv2d_with_one_group_a_channel() -> None:
    random = np.random.default_rng(2)
    x = random.integers(-128, 128, (1, 3, 6, 5)).astype(np.int8)
    weight = random.integers(-128, 128, (1, 3, 2, 6)).astype(np.int8)
    window, rescales = Window((3, 2), (2, 1), (1, 0, 1, 1)), (Rescale(2**30 + 12345, -6),) * 6
    shared = (window, -7, 4, rescales, -128, 127)
    depthwise = run(ops.DepthwiseConv2d(*shared), [x, weight], (1, 6, 3, 5))
    grouped = run(
        ops.Conv2d(*shared, groups=3), [x, weight.transpose(3, 1, 2, 0).copy()], (1, 6, 3, 5)
    )
    np.testing.assert_array_equal(depthwise, grouped)


def test_transpose_conv2d_scatters() -> None:
    random = np.random.default_rng(3)
    x = random.integers(-128, 128, (2, 2, 3, 4)).astype(np.int8)
    weight = random.integers(-128, 128, (3, 3, 2, 2)).astype(np.int8)
    window = Window((3, 2), (2, 3), (1, 1, 0, 0), (1, 2))
    attrs = ops.TransposeConv2d(window, 9, 1, (Rescale(2**30, -8),) * 3, -128, 127)
    out = np.zeros((2, 3, 7, 13), np.int64)
    for n, c, y, col in itertools.product(range(2), range(2), range(3), range(4)):
        for o, ky, kx in itertools.product(range(3), range(3), range(2)):
            oy, ox = y * 2 + ky - 1, col * 3 + kx * 2 - 1
            if 0 <= oy < 7 and 0 <= ox < 13:
                out[n, o, oy, ox] += (int(x[n, c, y, col]) - 9) * int(weight[o, ky, kx, c])
    expected = np.vectorize(lambda a: min(max(requantize_one(a, 2**30, -8) + 1, -128), 127))(out)
    np.testing.assert_array_equal(run(attrs, [x, weight], (2, 3, 7, 13)), expected)


@pytest.mark.parametrize("layer", ["convolution", "transpose_convolution"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


@pytest.mark.parametrize("layer", ["convolution", "transpose_convolution"])
def test_infinities_and_nan_go_through(executor: PlanExecutor, layer: str) -> None:
    for seed in range(10):
        compare_with_kernels(executor, LAYERS[layer](seed), seed, special=True)
