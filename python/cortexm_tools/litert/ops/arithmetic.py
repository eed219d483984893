# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on two operands, which broadcast."""

from __future__ import annotations

from ...ir import ops
from ...ir.fixed_point import Rescale, quantize_multiplier
from ...ir.types import DType
from ..arithmetic import activation, clamped, code_bounds
from ..call import AGAIN, Call, reads
from ..functions import plain_sum

_INTEGERS = (DType.S32, DType.S64)
_BINARY = {"ADD": "add", "SUB": "sub", "MUL": "mul", "DIV": "div"}


def _numbers(call: Call, kind: DType) -> bool:
    """Converts an operator on floats or on integers; False if it is on codes."""
    if kind in (DType.S8, DType.S16):
        return False
    function, fused = _BINARY[call.name], activation(call)
    if kind is not DType.F32:
        call.require(
            fused == "NONE", f"has the activation {fused} on integers", "leave out the activation"
        )
        if function == "div":
            function = "trunc_divide"
            call.require(bool(call.constant(1).all()), "integers are divided by zero")
    attrs = ops.Binary(function)
    made = call.add(attrs, *call.operands, dtype=kind, shape=call.result().shape)
    call.give(clamped(call, made, fused) if kind is DType.F32 else made)
    return True


def _smaller_than_one(call: Call, real: float) -> Rescale:
    """A factor that kernels only shift to the right by."""
    call.require(
        0.0 < real < 1.0, "its scales are too far apart", "TFLM refuses such operands; " + AGAIN
    )
    return quantize_multiplier(real)


@reads("ADD", options="AddOptions")
@reads("SUB", options="SubOptions")
def _sum(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16, *_INTEGERS)
    if _numbers(call, kind):
        return
    a, b, y = call.lite(0), call.lite(1), call.result()
    twice = 2 * max(call.scale(a), call.scale(b))
    raised = 15 if kind is DType.S16 else 20
    first = _smaller_than_one(call, call.scale(a) / twice)
    second = _smaller_than_one(call, call.scale(b) / twice)
    result = _smaller_than_one(call, twice / ((1 << raised) * call.scale(y)))
    low, high = code_bounds(call, y, activation(call))
    attrs = ops.Add(
        call.zero(a),
        first,
        call.zero(b),
        Rescale(-second.multiplier if call.name == "SUB" else second.multiplier, second.shift),
        call.zero(y),
        result,
        low,
        high,
    )
    call.emit(attrs, *call.operands)


@reads("MUL", options="MulOptions")
def _mul(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16, *_INTEGERS)
    if _numbers(call, kind):
        return
    a, b, y = call.lite(0), call.lite(1), call.result()
    factor = quantize_multiplier(call.scale(a) * call.scale(b) / call.scale(y))
    attrs = ops.Mul(call.zero(a), call.zero(b), call.zero(y), factor)
    low, high = code_bounds(call, y, activation(call))
    made = call.add(attrs, *call.operands, dtype=kind, shape=y.shape)
    call.give(made if (low, high) == kind.limits else call.like(ops.Clamp(low, high), made))


@reads("DIV", options="DivOptions")
def _div(call: Call) -> None:
    if _numbers(call, call.types(DType.F32, DType.S8, DType.S32)):
        return
    raise call.error(
        "divides int8 codes, for which TFLM shifts by more than its words are wide",
        "multiply by a reciprocal, or compute this in float32",
    )


@reads("MINIMUM", "MAXIMUM", options="MaximumMinimumOptions")
def _extremum(call: Call) -> None:
    call.types(DType.F32, DType.S8, DType.S16, *_INTEGERS)
    call.same_scale(call.lite(0), call.lite(1), call.result())
    call.emit(ops.Minimum() if call.name == "MINIMUM" else ops.Maximum(), *call.operands)


@reads("SQUARED_DIFFERENCE", options="SquaredDifferenceOptions")
def _squared_difference(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16, DType.S32)
    shape = call.result().shape
    if kind not in (DType.S8, DType.S16):
        less = call.add(ops.Binary("sub"), *call.operands, dtype=kind, shape=shape)
        call.emit(ops.Binary("mul"), less, less)
        return
    # int16 codes have room for both operands, int8 ones 2^7 times as large, and for their difference if
    # that is negative: the smaller one of a - b and b - a.
    a, b, y = call.lite(0), call.lite(1), call.result()
    scales = [call.scale(tensor) for tensor in (a, b, y)]
    twice = 2.0 * max(scales[0], scales[1])
    wide = []
    for number, scale in enumerate(scales[:2]):
        x, zero = call.operand(number), call.zero(call.lite(number))
        raised = ops.Requantize(zero, Rescale(1 << 30, 8), 0, -32768, 32767)
        scaled = ops.Requantize(0, _smaller_than_one(call, scale / twice), 0, -32768, 32767)
        for attrs in (raised, scaled) if kind is DType.S8 else (scaled,):
            x = call.add(attrs, x, dtype=DType.S16, shape=call.shape(x))
        wide.append(x)
    minus = plain_sum(DType.S16, 0, -1)
    less = call.add(minus, *wide, dtype=DType.S16, shape=shape)
    if kind is DType.S16:
        more = call.add(minus, *reversed(wide), dtype=DType.S16, shape=shape)
        less = call.add(ops.Minimum(), less, more, dtype=DType.S16, shape=shape)
    factor = quantize_multiplier(twice * twice / ((1 << 14 if kind is DType.S8 else 1) * scales[2]))
    square = call.add(ops.Mul(0, 0, 0, factor), less, less, dtype=DType.S16, shape=shape)
    if kind is DType.S8:
        square = call.add(
            ops.Requantize(0, Rescale(1 << 30, 1), call.zero(y), -128, 127), square,
            dtype=kind, shape=shape,
        )  # fmt: skip
    call.give(square)
