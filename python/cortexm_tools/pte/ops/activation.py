# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand: tables and softmax of the cortex_m dialect, functions of floats, bounds."""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.types import DType
from ..call import Call, Converter, Table, register
from ..operands import finite, require_float

TABLE: Table = {}

_SOFTMAX_ZERO_POINT = -128


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


def _emit_softmax(call: Call, log: bool) -> None:
    x = call.tensor(0)
    require_float(call, x)
    shape = call.info(x).shape
    call.require_out(shape, DType.F32)
    call.require(not call.boolean(2), "half precision is not supported")
    call.emit(ops.FloatSoftmax(call.dim(1, len(shape)), log), x)


@register(TABLE, "aten::_softmax.out", args=3)
def _plain_softmax(call: Call) -> None:
    _emit_softmax(call, log=False)


@register(TABLE, "aten::_log_softmax.out", args=3)
def _log_softmax(call: Call) -> None:
    _emit_softmax(call, log=True)


def emit_unary(call: Call, attrs: ops.Unary) -> None:
    x = call.tensor(0)
    require_float(call, x)
    call.require_out(call.info(x).shape, DType.F32)
    call.emit(attrs, x)


def _unary(function: str) -> Converter:
    return lambda call: emit_unary(call, ops.Unary(function))


for _function in ops.UNARY_FUNCTIONS:
    if _function not in ("elu", "gelu", "gelu_tanh", "leaky_relu"):
        register(TABLE, f"aten::{_function}.out", args=1)(_unary(_function))


@register(TABLE, "aten::round.decimals_out", args=2)
def _round_decimals(call: Call) -> None:
    call.require(call.integer(1) == 0, "rounding to decimals is not supported")
    emit_unary(call, ops.Unary("round"))


@register(TABLE, "aten::gelu.out", args=2)
def _gelu(call: Call) -> None:
    approximate = call.program.values[call.instruction.args[1]]
    call.require(
        approximate in ("none", "tanh"), f"gelu with approximate={approximate!r} is not supported"
    )
    emit_unary(call, ops.Unary("gelu" if approximate == "none" else "gelu_tanh"))


@register(TABLE, "aten::leaky_relu.out", args=2)
def _leaky_relu(call: Call) -> None:
    emit_unary(call, ops.Unary("leaky_relu", alpha=finite(call, 1)))


@register(TABLE, "aten::elu.out", args=4)
def _elu(call: Call) -> None:
    alpha, scale, input_scale = (finite(call, number) for number in (1, 2, 3))
    emit_unary(call, ops.Unary("elu", alpha=alpha, scale=scale, input_scale=input_scale))


def _clamp(call: Call) -> None:
    x = call.tensor(0)
    dtype = call.info(x).dtype
    call.require_dtype(x, DType.F32, DType.S8, DType.S16, DType.S32)
    call.require_out(call.info(x).shape, dtype)
    low, high = _bound(call, 1, dtype), _bound(call, 2, dtype)
    call.require(low is not None or high is not None, "neither of the bounds is given")
    if low is not None and high is not None:
        call.require(low <= high, f"empty range [{low}, {high}]")
    call.emit(ops.Clamp(low, high), x)


def _bound(call: Call, number: int, dtype: DType) -> float | None:
    """A bound as the operator applies it; None if it is absent or cannot act."""
    if call.is_none(number):
        return None
    value = call.scalar(number)
    call.require(not math.isnan(value), f"argument {number} is not a number")
    if dtype is DType.F32:
        return float(np.float32(value)) if math.isfinite(value) else None
    limit = 1 << (8 * dtype.size - 1)
    whole = min(max(value, -limit), limit - 1)
    call.require(whole == int(whole), f"the bound {value} is no value of type {dtype.value}")
    return int(whole)


register(TABLE, "aten::clamp.out", args=3)(_clamp)
register(TABLE, "aten::hardtanh.out", args=3)(_clamp)
