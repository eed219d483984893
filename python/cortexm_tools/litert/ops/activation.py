# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand. Of int8 codes they are tables, in which TFLM's arithmetic is no matter."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ...ir import ops
from ...ir.fixed_point import I64, Rescale, quantize_multiplier, round_away
from ...ir.types import DType
from .. import functions
from ..arithmetic import code_of, table
from ..call import AGAIN, Call, reads

Codes = Callable[[Call, I64], npt.ArrayLike]
"""A function of int8 codes, less their zero point, that gives codes."""


def _real(function: Callable[[npt.NDArray[np.float32]], npt.ArrayLike]) -> Codes:
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


def _fixed(function: Callable[[I64, float, float], I64]) -> Codes:
    """A function computed in integers, with the scales of its operand and its result."""

    def codes(call: Call, x: I64) -> npt.ArrayLike:
        y = call.result()
        return function(x, call.scale(call.lite(0)), call.scale(y)) + call.zero(y)

    return codes


def _squashed(function: Callable[[I64, float], I64], scale: float, zero: int) -> Codes:
    """A function whose result has the quantization that a kernel takes for granted."""

    def codes(call: Call, x: I64) -> npt.ArrayLike:
        _check_scale(call, scale, zero)
        return function(x, call.scale(call.lite(0)))

    return codes


def _check_scale(call: Call, scale: float, zero: int) -> None:
    tensor = call.result()
    have = call.scale(tensor), call.zero(tensor)
    call.require(
        math.isclose(have[0], scale, rel_tol=1e-3) and have[1] == zero,
        f"{tensor} has scale {have[0]} and zero point {have[1]}, must have {scale} and {zero}",
        AGAIN,
    )


def _elu(x: npt.NDArray[np.float32]) -> npt.ArrayLike:
    below = np.exp(np.minimum(x, 0).astype(np.float64)).astype(np.float32) - np.float32(1)
    return np.where(x < 0, below, x)


_FUNCTIONS: dict[str, tuple[str, Codes | None]] = {
    "ABS": (
        "abs",
        _fixed(lambda x, source, target: quantize_multiplier(source / target).apply(np.abs(x))),
    ),
    "CEIL": ("ceil", None),
    "COS": ("cos", None),
    "ELU": ("elu", _real(_elu)),
    "EXP": ("exp", _real(lambda x: np.exp(x.astype(np.float64)))),
    "FLOOR": ("floor", None),
    "HARD_SWISH": ("hardswish", _fixed(functions.hard_swish)),
    "LOG": ("log", _real(lambda x: np.log(x.astype(np.float64)))),
    "LOGISTIC": ("sigmoid", _squashed(functions.logistic, 1 / 256, -128)),
    "NEG": ("neg", None),
    "ROUND": ("round", None),
    "RSQRT": ("rsqrt", _fixed(functions.rsqrt)),
    "SIN": ("sin", None),
    "SQRT": ("sqrt", None),
    "TANH": ("tanh", _squashed(functions.tanh, 1 / 128, 0)),
}
"""The IR's functions of float32 numbers, and those of int8 codes."""


@reads("LOGISTIC", "TANH")
def _sigmoid(call: Call) -> None:
    if call.types(DType.F32, DType.S8, DType.S16) is not DType.S16:
        _function(call, *_FUNCTIONS[call.name])
        return
    is_tanh, scale = call.name == "TANH", call.scale(call.lite(0))
    call.zero(call.lite(0))
    _check_scale(call, 2**-15, 0)
    # What is nearly a power of two TFLM takes for one: 2**-12, and for tanh 2**-11.
    nearest = math.floor(math.log2(scale) + 0.5)
    factor = scale * 12288
    if abs(math.log2(scale) - nearest) < 1e-3 and 0 <= 12 + nearest <= int(is_tanh):
        factor = 2.0**nearest * 12288
    shift = 0
    while factor <= 32767 / 2 and shift < 31:
        factor, shift = factor * 2, shift + 1
    call.require(
        factor < 32768, f"{call.lite(0)} has the scale {scale}, at most 2.6 is computed", AGAIN
    )
    call.emit(ops.WideSigmoid(int(factor), shift, is_tanh), call.operand(0))


@reads(*sorted(_FUNCTIONS.keys() - {"ABS", "EXP", "HARD_SWISH", "LOGISTIC", "TANH"}))
@reads("EXP", options="ExpOptions")
@reads("HARD_SWISH", options="HardSwishOptions")
def _unary(call: Call) -> None:
    _function(call, *_FUNCTIONS[call.name])


def _function(call: Call, name: str, codes: Codes | None) -> None:
    """A function of float32 numbers by its name, or of codes."""
    if call.types(DType.F32, *[DType.S8] * bool(codes)) is DType.F32:
        call.emit(ops.Unary(name), call.operand(0))
    else:
        assert codes is not None
        _codes(call, codes)


def _codes(call: Call, function: Codes) -> None:
    zero = call.zero(call.lite(0))
    call.zero(call.result())
    call.emit(ops.Activation(), call.operand(0), table(call, lambda x: function(call, x - zero)))


@reads("ABS", options="AbsOptions")
def _abs(call: Call) -> None:
    if call.types(DType.F32, DType.S8, DType.S16) is not DType.S16:
        _function(call, *_FUNCTIONS["ABS"])
        return
    factor = quantize_multiplier(call.scale(call.lite(0)) / call.scale(call.result()))
    _two_sided(call, factor, call.number(np.array(-1, np.int16)), 0, factor)


