# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand. Of int8 codes they are tables, in which TFLM's arithmetic is no matter."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...ir import ops
from ...ir.types import DType
from .. import functions
from ..arithmetic import code_of, multiplier, round_away, table
from ..call import AGAIN, Call, reads

I64 = npt.NDArray[np.int64]

_UNARY = {
    "ABS": "abs", "CEIL": "ceil", "COS": "cos", "EXP": "exp", "FLOOR": "floor",
    "HARD_SWISH": "hardswish", "LOG": "log", "LOGISTIC": "sigmoid", "NEG": "neg",
    "RELU": "relu", "ROUND": "round", "RSQRT": "rsqrt", "SIN": "sin", "SQRT": "sqrt",
    "TANH": "tanh",
}  # fmt: skip
"""Functions of float32 numbers without options."""


def _float(call: Call) -> bool:
    """Converts an operator of floats without options; False if it is of codes."""
    if call.type(call.lite(0)) is not DType.F32:
        return False
    call.types(DType.F32)
    call.emit(ops.Unary(_UNARY[call.name]), call.operand(0))
    return True


@reads("CEIL", "COS", "FLOOR", "NEG", "ROUND", "SIN", "SQRT")
def _of_floats(call: Call) -> None:
    if not _float(call):
        call.types(DType.F32)


@reads("SQUARE")
def _square(call: Call) -> None:
    call.types(DType.F32)
    call.emit(ops.Binary("mul"), call.operand(0), call.operand(0))


def _codes(call: Call, function: Callable[[Call, I64], npt.ArrayLike]) -> None:
    """A function of int8 codes, less their zero point, that gives codes."""
    call.types(DType.S8)
    zero = call.zero(call.lite(0))
    call.zero(call.result())
    call.emit(ops.Activation(), call.operand(0), table(call, lambda x: function(call, x - zero)))


def _real(
    function: Callable[[npt.NDArray[np.float32]], npt.ArrayLike],
) -> Callable[[Call, I64], npt.ArrayLike]:
    """A function computed of numbers in float32, and rounded."""

    def codes(call: Call, x: I64) -> npt.ArrayLike:
        with np.errstate(all="ignore"):
            found = np.asarray(
                function(np.float32(call.scale(call.lite(0))) * x.astype(np.float32)), np.float32
            )
            scaled = round_away(found * (np.float32(1) / np.float32(call.scale(call.result()))))
        limited = np.nan_to_num(scaled, nan=0.0, posinf=2.0**30, neginf=-(2.0**30))
        return np.clip(limited, -(2.0**30), 2.0**30) + call.zero(call.result())

    return codes


@reads("LOGISTIC")
def _logistic(call: Call) -> None:
    if not _float(call):
        _check_scale(call, 1 / 256, -128)
        _codes(call, lambda call, x: functions.logistic(x, call.scale(call.lite(0))))


@reads("TANH")
def _tanh(call: Call) -> None:
    if not _float(call):
        _check_scale(call, 1 / 128, 0)
        _codes(call, lambda call, x: functions.tanh(x, call.scale(call.lite(0))))


def _check_scale(call: Call, scale: float, zero: int) -> None:
    """The result has the quantization that a kernel takes for granted."""
    call.types(DType.S8)
    tensor = call.result()
    have = call.scale(tensor), call.zero(tensor)
    call.require(
        math.isclose(have[0], scale, rel_tol=1e-3) and have[1] == zero,
        f"{tensor} has scale {have[0]} and zero point {have[1]}, must have {scale} and {zero}",
        AGAIN,
    )


@reads("HARD_SWISH", options="HardSwishOptions")
def _hard_swish(call: Call) -> None:
    if not _float(call):
        y = call.result()
        _codes(
            call,
            lambda call, x: (
                functions.hard_swish(x, call.scale(call.lite(0)), call.scale(y)) + call.zero(y)
            ),
        )


@reads("EXP", options="ExpOptions")
def _exp(call: Call) -> None:
    if not _float(call):
        _codes(call, _real(lambda x: np.exp(x.astype(np.float64))))


@reads("LOG")
def _log(call: Call) -> None:
    if not _float(call):
        _codes(call, _real(lambda x: np.log(x.astype(np.float64))))


@reads("ELU")
def _elu(call: Call) -> None:
    if call.type(call.lite(0)) is DType.F32:
        call.types(DType.F32)
        call.emit(ops.Unary("elu"), call.operand(0))
    else:
        _codes(call, _real(_elu_of))


def _elu_of(x: npt.NDArray[np.float32]) -> npt.ArrayLike:
    below = np.exp(np.minimum(x, 0).astype(np.float64)).astype(np.float32) - np.float32(1)
    return np.where(x < 0, below, x)


@reads("GELU", options="GeluOptions")
def _gelu(call: Call) -> None:
    near = bool(call.option("approximate"))
    if call.type(call.lite(0)) is DType.F32:
        call.types(DType.F32)
        call.emit(ops.Unary("gelu_tanh" if near else "gelu"), call.operand(0))
    else:
        _codes(call, _real(functions.gelu_tanh if near else functions.gelu))


@reads("ABS", options="AbsOptions")
def _abs(call: Call) -> None:
    if _float(call):
        return
    factor = multiplier(call.scale(call.lite(0)) / call.scale(call.result()))
    _codes(call, lambda call, x: factor.apply(np.abs(x)) + call.zero(call.result()))


@reads("RSQRT")
def _rsqrt(call: Call) -> None:
    if not _float(call):
        y = call.result()
        _codes(
            call,
            lambda call, x: (
                functions.rsqrt(x, call.scale(call.lite(0)), call.scale(y)) + call.zero(y)
            ),
        )


