# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, int8 of the cortex_m dialect and portable float32.

As in convolutions, input and filter offsets are negated zero points.
"""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.types import Array, DType, Tensor
from ..call import INT8, Call, Table, as_rescaling, register
from ..operands import (
    code_range,
    finite,
    float_bias,
    int32_bias,
    int32_vector,
    negated_zero_point,
    require_float,
    scaled,
)

TABLE: Table = {}


@register(TABLE, "cortex_m::quantized_linear.out", args=11)
def _linear(call: Call) -> None:
    x, weight = call.tensor(0), call.constant(1)
    call.require_dtype(x, DType.S8)
    call.require_dtype(weight, DType.S8)
    x_shape, weight_shape = call.info(x).shape, call.info(weight).shape
    call.require(
        len(weight_shape) == 2 and x_shape[-1:] == weight_shape[1:],
        f"input {x_shape} and weights {weight_shape} do not fit",
    )
    call.require_out((*x_shape[:-1], weight_shape[0]), DType.S8)
    in_zero_point, weight_zero_point = negated_zero_point(call, 4), negated_zero_point(call, 5)
    multipliers, shifts = call.integers(7), call.integers(8)
    call.require(
        len(multipliers) == len(shifts) == 1, "only one requantization for all outputs is supported"
    )
    # activation_max comes before activation_min in this schema.
    act_min, act_max = code_range(call, 10, 9)
    attrs = ops.Linear(
        in_zero_point,
        weight_zero_point,
        call.integer(6, INT8),
        *as_rescaling(multipliers[0], shifts[0]),
        act_min,
        act_max,
    )
    call.emit(attrs, x, weight, _linear_bias(call, weight, in_zero_point, weight_zero_point))


def _linear_bias(call: Call, weight: int, in_zero_point: int, weight_zero_point: int) -> int | None:
    """The plain bias, from either of the two forms a program can have.

    A program for MVE carries, instead of the bias, a kernel sum with the input's zero point folded
    in: ``sum[o] = bias[o] + input_offset * sum_k(w[o, k] + filter_offset)``. With
    ``offset = -zero_point`` this gives ``bias[o] = sum[o] + in_zp * sum_k(w[o, k] - w_zp)``, in
    int32 arithmetic that wraps.
    """
    length = call.info(weight).shape[0]
    if call.is_none(3):
        return int32_bias(call, 2, length)
    call.require(call.is_none(2), "both a bias and a kernel sum are given")
    data = call.info(weight).data
    assert data is not None
    kernel_sum = np.array(int32_vector(call, 3, length), np.int64)
    weights = data.astype(np.int32).sum(axis=1, dtype=np.int64) - weight_zero_point * data.shape[1]
    bias: Array = (kernel_sum + in_zero_point * weights).astype(np.int32)
    return call.add_constant("bias", bias) if bias.any() else None


@register(TABLE, "cortex_m::quantized_batch_matmul.out", args=8)
def _batch_matmul(call: Call) -> None:
    lhs, rhs = call.tensor(0), call.tensor(2)
    call.require_dtype(lhs, DType.S8)
    call.require_dtype(rhs, DType.S8)
    a, b = call.info(lhs).shape, call.info(rhs).shape
    call.require(
        len(a) == len(b) == 3 and a[0] == b[0] and a[2] == b[2],
        f"operands {a} and {b} (transposed) do not fit",
    )
    call.require_out((a[0], a[1], b[1]), DType.S8)
    # The operator adds these two arguments to the codes: they are negated zero points.
    attrs = ops.BatchMatmul(
        negated_zero_point(call, 1),
        negated_zero_point(call, 3),
        call.integer(4, INT8),
        *call.rescaling(5),
    )
    call.emit(attrs, lhs, rhs)


@register(TABLE, "aten::linear.out", args=3)
def _float_linear(call: Call) -> None:
    x, weight = call.tensor(0), call.tensor(1)
    require_float(call, x, weight)
    a, w = call.info(x).shape, call.info(weight).shape
    call.require(len(w) == 2 and a[-1:] == w[1:], f"input {a} and weights {w} do not fit")
    call.require_out((*a[:-1], w[0]), DType.F32)
    call.emit(ops.FloatLinear(), x, weight, float_bias(call, 2, w[0]))


def _matmul(call: Call) -> None:
    a, b = call.tensor(0), call.tensor(1)
    require_float(call, a, b)
    left, right = call.info(a).shape, call.info(b).shape
    call.require(
        len(left) == len(right) >= 2 and left[:-2] == right[:-2] and left[-1] == right[-2],
        f"operands {left} and {right} do not fit",
    )
    call.require_out((*left[:-1], right[-1]), DType.F32)
    call.emit(ops.FloatMatmul(), a, b)


register(TABLE, "aten::bmm.out", args=2)(_matmul)
register(TABLE, "aten::mm.out", args=2)(_matmul)


@register(TABLE, "aten::addmm.out", args=5)
def _addmm(call: Call) -> None:
    """beta * bias + alpha * (a @ b): the product with the bias where both factors are 1."""
    bias, a, b = (call.tensor(number) for number in (0, 1, 2))
    require_float(call, bias, a, b)
    left, right = call.info(a).shape, call.info(b).shape
    call.require(
        len(left) == len(right) == 2 and left[1] == right[0],
        f"operands {left} and {right} do not fit",
    )
    shape = (left[0], right[1])
    have = call.info(bias).shape
    fits = len(have) <= 2 and all(
        size in (1, full) for size, full in zip(have[::-1], shape[::-1], strict=False)
    )
    call.require(fits, f"a bias of shape {have} does not fit a result of shape {shape}")
    call.require_out(shape, DType.F32)
    beta, alpha = finite(call, 3), finite(call, 4)
    if beta == 1.0 and alpha == 1.0:
        call.emit(ops.FloatMatmul(), a, b, bias)
        return
    full = Tensor("product", DType.F32, shape, (0, 1))
    product = scaled(call, call.emit_new(ops.FloatMatmul(), full, a, b), 4)
    call.emit(ops.Binary("add"), product, scaled(call, bias, 3))
