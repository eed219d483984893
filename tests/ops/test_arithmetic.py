# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on two operands: divisions in Python's integers, and the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, ops
from cortexm_tools.ir.exactness import is_exact
from cortexm_tools.ir.interpreter import run_graph

from tests.support.float_graphs import binary
from tests.support.graphs import Net
from tests.support.plan_executor import PlanExecutor
from tests.support.single_operator import compare_with_kernels, seeds


def divided(function: str, a: int, b: int) -> int:
    """A division in Python's unbounded integers, which round down."""
    if function == "remainder":
        return a % b
    if function == "floor_divide":
        return a // b
    sign = -1 if (a < 0) != (b < 0) else 1
    return a - sign * (abs(a) // abs(b)) * b if function == "fmod" else sign * (abs(a) // abs(b))


def divide(function: str, a: list[int], b: list[int], dtype: DType) -> list[int]:
    net = Net()
    divisor = net.constant(np.array(b, dtype.numpy), dtype)
    x = net.input((len(a),), dtype)
    out = np.broadcast_shapes((len(a),), (len(b),))
    graph = net.finish(net.add(ops.Binary(function), [x, divisor], out, dtype))
    return run_graph(graph, [np.array(a, dtype.numpy)])[0].tolist()


@pytest.mark.parametrize("function", ops.INTEGER_DIVISIONS)
@pytest.mark.parametrize("dtype", [DType.S32, DType.S64])
@given(data=st.data())
def test_divisions_of_integers(function: str, dtype: DType, data: st.DataObject) -> None:
    lowest = int(np.iinfo(dtype.numpy).min)
    number = st.integers(lowest, -lowest - 1) | st.integers(-9, 9) | st.just(lowest)
    a, b = data.draw(number), data.draw((number | st.just(-1)).filter(bool))
    exact = divided(function, a, b)
    assert divide(function, [a], [b], dtype) == [(exact - lowest) % (-2 * lowest) + lowest]


def test_signs_of_remainders() -> None:
    a = [7, -7, -8, 8, -(2**31)]
    assert divide("remainder", a, [4], DType.S32) == [3, 1, 0, 0, 0]
    assert divide("remainder", a, [-4], DType.S32) == [-1, -3, 0, 0, 0]
    assert divide("fmod", a, [-4], DType.S32) == [3, -3, 0, 0, 0]
    assert divide("floor_divide", a, [4], DType.S32) == [1, -2, -2, 2, -(2**29)]
    assert divide("trunc_divide", a, [4], DType.S32) == [1, -1, -2, 2, -(2**29)]
    assert divide("remainder", a, [-1], DType.S32) == [0] * 5


def test_integers_are_divided_by_known_numbers() -> None:
    with pytest.raises(CortexMError, match="division by zero"):
        divide("remainder", [1, 2], [3, 0], DType.S64)
    net = Net()
    x, y = net.input((2,), DType.S64), net.input((2,), DType.S64)
    net.add(ops.Binary("remainder"), [x, y], (2,), DType.S64)
    with pytest.raises(CortexMError, match="by a constant only"):
        net.finish(2)


@pytest.mark.parametrize("function", ops.BINARY_FUNCTIONS)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_binary(executor: PlanExecutor, function: str, seed: int) -> None:
    attrs = ops.Binary(function)
    compare_with_kernels(executor, binary(seed, attrs), seed, special=is_exact(attrs))


@pytest.mark.parametrize("dtype", [DType.S32, DType.S64])
@pytest.mark.parametrize(
    "attrs",
    [*(ops.Binary(name) for name in ops.INTEGER_FUNCTIONS), ops.Minimum(), ops.Maximum()],
    ids=lambda attrs: getattr(attrs, "function", attrs.kind),
)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_integers_wrap(executor: PlanExecutor, attrs: ops.Attrs, dtype: DType, seed: int) -> None:
    compare_with_kernels(executor, binary(seed, attrs, dtype), seed)


@pytest.mark.parametrize("attrs", [ops.Minimum(), ops.Maximum()], ids=lambda attrs: attrs.kind)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=seeds)
def test_extrema(executor: PlanExecutor, attrs: ops.Attrs, seed: int) -> None:
    compare_with_kernels(executor, binary(seed, attrs), seed)


def test_operand_beside_its_transpose_is_not_overwritten(executor: PlanExecutor) -> None:
    """x + x.T: both operands are one piece of memory, so the result needs another."""
    net = Net()
    x = net.add(ops.Unary("neg"), [net.input((4, 4), DType.F32)], (4, 4), DType.F32)
    turned = net.add(ops.Transpose((1, 0)), [x], (4, 4), DType.F32, (1, 0))
    compare_with_kernels(
        executor, net.finish(net.add(ops.Binary("sub"), [x, turned], (4, 4), DType.F32)), 1
    )