@reads("LEAKY_RELU", options="LeakyReluOptions")
def _leaky_relu(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16)
    alpha = float(call.option("alpha"))
    call.require(math.isfinite(alpha), f"alpha is {alpha}", AGAIN)
    x, y = call.lite(0), call.result()
    if kind is DType.F32:
        call.emit(ops.Unary("leaky_relu", alpha=alpha), call.operand(0))
        return
    above = multiplier(call.scale(x) / call.scale(y))
    below = multiplier(abs(call.scale(x) * alpha) / call.scale(y))
    sign = -1 if alpha < 0 else 1
    if kind is DType.S8:
        _codes(
            call,
            lambda call, v: np.where(v >= 0, above.apply(v), sign * below.apply(v)) + call.zero(y),
        )
        return
    # One of both sides is 0, so that a sum of halves that is doubled is exact.
    zeros = call.zero(x), call.zero(y)
    positive = call.like(ops.Requantize(0, above, 0, 0, 32767), call.operand(0))
    negative = call.like(ops.Requantize(0, below, 0, -32768, 0), call.operand(0))
    call.emit(functions.plain_sum(kind, zeros[1], sign), positive, negative)


@reads("RELU", "RELU_0_TO_1", "RELU_N1_TO_1")
def _relu(call: Call) -> None:
    low, high = {"RELU": (0.0, None), "RELU_0_TO_1": (0.0, 1.0), "RELU_N1_TO_1": (-1.0, 1.0)}[
        call.name
    ]
    kind = call.types(DType.F32, DType.S8, DType.S16)
    if kind is DType.F32:
        call.emit(ops.Clamp(low, high) if high else ops.Unary("relu"), call.operand(0))
        return
    x, y = call.lite(0), call.result()
    scale, zero = call.scale(y), call.zero(y)
    bounds = [max(kind.limits[0], code_of(low, scale, zero)), kind.limits[1]]
    if high is not None:
        bounds[1] = min(kind.limits[1], code_of(high, scale, zero))
    call.require(bounds[0] <= bounds[1], f"leaves no code of {y}", AGAIN)
    factor = multiplier(call.scale(x) / scale)
    call.emit(ops.Requantize(call.zero(x), factor, zero, bounds[0], bounds[1]), call.operand(0))


@reads("RELU6")
def _relu6(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16)
    x, y = call.lite(0), call.result()
    if kind is DType.F32:
        call.emit(ops.Clamp(0.0, 6.0), call.operand(0))
        return
    zero = call.zero(x)
    call.require(
        (call.scale(x), zero) == (call.scale(y), call.zero(y)),
        f"{x} and {y} have different scales or zero points, which TFLM does not regard",
        "fuse the activation into the layer before it, or give both the same quantization",
    )
    six = min(code_of(6.0, call.scale(x), zero), kind.limits[1])
    call.emit(ops.Clamp(zero, six), call.operand(0))


@reads("PRELU")
def _prelu(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, operands=1)
    x, alpha = call.operand(0), call.operand(1)
    shape = call.result().shape
    if kind is DType.F32:
        call.types(DType.F32)
        below = call.add(ops.Binary("mul"), x, alpha, dtype=kind, shape=shape)
        zero = call.number(np.zeros((), np.float32))
        is_above = call.add(ops.Compare("ge"), x, zero, dtype=DType.BOOL, shape=call.shape(x))
        call.emit(ops.Where(), is_above, x, below)
        return
    call.types(DType.S8)
    source, slope, y = call.lite(0), call.lite(1), call.result()
    zeros = call.zero(source), call.zero(slope), call.zero(y)
    scales = [call.scale(tensor) for tensor in (source, slope, y)]
    above = multiplier(scales[0] / scales[2])
    product = multiplier(scales[0] * scales[1] / scales[2])
    positive = call.like(ops.Requantize(zeros[0], above, zeros[2], zeros[2], 127), x)
    below = call.like(ops.Clamp(None, zeros[0]), x)
    negative = call.add(ops.Mul(*zeros, product), below, alpha, dtype=kind, shape=shape)
    call.emit(functions.plain_sum(kind, zeros[2]), positive, negative)


@reads("SOFTMAX", options="SoftmaxOptions")
def _softmax(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8)
    x = call.lite(0)
    beta = float(call.option("beta"))
    call.require(0.0 < beta < math.inf, f"beta is {beta}", AGAIN)
    dim = len(x.shape) - 1
    call.require(dim >= 0, "takes no scalar", AGAIN)
    if kind is DType.F32:
        scaled = call.operand(0)
        if beta != 1.0:
            factor = call.number(np.array(beta, np.float32))
            scaled = call.like(ops.Binary("mul"), scaled, factor)
        call.emit(ops.FloatSoftmax(dim, log=False), scaled)
        return
    _check_scale(call, 1 / 256, -128)
    call.zero(x)
    factor_of_code = min(beta * call.scale(x) * 2**26, 2.0**31 - 1)
    call.require(factor_of_code > 1.0, f"{x} has too small a scale", AGAIN)
    rescale = multiplier(factor_of_code)
    lowest = -int(math.floor(31 * 2**26 / 2**rescale.shift))
    call.emit(ops.Softmax(dim, rescale, lowest), call.operand(0))


@reads("LOG_SOFTMAX", options="LogSoftmaxOptions")
def _log_softmax(call: Call) -> None:
    call.types(DType.F32)
    dim = len(call.lite(0).shape) - 1
    call.require(dim >= 0, "takes no scalar", AGAIN)
    call.emit(ops.FloatSoftmax(dim, log=True), call.operand(0))
