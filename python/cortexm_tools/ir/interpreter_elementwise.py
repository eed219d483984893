# SPDX-License-Identifier: Apache-2.0
"""The meaning of Unary and Binary, registered with the reference interpreter.

Every operation rounds to float32, in the order in which the kernels do it
(kernels/src/float_elementwise/functions.h), so that results are equal in every bit. Functions of
the C library are computed in float64 and rounded once: a library differs in the last bits
(ir/exactness.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import ops
from .interpreter import F32, implements
from .types import Array, Graph, Op

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.signedinteger[Any]]
Function = Callable[[Floats], Any]

_ZERO, _HALF, _ONE, _SIX = F32(0.0), F32(0.5), F32(1.0), F32(6.0)
_SQRT_HALF = F32(math.sqrt(0.5))
_SQRT_2_OVER_PI = F32(math.sqrt(2.0 / math.pi))
_GELU_CUBIC = F32(0.044715)


def _library(function: Callable[[npt.NDArray[np.float64]], Any]) -> Function:
    """A function of the C library: rounded once."""
    return lambda x: np.asarray(function(x.astype(np.float64))).astype(F32)


_exp = _library(np.exp)
_tanh = _library(np.tanh)
_erf = _library(np.vectorize(math.erf, otypes=[np.float64]))
_expm1 = _library(np.expm1)


def _clamp_0_6(x: Floats) -> Floats:
    above = np.where(x < _ZERO, _ZERO, x)
    return np.where(above > _SIX, _SIX, above)


def _sign(x: Floats) -> Floats:
    """The sign; a NaN stays, and either zero gives +0."""
    small = np.where(x < _ZERO, -_ONE, np.where(x == _ZERO, _ZERO, x))
    return np.where(x > _ZERO, _ONE, small)


def _gelu_tanh(x: Floats) -> Floats:
    inner = _SQRT_2_OVER_PI * (x + _GELU_CUBIC * (x * x * x))
    return np.asarray(_HALF * x * (_ONE + _tanh(inner)))


_UNARY: dict[str, Function] = {
    "abs": np.abs,
    "acos": _library(np.arccos),
    "acosh": _library(np.arccosh),
    "asin": _library(np.arcsin),
    "asinh": _library(np.arcsinh),
    "atan": _library(np.arctan),
    "atanh": _library(np.arctanh),
    "ceil": np.ceil,
    "cos": _library(np.cos),
    "cosh": _library(np.cosh),
    "erf": _erf,
    "exp": _exp,
    "expm1": _expm1,
    "floor": np.floor,
    "gelu": lambda x: _HALF * x * (_ONE + _erf(x * _SQRT_HALF)),
    "gelu_tanh": _gelu_tanh,
    "hardsigmoid": lambda x: _clamp_0_6(x + F32(3.0)) / _SIX,
    "hardswish": lambda x: x * _clamp_0_6(x + F32(3.0)) / _SIX,
    "log": _library(np.log),
    "log10": _library(np.log10),
    "log1p": _library(np.log1p),
    "log2": _library(np.log2),
    "neg": np.negative,
    "reciprocal": lambda x: _ONE / x,
    "relu": lambda x: np.where(x < _ZERO, _ZERO, x),
    "round": np.rint,
    "rsqrt": lambda x: _ONE / np.sqrt(x),
    "sigmoid": lambda x: _ONE / (_ONE + _exp(-x)),
    "sign": _sign,
    "silu": lambda x: x / (_ONE + _exp(-x)),
    "sin": _library(np.sin),
    "sinh": _library(np.sinh),
    "sqrt": np.sqrt,
    "tan": _library(np.tan),
    "tanh": _tanh,
    "trunc": np.trunc,
}


@implements(ops.Unary)
def _unary(attrs: ops.Unary, inputs: list[Any], op: Op, graph: Graph) -> Array:
    x: Floats = inputs[0]
    alpha, scale, input_scale = F32(attrs.alpha), F32(attrs.scale), F32(attrs.input_scale)
    with np.errstate(all="ignore"):
        if attrs.function == "leaky_relu":
            return np.where(x > _ZERO, x, x * alpha)
        if attrs.function == "elu":
            return np.where(x < _ZERO, _expm1(x * input_scale) * (alpha * scale), x * scale)
        return np.asarray(_UNARY[attrs.function](x), F32)


def _remainder(a: Floats, b: Floats) -> Floats:
    rest = np.fmod(a, b)
    return np.where((rest != _ZERO) & ((rest < _ZERO) != (b < _ZERO)), rest + b, rest)


def _floor_divide(a: Floats, b: Floats) -> Floats:
    rest = np.fmod(a, b)
    quotient = (a - rest) / b
    lower = (rest != _ZERO) & ((rest < _ZERO) != (b < _ZERO))
    quotient = np.where(lower, quotient - _ONE, quotient)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > _HALF, whole + _ONE, whole)
    return np.where(b == _ZERO, a / b, whole)


def _power(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.power(a.astype(np.float64), b.astype(np.float64))).astype(F32)


def _atan2(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.arctan2(a.astype(np.float64), b.astype(np.float64))).astype(F32)


def _trunc_divide_integers(a: Integers, b: Integers) -> Integers:
    """The quotient of a less its remainder is whole, so that rounding it down changes nothing."""
    return np.asarray(np.floor_divide(a - np.fmod(a, b), b))


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": _power,
    "fmod": np.fmod,
    "remainder": _remainder,
    "floor_divide": _floor_divide,
    "trunc_divide": lambda a, b: np.trunc(a / b),
    "atan2": _atan2,
}
_OF_INTEGERS: dict[str, Callable[[Any, Any], Any]] = {
    **_BINARY,
    "remainder": np.remainder,
    "floor_divide": np.floor_divide,
    "trunc_divide": _trunc_divide_integers,
}


@implements(ops.Binary)
def _binary(attrs: ops.Binary, inputs: list[Any], op: Op, graph: Graph) -> Array:
    functions = _BINARY if inputs[0].dtype == F32 else _OF_INTEGERS
    with np.errstate(all="ignore"):
        return np.asarray(functions[attrs.function](inputs[0], inputs[1]))
