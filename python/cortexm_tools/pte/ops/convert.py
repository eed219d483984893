# SPDX-License-Identifier: Apache-2.0
"""Conversions between element types: quantization, and copies into another type."""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.types import Array, DType
from ..call import Call, reads
from ..operands import LIMITS, positive_scale
from ..pairs import ConstantCodes
from ..values import ScalarType
from .move.views import clone


def _codes(call: Call, dtype: DType) -> tuple[int, int, int]:
    """Zero point, qmin and qmax, checked against the type of the codes."""
    call.require(
        dtype in LIMITS,
        f"quantization to {dtype.value} is not supported",
        "int8 and int16 are supported",
    )
    call.require(
        call.integer("dtype") == ScalarType[dtype.name], "the codes have another type than stated"
    )
    limits = LIMITS[dtype]
    zero_point, qmin, qmax = (
        call.integer(name, limits) for name in ("zero_point", "quant_min", "quant_max")
    )
    call.require(qmin <= qmax, f"empty range of codes [{qmin}, {qmax}]")
    return zero_point, qmin, qmax


@reads(
    "cortex_m::quantize_per_tensor.out",
    "quantized_decomposed::quantize_per_tensor.out",
)
def _quantize(call: Call) -> None:
    x = call.tensor("input")
    call.require_dtype(x, DType.F32)
    scale = positive_scale(call, "scale")
    call.require_out(call.info(x).shape, *LIMITS)
    zero_point, qmin, qmax = _codes(call, call.out_tensor().dtype)
    (out,) = call.emit(ops.Quantize(scale, zero_point, qmin, qmax), x)
    call.set_quant(out, scale, zero_point)


@reads("cortexm::requantize.out")
def _requantize(call: Call) -> None:
    x = call.tensor("input")
    call.require_dtype(x, *LIMITS)
    call.require_out(call.info(x).shape, *LIMITS)
    source, dtype = call.info(x).dtype, call.out_tensor().dtype
    call.require(
        call.integer("dtype") == ScalarType[dtype.name], "the codes have another type than stated"
    )
    limits = LIMITS[dtype]
    attrs = ops.Requantize(
        call.integer("input_zero_point", LIMITS[source]),
        call.rescale("multiplier", "shift"),
        call.integer("output_zero_point", limits),
        call.integer("activation_min", limits),
        call.integer("activation_max", limits),
    )
    call.emit(attrs, x)


@reads("cortex_m::dequantize_per_tensor.out")
def _dequantize(call: Call) -> None:
    x = call.tensor("input")
    scale = positive_scale(call, "scale")
    call.require_out(call.info(x).shape, DType.F32)
    zero_point, _, _ = _codes(call, call.info(x).dtype)
    call.set_quant(x, scale, zero_point)
    call.emit(ops.Dequantize(scale, zero_point), x)


@reads("quantized_decomposed::dequantize_per_tensor.out")
def _dequantize_decomposed(call: Call) -> None:
    _require_float32(call)
    x = call.tensor("input")
    if not call.info(x).is_constant:
        _dequantize(call)
        return
    shape = call.info(x).shape
    scale, zero_point = positive_scale(call, "scale"), call.integer("zero_point")
    sizes = np.full(shape[:1] or 1, scale), np.full(shape[:1] or 1, zero_point)
    _constant(call, call.constant("input"), *sizes, 0)


@reads("aten::_to_copy.out", "dim_order_ops::_to_dim_order_copy.out")
def _to_type(call: Call) -> None:
    """The operand in the result's type and dim order."""
    x = call.tensor("self")
    info, out = call.info(x), call.out_tensor()
    if info.dtype is out.dtype:
        clone(call)
        return
    call.require_out(info.shape, out.dtype)
    call.emit(ops.Cast(), x)


@reads("quantized_decomposed::dequantize_per_channel.out")
def _dequantize_channels(call: Call) -> None:
    _require_float32(call)
    shape = call.info(call.tensor("input")).shape
    axis = call.dim("axis", len(shape))

    def channels(name: str) -> Array:
        data = call.constant_data(name).reshape(-1)
        call.require(data.size == shape[axis], f"{name} has not one value for each channel")
        return data

    scales = channels("scales")
    zeros = np.zeros(scales.size, np.int64)
    if not call.is_none("zero_points"):
        zeros = channels("zero_points").astype(np.int64)
    _constant(call, call.constant("input"), scales, zeros, axis)


def _constant(call: Call, x: int, scales: Array, zero_points: Array, axis: int) -> None:
    """Constant codes as numbers: (code - zero point) * scale of each index of one axis, in float32."""
    codes = call.info(x).data
    assert codes is not None
    call.require_dtype(x, DType.S8, DType.S16, DType.S32)
    call.require_out(codes.shape, DType.F32)
    call.builder.spend(4 * codes.size)
    along = [scales.size if dim == axis else 1 for dim in range(codes.ndim)]
    centred = codes.astype(np.int64) - zero_points.astype(np.int64).reshape(along)
    values = centred.astype(np.float32) * scales.astype(np.float32).reshape(along)
    index = call.add_constant("values", values)
    call.bind(index)
    if not zero_points.any():
        numbers = tuple(map(float, scales.reshape(-1)))
        call.builder.codes[index] = ConstantCodes(codes, numbers, axis)


def _require_float32(call: Call) -> None:
    call.require(
        call.is_none("out_dtype") or call.integer("out_dtype") == ScalarType.F32,
        "only float32 results are supported",
    )
