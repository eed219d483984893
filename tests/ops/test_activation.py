# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand: near the real ones, and the kernels."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from cortexm_tools.ir import DType, Graph, Rescale, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import make_plan
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

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


def softmax_of(shape: tuple[int, ...], dim: int, attrs: ops.Softmax) -> Graph:
    net = Net()
    return net.finish(net.add(replace(attrs, dim=dim), [net.input(shape)], shape))


SOFTMAX = ops.Softmax(0, Rescale(1717986918, 22), -248)


@pytest.mark.parametrize(("scale", "shift", "diff_min"), [(1 << 30, 20, -255), (1717986918, 22, -248),
                                                          (2**31 - 1, 23, -3), (1 << 30, 22, 0)])  # fmt: skip
@pytest.mark.parametrize(("shape", "dim"), [((65536, 2), 1), ((256, 2, 256), 1), ((2, 65536), 0)])
def test_softmax_over_two_elements(
    executor: PlanExecutor, shape: tuple[int, ...], dim: int, scale: int, shift: int, diff_min: int
) -> None:
    """Of all pairs of codes."""
    graph = softmax_of(shape, dim, ops.Softmax(dim, Rescale(scale, shift), diff_min))
    codes = np.arange(-128, 128)
    pairs = np.stack(np.broadcast_arrays(codes[:, None], codes), axis=-1).reshape(-1, 2)
    whole = {1: pairs, 0: pairs.T}[dim]
    if len(shape) == 3:
        whole = np.moveaxis(pairs.reshape(256, 256, 2), -1, 1)
    inputs = [np.ascontiguousarray(whole.astype(np.int8))]
    plan = make_plan(graph, Target.parse("host"))
    (got,), (expected,) = executor.run(plan, inputs), run_graph(graph, inputs)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4", "cortex-m3"])
def test_which_softmax_has_a_table_of_exponentials(cpu: str) -> None:
    """One of many elements, of all that share it; any with OPTIMIZE speed."""

    def taken(*sizes: int, optimize: Optimize = Optimize.BALANCED) -> list[str]:
        net = Net()
        outs = []
        for size in sizes:
            outs.append(net.add(replace(SOFTMAX, dim=1), [net.input((1, size))], (1, size)))
        plan = make_plan(net.finish(*outs), Target.parse(cpu), optimize=optimize)
        return [call.kernel.op for step in plan.steps for call in step.calls]

    sizes = [1 << bits for bits in range(4, 12)]
    few = [size for size in sizes if taken(size) == ["softmax"]]
    assert few and few == sizes[: len(few)] and few != sizes
    assert taken(few[-1], optimize=Optimize.SPEED) == ["softmax_table"]
    assert taken(*few[-1:] * 8) == ["softmax_table"] * 8


@pytest.mark.parametrize("cpu", ["cortex-m55", "cortex-m4"])
def test_which_softmax_has_no_kernel_of_few_elements(cpu: str) -> None:
    """Long ones, and those whose differences of codes may have no exponent."""
    few = "mve" if cpu == "cortex-m55" else "dsp"
    small = replace(SOFTMAX, rescale=Rescale(1 << 30, 0))
    for attrs, size, isa in ((SOFTMAX, 64, few), (SOFTMAX, 65, "scalar"), (small, 4, "scalar")):
        graph = softmax_of((1, size), 1, attrs)
        plan = make_plan(graph, Target.parse(cpu), optimize=Optimize.SIZE)
        (call,) = (call for step in plan.steps for call in step.calls)
        assert call.kernel.symbol == f"cortexm_softmax_s8_{isa}"


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
