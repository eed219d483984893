# SPDX-License-Identifier: Apache-2.0
"""Quantization and operators on single elements, of the cortex_m dialect; softmax."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir import ops
from ...ir.types import DType
from ..call import INT8, INT16, Call, Table, register
from ..values import ScalarType

TABLE: Table = {}

_LIMITS = {DType.S8: INT8, DType.S16: INT16}
_SOFTMAX_ZERO_POINT = -128


def _scale(call: Call, number: int) -> float:
    scale = call.real(number)
    call.require(scale > 0, f"the scale {scale} is not positive")
    return scale


def _codes(call: Call, dtype: DType) -> tuple[int, int, int]:
    """Zero point, qmin and qmax (arguments 2 to 4), checked against the type of the codes."""
    call.require(
        dtype in _LIMITS,
        f"quantization to {dtype.value} is not supported",
        "int8 and int16 are supported",
    )
    call.require(
        call.integer(5) == ScalarType[dtype.name], "the codes have another type than stated"
    )
    limits = _LIMITS[dtype]
    zero_point, qmin, qmax = (call.integer(number, limits) for number in (2, 3, 4))
    call.require(qmin <= qmax, f"empty range of codes [{qmin}, {qmax}]")
    return zero_point, qmin, qmax


def _quantize(call: Call) -> None:
    x = call.tensor(0)
    call.require_dtype(x, DType.F32)
    scale = _scale(call, 1)
    call.require_out(call.info(x).shape, *_LIMITS)
    zero_point, qmin, qmax = _codes(call, call.out_tensor().dtype)
    (out,) = call.emit(ops.Quantize(scale, zero_point, qmin, qmax), x)
    call.set_quant(out, scale, zero_point)


def _dequantize(call: Call) -> None:
    x = call.tensor(0)
    scale = _scale(call, 1)
    call.require_out(call.info(x).shape, DType.F32)
    zero_point, _, _ = _codes(call, call.info(x).dtype)
    call.set_quant(x, scale, zero_point)
    call.emit(ops.Dequantize(scale, zero_point), x)


register(TABLE, "cortex_m::quantize_per_tensor.out", args=6)(_quantize)
register(TABLE, "quantized_decomposed::quantize_per_tensor.out", args=6)(_quantize)
register(TABLE, "cortex_m::dequantize_per_tensor.out", args=6)(_dequantize)


@register(TABLE, "quantized_decomposed::dequantize_per_tensor.out", args=7)
def _dequantize_decomposed(call: Call) -> None:
    call.require(
        call.is_none(6) or call.integer(6) == ScalarType.F32, "only float32 results are supported"
    )
    _dequantize(call)


def _operands(call: Call, a: int, b: int, *dtypes: DType) -> tuple[int, int]:
    """Two operands of one type and their broadcast result."""
    first, second = call.tensor(a), call.tensor(b)
    dtype = call.info(first).dtype
    call.require_dtype(first, *dtypes)
    call.require_dtype(second, dtype)
    call.require_out(call.broadcast(first, second), dtype)
    return first, second


@register(TABLE, "cortex_m::quantized_add.out", args=13)
def _add(call: Call) -> None:
    a, b = _operands(call, 0, 4, DType.S8)
    act_min, act_max = call.integer(11, INT8), call.integer(12, INT8)
    call.require(act_min <= act_max, f"empty output range [{act_min}, {act_max}]")
    attrs = ops.Add(
        call.integer(1, INT8),
        *call.rescaling(2),
        call.integer(5, INT8),
        *call.rescaling(6),
        call.integer(8, INT8),
        *call.rescaling(9),
        act_min=act_min,
        act_max=act_max,
    )
    call.emit(attrs, a, b)


@register(TABLE, "cortex_m::quantized_mul.out", args=7)
def _mul(call: Call) -> None:
    a, b = _operands(call, 0, 2, DType.S8)
    # The lowering of hardswish gives operands zero points outside of int8.
    attrs = ops.Mul(
        call.integer(1, INT16), call.integer(3, INT16), call.integer(4, INT8), *call.rescaling(5)
    )
    call.emit(attrs, a, b)


@register(TABLE, "cortex_m::quantized_div.out", args=6)
def _div(call: Call) -> None:
    a, b = _operands(call, 0, 2, DType.S8, DType.S16)
    call.require(call.info(a).shape == call.info(b).shape, "operands must have one shape")
    limits = _LIMITS[call.info(a).dtype]
    scale = _scale(call, 5)
    call.require(scale <= float(np.finfo(np.float32).max), f"the scale {scale} is too large")
    attrs = ops.Div(
        a_zero_point=call.integer(1, limits),
        b_zero_point=call.integer(3, limits),
        out_zero_point=call.integer(4, limits),
        scale=float(np.float32(scale)),
    )
    call.emit(attrs, a, b)


def _extremum(attrs: ops.Attrs) -> Callable[[Call], None]:
    def convert(call: Call) -> None:
        call.emit(attrs, *_operands(call, 0, 1, *DType))

    return convert


register(TABLE, "cortex_m::minimum.out", args=2)(_extremum(ops.Minimum()))
register(TABLE, "cortex_m::maximum.out", args=2)(_extremum(ops.Maximum()))


@register(TABLE, "cortex_m::quantized_activation.out", args=2)
def _activation(call: Call) -> None:
    x, table = call.tensor(0), call.constant(1)
    call.require_dtype(x, DType.S8)
    call.require_dtype(table, DType.S8)
    call.require(call.info(table).shape == (256,), "the table must have 256 entries")
    call.require_out(call.info(x).shape, DType.S8)
    call.emit(ops.Activation(), x, table)


@register(TABLE, "cortex_m::softmax.out", args=7)
def _softmax(call: Call) -> None:
    # The input's zero point (argument 2) has no influence: only differences matter.
    x = call.tensor(0)
    call.require_dtype(x, DType.S8)
    shape = call.info(x).shape
    call.require_out(shape, DType.S8)
    call.require(
        call.integer(3) == _SOFTMAX_ZERO_POINT, "the zero point of the result must be -128"
    )
    attrs = ops.Softmax(
        dim=call.dim(1, len(shape)),
        multiplier=call.integer(4),
        shift=call.integer(5),
        diff_min=call.integer(6),
    )
    call.emit(attrs, x)
