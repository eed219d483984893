# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, int8 of the cortex_m dialect and portable float32.

As in convolutions, input and filter offsets are negated zero points.
"""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.types import Array, DType, Tensor
from ..call import Call, as_rescale, reads
from ..operands import (
    code_range,
    codes,
    finite,
    float_bias,
    int32_bias,
    int32_vector,
    negated_zero_point,
    require_float,
    scaled,
    zero_point,
)


@reads("cortex_m::quantized_linear.out", "cortexm::quantized_linear.out")
def _linear(call: Call) -> None:
    x, weight = call.tensor("input"), call.constant("weights")
    call.require_dtype(x, codes(call))
    call.require_dtype(weight, DType.S8)
    x_shape, weight_shape = call.info(x).shape, call.info(weight).shape
    call.require(
        len(weight_shape) == 2 and x_shape[-1:] == weight_shape[1:],
        f"input {x_shape} and weights {weight_shape} do not fit",
    )
    call.require_out((*x_shape[:-1], weight_shape[0]), codes(call))
    in_zero_point, weight_zero_point = (
        negated_zero_point(call, name) for name in ("input_offset", "filter_offset")
    )
    multipliers = call.integers("requantize_multipliers")
    shifts = call.integers("requantize_shifts")
    call.require(
        len(multipliers) == len(shifts)
        and len(shifts) in (1, weight_shape[0] if codes(call) is DType.S16 else 1),
        "only one requantization for all outputs is supported",
    )
    act_min, act_max = code_range(call)
    attrs = ops.Linear(
        in_zero_point,
        weight_zero_point,
        zero_point(call, "output_offset"),
        tuple(map(as_rescale, multipliers, shifts)),
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
    if call.is_none("kernel_sum"):
        return int32_bias(call, length)
    call.require(call.is_none("bias"), "both a bias and a kernel sum are given")
    data = call.info(weight).data
    assert data is not None
    kernel_sum = np.array(int32_vector(call, "kernel_sum", length), np.int64)
    weights = data.astype(np.int32).sum(axis=1, dtype=np.int64) - weight_zero_point * data.shape[1]
    bias: Array = (kernel_sum + in_zero_point * weights).astype(np.int32)
    return call.add_constant("bias", bias) if bias.any() else None


@reads("cortex_m::quantized_batch_matmul.out", "cortexm::quantized_batch_matmul.out")
def _batch_matmul(call: Call) -> None:
    lhs, rhs = call.tensor("lhs"), call.tensor("rhs_transposed")
    call.require_dtype(lhs, codes(call))
    call.require_dtype(rhs, codes(call))
    a, b = call.info(lhs).shape, call.info(rhs).shape
    call.require(
        len(a) == len(b) == 3 and a[0] == b[0] and a[2] == b[2],
        f"operands {a} and {b} (transposed) do not fit",
    )
    call.require_out((a[0], a[1], b[1]), codes(call))
    # The operator adds these two arguments to the codes: they are negated zero points.
    attrs = ops.BatchMatmul(
        negated_zero_point(call, "lhs_zero_point"),
        negated_zero_point(call, "rhs_zero_point"),
        zero_point(call, "output_zero_point"),
        call.rescale("output_multiplier", "output_shift"),
    )
    call.emit(attrs, lhs, rhs)


@reads("aten::linear.out")
def _float_linear(call: Call) -> None:
    x, weight = call.tensor("input"), call.tensor("weight")
    require_float(call, x, weight)
    a, w = call.info(x).shape, call.info(weight).shape
    call.require(len(w) == 2 and a[-1:] == w[1:], f"input {a} and weights {w} do not fit")
    call.require_out((*a[:-1], w[0]), DType.F32)
    call.emit(ops.FloatLinear(), x, weight, float_bias(call, w[0]))


@reads("aten::bmm.out", "aten::mm.out")
def _matmul(call: Call) -> None:
    a, b = call.tensor("self"), call.tensor("mat2")
    require_float(call, a, b)
    left, right = call.info(a).shape, call.info(b).shape
    call.require(
        len(left) == len(right) >= 2 and left[:-2] == right[:-2] and left[-1] == right[-2],
        f"operands {left} and {right} do not fit",
    )
    call.require_out((*left[:-1], right[-1]), DType.F32)
    call.emit(ops.FloatMatmul(), a, b)


@reads("aten::addmm.out")
def _addmm(call: Call) -> None:
    """beta * bias + alpha * (a @ b): the product with the bias where both factors are 1."""
    bias, a, b = (call.tensor(name) for name in ("self", "mat1", "mat2"))
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
    beta, alpha = finite(call, "beta"), finite(call, "alpha")
    if beta == 1.0 and alpha == 1.0:
        call.emit(ops.FloatMatmul(), a, b, bias)
        return
    full = Tensor("product", DType.F32, shape, (0, 1))
    product = scaled(call, call.emit_new(ops.FloatMatmul(), full, a, b), "alpha")
    call.emit(ops.Binary("add"), product, scaled(call, bias, "beta"))
