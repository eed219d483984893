# SPDX-License-Identifier: Apache-2.0
"""Functions of float32 numbers: of one operand in UNARY, of two in BINARY.

Every operation rounds to float32, in the order in which the kernels do it (unary_scalar.inc and
numbers_scalar.inc below kernels/src), so that results are equal in every bit. Functions of the C
library are computed in float64 and rounded once; they are not exact, as libraries differ in the last
bits (ir/exactness.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .floats import F32, Floats

Integers = npt.NDArray[np.signedinteger[Any]]

_ZERO, _HALF, _ONE, _SIX = F32(0.0), F32(0.5), F32(1.0), F32(6.0)
_SQRT_HALF = F32(math.sqrt(0.5))
_SQRT_2_OVER_PI = F32(math.sqrt(2.0 / math.pi))
_GELU_CUBIC = F32(0.044715)


@dataclass(frozen=True)
class Unary:
    """A function of float32 numbers; of a parametrized one `compute` takes its parameters, too."""

    compute: Callable[..., Any]
    exact: bool = True
    parametrized: bool = False


@dataclass(frozen=True)
class Binary:
    """A function of two operands.

    Attributes:
        floats: of float32 numbers.
        integers: of s32 and s64, which wrap; None if there is no such function.
        divides: whether integers are divided, so that the second operand must have no zeros.
    """

    floats: Callable[[Any, Any], Any]
    integers: Callable[[Any, Any], Any] | None = None
    exact: bool = True
    divides: bool = False


def _rounded_once(function: Callable[[npt.NDArray[np.float64]], Any]) -> Callable[[Floats], Floats]:
    return lambda x: np.asarray(function(x.astype(np.float64))).astype(F32)


_exp = _rounded_once(np.exp)
_tanh = _rounded_once(np.tanh)
_erf = _rounded_once(np.vectorize(math.erf, otypes=[np.float64]))
_expm1 = _rounded_once(np.expm1)


def _library(function: Callable[[npt.NDArray[np.float64]], Any]) -> Unary:
    """A function of the C library."""
    return _inexact(_rounded_once(function))


def _inexact(function: Callable[[Floats], Any]) -> Unary:
    """A function that calls the C library."""
    return Unary(function, exact=False)


def _clamp_0_6(x: Floats) -> Floats:
    above = np.where(x < _ZERO, _ZERO, x)
    return np.where(above > _SIX, _SIX, above)


def _elu(x: Floats, alpha: F32, scale: F32, input_scale: F32) -> Floats:
    return np.where(x < _ZERO, _expm1(x * input_scale) * (alpha * scale), x * scale)


def _gelu_tanh(x: Floats) -> Floats:
    inner = _SQRT_2_OVER_PI * (x + _GELU_CUBIC * (x * x * x))
    return np.asarray(_HALF * x * (_ONE + _tanh(inner)))


def _leaky_relu(x: Floats, alpha: F32, scale: F32, input_scale: F32) -> Floats:
    return np.where(x > _ZERO, x, x * alpha)


def _sign(x: Floats) -> Floats:
    """The sign; a NaN stays, and either zero gives +0."""
    small = np.where(x < _ZERO, -_ONE, np.where(x == _ZERO, _ZERO, x))
    return np.where(x > _ZERO, _ONE, small)


UNARY: dict[str, Unary] = {
    "abs": Unary(np.abs),
    "acos": _library(np.arccos),
    "acosh": _library(np.arccosh),
    "asin": _library(np.arcsin),
    "asinh": _library(np.arcsinh),
    "atan": _library(np.arctan),
    "atanh": _library(np.arctanh),
    "ceil": Unary(np.ceil),
    "cos": _library(np.cos),
    "cosh": _library(np.cosh),
    "elu": Unary(_elu, exact=False, parametrized=True),
    "erf": _inexact(_erf),
    "exp": _inexact(_exp),
    "expm1": _inexact(_expm1),
    "floor": Unary(np.floor),
    "gelu": _inexact(lambda x: _HALF * x * (_ONE + _erf(x * _SQRT_HALF))),
    "gelu_tanh": _inexact(_gelu_tanh),
    "hardsigmoid": Unary(lambda x: _clamp_0_6(x + F32(3.0)) / _SIX),
    "hardswish": Unary(lambda x: x * _clamp_0_6(x + F32(3.0)) / _SIX),
    "leaky_relu": Unary(_leaky_relu, parametrized=True),
    "log": _library(np.log),
    "log10": _library(np.log10),
    "log1p": _library(np.log1p),
    "log2": _library(np.log2),
    "neg": Unary(np.negative),
    "reciprocal": Unary(lambda x: _ONE / x),
    "relu": Unary(lambda x: np.where(x < _ZERO, _ZERO, x)),
    "round": Unary(np.rint),
    "rsqrt": Unary(lambda x: _ONE / np.sqrt(x)),
    "sigmoid": _inexact(lambda x: _ONE / (_ONE + _exp(-x))),
    "sign": Unary(_sign),
    "silu": _inexact(lambda x: x / (_ONE + _exp(-x))),
    "sin": _library(np.sin),
    "sinh": _library(np.sinh),
    "sqrt": Unary(np.sqrt),
    "tan": _library(np.tan),
    "tanh": _inexact(_tanh),
    "trunc": Unary(np.trunc),
}


def _power(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.power(a.astype(np.float64), b.astype(np.float64))).astype(F32)


def _atan2(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.arctan2(a.astype(np.float64), b.astype(np.float64))).astype(F32)


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


def _trunc_divide(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.trunc(a / b))


def _trunc_divide_integers(a: Integers, b: Integers) -> Integers:
    """The quotient of a less its remainder is whole, so that rounding it down changes nothing."""
    return np.asarray(np.floor_divide(a - np.fmod(a, b), b))


BINARY: dict[str, Binary] = {
    "add": Binary(np.add, np.add),
    "sub": Binary(np.subtract, np.subtract),
    "mul": Binary(np.multiply, np.multiply),
    "div": Binary(np.divide),
    "pow": Binary(_power, exact=False),
    "fmod": Binary(np.fmod, np.fmod, divides=True),
    "remainder": Binary(_remainder, np.remainder, divides=True),
    "floor_divide": Binary(_floor_divide, np.floor_divide, divides=True),
    "trunc_divide": Binary(_trunc_divide, _trunc_divide_integers, divides=True),
    "atan2": Binary(_atan2, exact=False),
}
