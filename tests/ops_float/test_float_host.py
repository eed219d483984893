# SPDX-License-Identifier: Apache-2.0
"""Float operators on this machine: plan and kernels give what the interpreter says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.exactness import differing, is_exact, tolerances
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from float_graphs import INEXACT_UNARY, LAYERS, binary, clamp, unary, values
from graphs import Net
from plan_executor import PlanExecutor

seeds = st.integers(0, 2**32 - 1)


def check(executor: PlanExecutor, graph: Graph, seed: int, *, special: bool = False) -> None:
    inputs = values(graph, seed, special=special)
    expected = run_graph(graph, inputs)
    got = executor.run_graph(graph, inputs)
    for tolerance, a, b in zip(tolerances(graph), got, expected, strict=True):
        assert differing(a, b, tolerance) == 0, (a, b)


@pytest.mark.parametrize("function", ops.UNARY_FUNCTIONS)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=seeds)
def test_unary(executor: PlanExecutor, function: str, seed: int) -> None:
    check(executor, unary(seed, function), seed, special=function not in INEXACT_UNARY)


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


@pytest.mark.parametrize("function", ops.BINARY_FUNCTIONS)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_binary(executor: PlanExecutor, function: str, seed: int) -> None:
    attrs = ops.Binary(function)
    check(executor, binary(seed, attrs), seed, special=is_exact(attrs))


@pytest.mark.parametrize("dtype", [DType.S32, DType.S64])
@pytest.mark.parametrize(
    "attrs",
    [*(ops.Binary(name) for name in ops.INTEGER_FUNCTIONS), ops.Minimum(), ops.Maximum()],
    ids=lambda attrs: getattr(attrs, "function", attrs.kind),
)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_integers_wrap(executor: PlanExecutor, attrs: ops.Attrs, dtype: DType, seed: int) -> None:
    check(executor, binary(seed, attrs, dtype), seed)


@pytest.mark.parametrize("attrs", [ops.Minimum(), ops.Maximum()], ids=lambda attrs: attrs.kind)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_extrema(executor: PlanExecutor, attrs: ops.Attrs, seed: int) -> None:
    check(executor, binary(seed, attrs), seed)


@pytest.mark.parametrize("dtype", [DType.F32, DType.S8, DType.S16, DType.S32])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_clamp(executor: PlanExecutor, dtype: DType, seed: int) -> None:
    check(executor, clamp(seed, dtype), seed, special=True)


@pytest.mark.parametrize("layer", LAYERS)
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=seeds)
def test_layers(executor: PlanExecutor, layer: str, seed: int) -> None:
    check(executor, LAYERS[layer](seed), seed)


@pytest.mark.parametrize("layer", ["convolution", "transpose_convolution", "matmul", "pool"])
def test_infinities_and_nan_go_through(executor: PlanExecutor, layer: str) -> None:
    for seed in range(10):
        check(executor, LAYERS[layer](seed), seed, special=True)


def test_operand_beside_its_transpose_is_not_overwritten(executor: PlanExecutor) -> None:
    """x + x.T: both operands are one piece of memory, so the result needs another."""
    net = Net()
    x = net.add(ops.Unary("neg"), [net.input((4, 4), DType.F32)], (4, 4), DType.F32)
    turned = net.add(ops.Transpose((1, 0)), [x], (4, 4), DType.F32, (1, 0))
    check(executor, net.finish(net.add(ops.Binary("sub"), [x, turned], (4, 4), DType.F32)), 1)


def test_element_wise_results_take_the_memory_of_a_dying_operand() -> None:
    net = Net()
    x = net.input((4, 4), DType.F32)
    for _ in range(3):
        x = net.add(ops.Unary("neg"), [x], (4, 4), DType.F32)
    plan = make_plan(simplify(net.finish(x)), Target.parse("any"))
    assert plan.arena_size == 64
