# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand: near the real ones, and the kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.ir import DType, Rescale, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.float_graphs import INEXACT_UNARY, LAYERS, clamp, unary
from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, run, seeds


def test_softmax_is_near_the_real_one() -> None:
    random = np.random.default_rng(4)
    x = random.integers(-128, 128, (40, 10)).astype(np.int8)
    scale = 0.07
    mantissa, exponent = math.frexp(scale * 2**26)
    attrs = ops.Softmax(1, Rescale(round(mantissa * 2**31), exponent), -(2**30))
    result = run(attrs, [x], (40, 10)).astype(np.float64)
    e = np.exp((x - x.max(axis=1, keepdims=True).astype(np.float64)) * scale)
    expected = np.clip(e / e.sum(axis=1, keepdims=True) * 256 - 128, -128, 127)
    assert np.abs(result - expected).max() < 0.51


@pytest.mark.parametrize("function", ops.UNARY_FUNCTIONS)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=seeds)
def test_unary(executor: PlanExecutor, function: str, seed: int) -> None:
    compare_with_kernels(
        executor, unary(seed, function), seed, special=function not in INEXACT_UNARY
    )


@pytest.mark.parametrize("function", INEXACT_UNARY)
def test_library_functions_at_special_values(executor: PlanExecutor, function: str) -> None:
    """Element by element: poles and NaN where the interpreter has them, and a few ulp elsewhere."""
    graph = unary(1, function)
    x = np.concatenate([np.linspace(-9, 9, 181), [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-8]])
    column = np.float32(x).reshape(-1, 1)
    shape = graph.tensors[graph.inputs[0]].shape
    for value in column:
        given_value = np.full(shape, value, np.float32)
        (expected,) = run_graph(graph, [given_value])
        (got,) = executor.run_graph(graph, [given_value])
        with np.errstate(invalid="ignore"):
            error = np.abs(got.astype(np.float64) - expected.astype(np.float64))
        scale = np.spacing(np.maximum(np.abs(expected), np.float32(1.0)))
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        assert (same | (error <= 4 * scale)).all(), (value, got, expected)


@pytest.mark.parametrize("dtype", [DType.F32, DType.S8, DType.S16, DType.S32])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_clamp(executor: PlanExecutor, dtype: DType, seed: int) -> None:
    compare_with_kernels(executor, clamp(seed, dtype), seed, special=True)


@pytest.mark.parametrize("layer", ["softmax"])
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_float_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    compare_with_kernels(executor, LAYERS[layer](seed), seed)


def test_element_wise_results_take_the_memory_of_a_dying_operand() -> None:
    net = Net()
    x = net.input((4, 4), DType.F32)
    for _ in range(3):
        x = net.add(ops.Unary("neg"), [x], (4, 4), DType.F32)
    plan = make_plan(simplify(net.finish(x)), Target.parse("any"))
    assert plan.arena_size == 64