@reads("SQUARE")
def _square(call: Call) -> None:
    call.types(DType.F32)
    call.emit(ops.Binary("mul"), call.operand(0), call.operand(0))


@reads("GELU", options="GeluOptions")
def _gelu(call: Call) -> None:
    if call.option("approximate"):
        _function(call, "gelu_tanh", _real(functions.gelu_tanh))
    else:
        _function(call, "gelu", _real(functions.gelu))


@reads("LEAKY_RELU", options="LeakyReluOptions")
def _leaky_relu(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16)
    alpha = float(call.option("alpha"))
    call.require(math.isfinite(alpha), f"alpha is {alpha}", AGAIN)
    x, y = call.lite(0), call.result()
    if kind is DType.F32:
        call.emit(ops.Unary("leaky_relu", alpha=alpha), call.operand(0))
        return
    above = quantize_multiplier(call.scale(x) / call.scale(y))
    below = quantize_multiplier(abs(call.scale(x) * alpha) / call.scale(y))
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


_BOUNDS = {
    "RELU": (0.0, None), "RELU_0_TO_1": (0.0, 1.0), "RELU_N1_TO_1": (-1.0, 1.0), "RELU6": (0.0, 6.0),
}  # fmt: skip


@reads(*_BOUNDS)
def _relu(call: Call) -> None:
    low, high = _BOUNDS[call.name]
    kind = call.types(DType.F32, DType.S8, DType.S16)
    if kind is DType.F32:
        call.emit(ops.Clamp(low, high) if high else ops.Unary("relu"), call.operand(0))
        return
    x, y = call.lite(0), call.result()
    zero, factor = call.zero(y), quantize_multiplier(call.scale(x) / call.scale(y))
    least, most = kind.limits
    least = max(least, code_of(low, call.scale(y), zero))
    if high is not None:
        most = min(most, code_of(high, call.scale(y), zero))
    call.require(least <= most, f"leaves no code of {y}", AGAIN)
    if call.name != "RELU6":
        call.emit(ops.Requantize(call.zero(x), factor, zero, least, most), call.operand(0))
        return
    call.require(
        (call.scale(x), call.zero(x)) == (call.scale(y), zero),
        f"{x} and {y} have different scales or zero points, which TFLM does not regard",
        "fuse the activation into the layer before it, or give both the same quantization",
    )
    call.emit(ops.Clamp(least, most), call.operand(0))


@reads("PRELU")
def _prelu(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16, operands=1)
    x, alpha = call.operand(0), call.operand(1)
    shape = call.result().shape
    if kind is DType.F32:
        call.types(DType.F32)
        below = call.add(ops.Binary("mul"), x, alpha, dtype=kind, shape=shape)
        zero = call.number(np.zeros((), np.float32))
        is_above = call.add(ops.Compare("ge"), x, zero, dtype=DType.BOOL, shape=call.shape(x))
        call.emit(ops.Where(), is_above, x, below)
        return
    slope = call.lite(1)
    call.require(slope.type == "INT8", f"has the slopes {slope} of {slope.type}, not INT8", AGAIN)
    zero = call.zero(slope)
    if kind is DType.S16:
        widened = ops.Requantize(zero, Rescale(1 << 30, 1), 0, *kind.limits)
        alpha, zero = call.add(widened, alpha, dtype=kind, shape=call.shape(alpha)), 0
    scales = [call.scale(tensor) for tensor in (call.lite(0), slope, call.result())]
    product = quantize_multiplier(scales[0] * scales[1] / scales[2])
    _two_sided(call, quantize_multiplier(scales[0] / scales[2]), alpha, zero, product)


def _two_sided(call: Call, above: Rescale, slope: int, slope_zero: int, below: Rescale) -> None:
    """Codes above the zero point times a factor, those below it times slopes and another one. One of
    both sides is 0, so that their sum is exact."""
    x, y = call.operand(0), call.result()
    kind, zero, target = call.dtype(x), call.zero(call.lite(0)), call.zero(y)
    positive = call.like(ops.Requantize(zero, above, target, target, kind.limits[1]), x)
    rest = call.like(ops.Clamp(None, zero), x)
    attrs = ops.Mul(zero, slope_zero, target, below)
    negative = call.add(attrs, rest, slope, dtype=kind, shape=y.shape)
    call.emit(functions.plain_sum(kind, target), positive, negative)


@reads("SOFTMAX", options="SoftmaxOptions")
def _softmax(call: Call) -> None:
    kind = call.types(DType.F32, DType.S8, DType.S16)
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
    _check_scale(call, *((1 / 256, -128) if kind is DType.S8 else (2**-15, 0)))
    call.zero(x)
    scale = beta * call.scale(x)
    if kind is DType.S16:
        rescale = quantize_multiplier(scale / (10 / 65535))
        call.require(
            rescale.shift <= 15, f"{x} has the scale {scale}, at most 5 is computed", AGAIN
        )
        call.emit(ops.InterpolatedSoftmax(dim, rescale), call.operand(0))
        return
    call.require(scale * 2**26 > 1.0, f"{x} has too small a scale", AGAIN)
    call.emit(ops.Softmax.of(dim, scale), call.operand(0))


@reads("LOG_SOFTMAX", options="LogSoftmaxOptions")
def _log_softmax(call: Call) -> None:
    call.types(DType.F32)
    dim = len(call.lite(0).shape) - 1
    call.require(dim >= 0, "takes no scalar", AGAIN)
    call.emit(ops.FloatSoftmax(dim, log=True), call.operand(0))
