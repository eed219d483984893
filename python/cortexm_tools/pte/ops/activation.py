# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand: tables and softmax of the cortex_m dialect, functions of floats, bounds."""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.fixed_point import Rescale
from ...ir.ops.activation import WIDE_TABLES
from ...ir.types import DType
from ...ir.wide import softmax_multiplier
from ..call import Call, Converter, reads
from ..operands import codes, finite, positive_scale, require_float

_SOFTMAX_ZERO_POINT = -128


@reads("cortex_m::quantized_activation.out", "cortexm::quantized_activation.out")
def _activation(call: Call) -> None:
    x, table = call.tensor("input"), call.constant("lut")
    dtype = codes(call)
    call.require_dtype(x, dtype)
    call.require_dtype(table, dtype)
    sizes = (256,) if dtype is DType.S8 else WIDE_TABLES
    call.require(
        call.info(table).shape in {(size,) for size in sizes},
        f"the table must have {' or '.join(map(str, sizes))} entries",
    )
    call.require_out(call.info(x).shape, dtype)
    call.emit(ops.Activation(), x, table)


@reads("cortex_m::softmax.out")
def _softmax(call: Call) -> None:
    # The input's zero point has no influence: only differences matter.
    x = call.tensor("input")
    call.require_dtype(x, DType.S8)
    shape = call.info(x).shape
    call.require_out(shape, DType.S8)
    call.require(
        call.integer("output_zero_point") == _SOFTMAX_ZERO_POINT,
        "the zero point of the result must be -128",
    )
    attrs = ops.Softmax(
        dim=call.dim("dim", len(shape)),
        rescale=Rescale(call.integer("input_multiplier"), call.integer("input_shift")),
        diff_min=call.integer("diff_min"),
    )
    call.emit(attrs, x)


@reads("cortexm::softmax.out")
def _wide_softmax(call: Call) -> None:
    x = call.tensor("input")
    call.require_dtype(x, DType.S16)
    shape = call.info(x).shape
    call.require_out(shape, DType.S16)
    multiplier = softmax_multiplier(positive_scale(call, "input_scale"))
    call.require(multiplier < 2**32, "the scale of the codes is too large", "it is below 0.693")
    call.emit(ops.WideSoftmax(call.dim("dim", len(shape)), multiplier), x)


def _emit_softmax(call: Call, log: bool) -> None:
    x = call.operand()
    require_float(call, x)
    shape = call.info(x).shape
    call.require_out(shape, DType.F32)
    call.require(not call.boolean("half_to_float"), "half precision is not supported")
    call.emit(ops.FloatSoftmax(call.dim("dim", len(shape)), log), x)


@reads("aten::_softmax.out")
def _plain_softmax(call: Call) -> None:
    _emit_softmax(call, log=False)


@reads("aten::_log_softmax.out")
def _log_softmax(call: Call) -> None:
    _emit_softmax(call, log=True)


def emit_unary(call: Call, attrs: ops.Unary) -> None:
    x = call.operand()
    require_float(call, x)
    call.require_out(call.info(x).shape, DType.F32)
    call.emit(attrs, x)


def _unary(function: str) -> Converter:
    return lambda call: emit_unary(call, ops.Unary(function))


for _function in ops.UNARY_FUNCTIONS:
    if _function not in ("elu", "gelu", "gelu_tanh", "leaky_relu"):
        reads(f"aten::{_function}.out")(_unary(_function))


@reads("aten::round.decimals_out")
def _round_decimals(call: Call) -> None:
    call.require(call.integer("decimals") == 0, "rounding to decimals is not supported")
    emit_unary(call, ops.Unary("round"))


@reads("aten::gelu.out")
def _gelu(call: Call) -> None:
    approximate = call.text("approximate")
    call.require(
        approximate in ("none", "tanh"), f"gelu with approximate={approximate!r} is not supported"
    )
    emit_unary(call, ops.Unary("gelu" if approximate == "none" else "gelu_tanh"))


@reads("aten::leaky_relu.out")
def _leaky_relu(call: Call) -> None:
    emit_unary(call, ops.Unary("leaky_relu", alpha=finite(call, "negative_slope")))


@reads("aten::elu.out")
def _elu(call: Call) -> None:
    alpha, scale, input_scale = (finite(call, name) for name in ("alpha", "scale", "input_scale"))
    emit_unary(call, ops.Unary("elu", alpha=alpha, scale=scale, input_scale=input_scale))


@reads("aten::clamp.out")
def _clamp(call: Call) -> None:
    _emit_clamp(call, "min", "max")


@reads("aten::hardtanh.out")
def _hardtanh(call: Call) -> None:
    _emit_clamp(call, "min_val", "max_val")


def _emit_clamp(call: Call, lowest: str, highest: str) -> None:
    x = call.operand()
    dtype = call.info(x).dtype
    call.require_dtype(x, DType.F32, DType.S8, DType.S16, DType.S32)
    call.require_out(call.info(x).shape, dtype)
    low, high = _bound(call, lowest, dtype), _bound(call, highest, dtype)
    call.require(low is not None or high is not None, "neither of the bounds is given")
    if low is not None and high is not None:
        call.require(low <= high, f"empty range [{low}, {high}]")
    call.emit(ops.Clamp(low, high), x)


def _bound(call: Call, name: str, dtype: DType) -> float | None:
    """A bound as the operator applies it; None if it is absent or cannot act."""
    if call.is_none(name):
        return None
    value = call.scalar(name)
    call.require(not math.isnan(value), f"argument {name!r} is not a number")
    if dtype is DType.F32:
        return float(np.float32(value)) if math.isfinite(value) else None
    limit = 1 << (8 * dtype.size - 1)
    whole = min(max(value, -limit), limit - 1)
    call.require(whole == int(whole), f"the bound {value} is not a value of type {dtype.value}")
    return int(whole)
