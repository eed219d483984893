# SPDX-License-Identifier: Apache-2.0
"""The interpreter against oracles that share no code with it: Python integers, loops, floats."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortexm_tools.errors import CortexMError
from cortexm_tools.ir import DType, Graph, Op, Tensor, contiguous, ops
from cortexm_tools.ir.checks import check_graph
from cortexm_tools.ir.fixed_point import (
    count_leading_zeros,
    exp_on_negative,
    one_over_one_plus,
    requantize,
    rounding_shift,
)
from cortexm_tools.ir.interpreter import run_graph
from cortexm_tools.ir.text import graph_text

from graphs import Net


def int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def requantize_one(acc: int, multiplier: int, shift: int) -> int:
    """The definition, in unbounded integers."""
    high = int32((int32(acc << max(shift, 0)) * multiplier + 2**30) >> 31)
    divisor = 1 << max(-shift, 0)
    magnitude = (2 * abs(high) + divisor) // (2 * divisor)
    return magnitude if high >= 0 else -magnitude


int32s = st.integers(-(2**31), 2**31 - 1)


@given(int32s, st.integers(2**30, 2**31 - 1), st.integers(-31, 30))
def test_requantize(acc: int, multiplier: int, shift: int) -> None:
    assert requantize(np.array([acc]), multiplier, shift)[0] == requantize_one(
        acc, multiplier, shift
    )


def test_rounding_shift_rounds_ties_away_from_zero() -> None:
    values = np.array([-6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 6])
    expected = [-2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2]
    assert rounding_shift(values, 2).tolist() == expected
    assert rounding_shift(values, 0).tolist() == values.tolist()


def test_fixed_point_functions_follow_the_real_ones() -> None:
    x = -np.arange(0, 2**31, 2**31 // 4001)
    error = np.abs(exp_on_negative(x) / 2**31 - np.exp(x / 2**26))
    assert error.max() < 3e-7
    y = np.arange(0, 2**31, 2**31 // 4001)
    error = np.abs(one_over_one_plus(y) / 2**31 - 1 / (1 + y / 2**31))
    assert error.max() < 1e-8


def test_count_leading_zeros() -> None:
    values = [0, 1, 2, 3, 2**15, 2**30 + 5, 2**31 - 1, -1]
    assert count_leading_zeros(np.array(values)).tolist() == [32, 31, 30, 30, 16, 1, 1, 0]


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


def run_one(attrs: ops.Attrs, inputs: list[np.ndarray], out: tuple[int, ...]) -> np.ndarray:
    net = Net()
    indices = []
    for value in inputs:
        dtype = next(d for d in DType if d.numpy == value.dtype)
        indices.append(net.input(value.shape, dtype))
    graph = net.finish(net.add(attrs, indices, out))
    return run_graph(graph, inputs)[0]


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
    multipliers = tuple(random.integers(2**30, 2**31, 6).tolist())
    shifts = (-7, -8, -9, -7, -8, -6)
    attrs = ops.Conv2d(
        stride, padding, dilation, 5, -3, multipliers, shifts, -100, 90, groups=groups
    )
    result = run_one(attrs, [x, weight, bias], (2, 6, out_h, out_w))
    for n, o, y, col in itertools.product(range(2), range(6), range(out_h), range(out_w)):
        acc = int(bias[o])
        for ky, kx, c in itertools.product(range(2), range(3), range(4 // groups)):
            iy = y * stride[0] + ky * dilation[0] - padding[0]
            ix = col * stride[1] + kx * dilation[1] - padding[1]
            if 0 <= iy < 5 and 0 <= ix < 6:
                value = int(x[n, o // (6 // groups) * (4 // groups) + c, iy, ix]) - 5
                acc += value * int(weight[o, ky, kx, c])
        expected = requantize_one(acc, multipliers[o], shifts[o]) - 3
        assert result[n, o, y, col] == min(max(expected, -100), 90)


def test_depthwise_is_conv2d_with_one_group_a_channel() -> None:
    random = np.random.default_rng(2)
    x = random.integers(-128, 128, (1, 3, 6, 5)).astype(np.int8)
    weight = random.integers(-128, 128, (1, 3, 2, 6)).astype(np.int8)
    shared = ((2, 1), (1, 0, 1, 1), (1, 1), -7, 4, (2**30 + 12345,) * 6, (-6,) * 6, -128, 127)
    depthwise = run_one(ops.DepthwiseConv2d(*shared), [x, weight], (1, 6, 3, 5))
    grouped = run_one(
        ops.Conv2d(*shared, groups=3), [x, weight.transpose(3, 1, 2, 0).copy()], (1, 6, 3, 5)
    )
    np.testing.assert_array_equal(depthwise, grouped)


def test_transpose_conv2d_scatters() -> None:
    random = np.random.default_rng(3)
    x = random.integers(-128, 128, (2, 2, 3, 4)).astype(np.int8)
    weight = random.integers(-128, 128, (3, 3, 2, 2)).astype(np.int8)
    attrs = ops.TransposeConv2d(
        (2, 3), (1, 1, 0, 0), (1, 2), 9, 1, (2**30,) * 3, (-8,) * 3, -128, 127
    )
    out = np.zeros((2, 3, 7, 13), np.int64)
    for n, c, y, col in itertools.product(range(2), range(2), range(3), range(4)):
        for o, ky, kx in itertools.product(range(3), range(3), range(2)):
            oy, ox = y * 2 + ky - 1, col * 3 + kx * 2 - 1
            if 0 <= oy < 7 and 0 <= ox < 13:
                out[n, o, oy, ox] += (int(x[n, c, y, col]) - 9) * int(weight[o, ky, kx, c])
    expected = np.vectorize(lambda a: min(max(requantize_one(a, 2**30, -8) + 1, -128), 127))(out)
    np.testing.assert_array_equal(run_one(attrs, [x, weight], (2, 3, 7, 13)), expected)


def test_average_pool_rounds_ties_away_from_zero_and_skips_padding() -> None:
    x = np.array([[[[1, 2, -1], [-2, 5, 7]]]], np.int8)
    attrs = ops.AvgPool2d((1, 2), (1, 1), (0, 0, 0, 1))
    result = run_one(attrs, [x], (1, 1, 2, 3))
    assert result.tolist() == [[[[2, 1, -1], [2, 6, 7]]]]  # 1.5, .5, -1 alone; 1.5, 6, 7 alone
    below = run_one(ops.AvgPool2d((1, 2), (1, 1), (0, 0, 0, 0)), [-x], (1, 1, 2, 2))
    assert below.tolist() == [[[[-2, -1], [-2, -6]]]]


def test_softmax_is_near_the_real_one() -> None:
    random = np.random.default_rng(4)
    x = random.integers(-128, 128, (40, 10)).astype(np.int8)
    scale = 0.07
    mantissa, exponent = math.frexp(scale * 2**26)
    attrs = ops.Softmax(1, round(mantissa * 2**31), exponent, -(2**30))
    result = run_one(attrs, [x], (40, 10)).astype(np.float64)
    e = np.exp((x - x.max(axis=1, keepdims=True).astype(np.float64)) * scale)
    expected = np.clip(e / e.sum(axis=1, keepdims=True) * 256 - 128, -128, 127)
    assert np.abs(result - expected).max() < 0.51


def test_quantize_survives_every_float() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, 1e30, -1e30, np.inf, -np.inf, np.nan, 3e38], np.float32)
    result = run_one(ops.Quantize(1.0, 1, -128, 127), [x], (10,))
    assert result.tolist() == [1, 3, 3, 1, 127, -128, 127, -128, 1, 127]


def test_wrong_inputs_are_refused() -> None:
    net = Net()
    x = net.input((1, 4))
    graph = net.finish(net.activation(x))
    with pytest.raises(CortexMError, match="takes 1 inputs, got 0"):
        run_graph(graph, [])
    with pytest.raises(CortexMError, match="the model takes int8"):
        run_graph(graph, [np.zeros((1, 4), np.float32)])


def broken(**changes: object) -> Graph:
    tensors = (Tensor("x", DType.S8, (1, 4), (0, 1)), Tensor("y", DType.S8, (4,), (0,)))
    fields: dict[str, object] = {
        "name": "g",
        "tensors": tensors,
        "ops": (Op(ops.View(), (0,), (1,)),),
        "inputs": (0,),
        "outputs": (1,),
    }
    return Graph(**(fields | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": ()}, "before it is computed"),
        ({"ops": ()}, "never computed"),
        ({"ops": (Op(ops.View(), (0,), (1,)),) * 2}, "a second time"),
        ({"ops": (Op(ops.View(), (0,), (7,)),)}, "refers to tensor 7"),
        (
            {"tensors": (Tensor("x", DType.S8, (1, 4), (0, 1)), Tensor("y", DType.S8, (5,), (0,)))},
            "number of elements",
        ),
        (
            {"tensors": (Tensor("x", DType.S8, (1, 4), (0, 0)), Tensor("y", DType.S8, (4,), (0,)))},
            "dim order",
        ),
        (
            {"tensors": (Tensor("x", DType.S8, (1, 4), (0, 1)), Tensor("x", DType.S8, (4,), (0,)))},
            "one name",
        ),
    ],
)
def test_check_graph_names_what_is_broken(changes: dict[str, object], message: str) -> None:
    assert check_graph(broken()) == broken()
    with pytest.raises(CortexMError, match=message):
        check_graph(broken(**changes))


def test_text_form() -> None:
    net = Net("tiny")
    x = net.input((1, 2, 3, 3), order=contiguous(4))
    graph = net.finish(net.view(x, (18,)))
    assert graph_text(graph) == (
        "graph tiny\n"
        "  in  %t0: s8 1x2x3x3\n"
        "  out %t1: s8 18\n"
        "  %t1: s8 18 = view(%t0) {}  # layer0\n"
    )
