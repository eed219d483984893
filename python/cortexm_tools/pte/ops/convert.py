# SPDX-License-Identifier: Apache-2.0
"""Conversions between element types: quantization, and copies into another type."""

from __future__ import annotations

from ...ir import ops
from ...ir.types import DType
from ..call import Call, reads
from ..operands import LIMITS, positive_scale
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
    call.require(
        call.is_none("out_dtype") or call.integer("out_dtype") == ScalarType.F32,
        "only float32 results are supported",
    )
    _dequantize(call)


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
