# SPDX-License-Identifier: Apache-2.0
"""Formulas of one code, which become one table, and that they keep every byte."""

from __future__ import annotations

import numpy as np
import pytest

from cortexm_tools.ir import DType, Graph, ops
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.plan import KernelChoice, Plan, make_plan
from cortexm_tools.plan.lower.functions import find_functions
from cortexm_tools.plan.search.space import SearchSpace
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Optimize, Target

from tests.support.graphs import Net
from tests.support.ownership import replay
from tests.support.plan_executor import PlanExecutor
from tests.support.random_graphs import random_inputs

HOST, M55 = Target.parse("host"), Target.parse("cortex-m55")
WIDE = (1, 16, 8, 8)


def kinds(plan: Plan) -> list[str]:
    return [op.kind for step in plan.steps for op in step.ops]


def hard_swish(net: Net, x: int) -> int:
    """As behind a convolution: `x + 3` has the same codes."""
    six = net.constant(np.array([71]), DType.S8)
    return net.mul(x, net.add(ops.Minimum(), [x, six], net.shape(x)))


def silu(net: Net, x: int) -> int:
    return net.mul(x, net.activation(x))


@pytest.mark.parametrize("function", [hard_swish, silu])
def test_a_formula_is_a_table(executor: PlanExecutor, function: object) -> None:
    assert callable(function)
    net = Net()
    graph = simplify(net.finish(function(net, net.input(WIDE))))
    plan = make_plan(graph, HOST)
    assert kinds(plan) == ["activation"]
    replay(plan)
    # For every code there is.
    codes = np.resize(np.arange(-128, 128, dtype=np.int8), WIDE)
    want = run_graph(graph, [codes])[0]
    np.testing.assert_array_equal(run_graph(plan.graph, [codes])[0], want)
    np.testing.assert_array_equal(executor.run(plan, [codes])[0], want)


def test_a_table_more_must_pay() -> None:
    """One that is there already needs not; nor does one for the only operators of their kernels."""
    for function, shape, optimize, beside, is_table in (
        (hard_swish, (1, 4, 4, 4), Optimize.BALANCED, True, False),
        (hard_swish, (1, 4, 4, 4), Optimize.SIZE, False, True),
        (hard_swish, WIDE, Optimize.BALANCED, True, True),
        (hard_swish, WIDE, Optimize.SIZE, True, False),
        (silu, (1, 4, 4, 4), Optimize.BALANCED, True, True),
        (silu, WIDE, Optimize.SIZE, True, True),
    ):
        net = Net()
        outs = [function(net, net.input(shape))]
        if beside:
            a, b = net.input(WIDE), net.input(WIDE)
            outs += [net.mul(a, b), net.add(ops.Minimum(), [a, b], WIDE), net.activation(a)]
        plan = make_plan(simplify(net.finish(*outs)), M55, optimize=optimize)
        was = kinds(plan).count("mul") - beside
        assert (was == 0) is is_table, (function, shape, optimize)


@pytest.mark.parametrize(
    "case",
    ["a constant for each channel", "another tensor", "rows", "int16", "an inexact function"],
)
def test_what_is_no_function_of_a_code_stays(case: str) -> None:
    net = Net()
    x = net.input(WIDE, DType.S16 if case == "int16" else DType.S8)
    if case == "a constant for each channel":
        y = net.mul(x, net.codes(1, 16, 1, 1))
    elif case == "another tensor":
        y = net.mul(x, net.input(WIDE))
    elif case == "rows":
        y = net.mul(x, net.softmax(x, 1))
    elif case == "int16":
        y = net.mul(x, x)
    else:
        real = net.add(ops.Unary("exp"), [net.dequantize(x)], WIDE, DType.F32)
        y = net.mul(x, net.quantize(real))
    graph = simplify(net.finish(y))
    assert find_functions(graph) == (graph, {})


def one_weight(net: Net, kind: str, x: int, **fields: object) -> int:
    if kind == "linear":
        return net.linear(x, 1)
    if kind == "transposed":
        return net.transpose_conv(x, 1, (1, 1), 1)
    usual: dict[str, object] = {"kernel": (1, 1), "padding": (0, 0, 0, 0)}
    return net.conv(x, 1, depthwise=kind == "depthwise", **usual | fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["conv", "depthwise", "transposed", "linear"])
def test_a_layer_with_a_single_weight_is_a_table(executor: PlanExecutor, kind: str) -> None:
    for seed in range(3):
        net = Net(kind, seed)
        shape = (16, 16, 1) if kind == "linear" else (1, 1, 16, 16)
        graph = simplify(net.finish(one_weight(net, kind, net.input(shape))))
        plan = make_plan(graph, HOST)
        assert kinds(plan) == ["activation"]
        replay(plan)
        codes = np.arange(-128, 128, dtype=np.int8).reshape(shape)
        want = run_graph(graph, [codes])[0]
        np.testing.assert_array_equal(executor.run(plan, [codes])[0], want)


def test_layers_with_a_single_weight_that_stay() -> None:
    """int16, pixels that are left out or beside the image, and more weights."""
    for of, fields, is_table in (
        (DType.S8, {}, True),
        (DType.S16, {}, False),
        (DType.S8, {"stride": (2, 2)}, False),
        (DType.S8, {"padding": (1, 0, 0, 0)}, False),
        (DType.S8, {"kernel": (1, 2)}, False),
    ):
        net = Net("alone", 2)
        layer = one_weight(net, "conv", net.input((1, 1, 16, 16), of), **fields)
        plan = make_plan(simplify(net.finish(layer)), M55)
        assert kinds(plan) == (["activation"] if is_table else ["conv2d"]), (of, fields)
    net = Net("gate", 2)
    gate = net.activation(one_weight(net, "conv", net.input((1, 1, 3, 3))))
    plan = make_plan(simplify(net.finish(gate)), M55, optimize=Optimize.SIZE)
    assert kinds(plan) == ["activation"]


def test_what_others_read_is_still_computed(executor: PlanExecutor) -> None:
    net = Net()
    x = net.input(WIDE)
    inner = net.activation(x)
    graph = simplify(net.finish(net.mul(x, inner), net.pool(inner, (2, 2), largest=True)))
    plan = make_plan(graph, HOST)
    assert sorted(kinds(plan)) == ["activation", "activation", "max_pool2d"]
    inputs = random_inputs(graph, 1)
    for got, want in zip(executor.run(plan, inputs), run_graph(graph, inputs), strict=True):
        np.testing.assert_array_equal(got, want)


def test_with_other_weights_and_another_library_operators_stay() -> None:
    net = Net()
    graph = simplify(net.finish(hard_swish(net, net.input(WIDE))))
    for space in (
        SearchSpace(graph, M55, apart=True),
        SearchSpace(graph, M55, KernelChoice.CMSIS_NN),
    ):
        assert [op.kind for op in space.graph.ops] == ["minimum", "mul"]


def one_of_them(net: Net, kind: int, a: int, b: int) -> int:
    shape = net.shape(a)
    if kind < 2:
        return net.sum(a, b) if kind else net.mul(a, b)
    if kind < 4:
        return net.add(ops.Minimum() if kind == 2 else ops.Maximum(), [a, b], shape)
    if kind == 4:
        return net.add(ops.Clamp(-90, 77), [a], shape)
    return net.activation(a) if kind == 5 else net.quantize(net.dequantize(a, 0.07), 0.05)


def random_formulas(seed: int) -> Graph:
    """Formulas of two tensors of codes, with numbers, floats in between, and readers anywhere."""
    net = Net("formulas", seed)
    pick = net.random.integers
    shape = (1, int(pick(1, 9)), int(pick(1, 9)), int(pick(2, 9)))
    found = [net.input(shape), net.input(shape)]
    for _ in range(int(pick(3, 12))):
        a, b = (found[int(pick(max(0, len(found) - 4), len(found)))] for _ in "ab")
        if pick(0, 3) == 0:
            b = net.constant(pick(-128, 128, (1,)), DType.S8)
        found.append(one_of_them(net, int(pick(0, 7)), a, b))
    return net.finish(*{found[-1], found[int(pick(2, len(found)))]})


def test_random_formulas_keep_every_byte(executor: PlanExecutor) -> None:
    fused = 0
    for seed in range(60):
        graph = simplify(random_formulas(seed))
        plan = make_plan(graph, HOST)
        fused += len(plan.graph.ops) < len(graph.ops)
        inputs = random_inputs(graph, seed)
        for got, want in zip(executor.run(plan, inputs), run_graph(graph, inputs), strict=True):
            np.testing.assert_array_equal(got, want, err_msg=str(seed))
    assert fused > 20
