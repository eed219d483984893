# SPDX-License-Identifier: Apache-2.0
"""Functions of one operand: tables, softmax, functions of floats, bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs

UNARY_FUNCTIONS = (
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "elu",
    "erf",
    "exp",
    "expm1",
    "floor",
    "gelu",
    "gelu_tanh",
    "hardsigmoid",
    "hardswish",
    "leaky_relu",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "relu",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
)


@dataclass(frozen=True)
class Activation(Attrs):
    """x s8, table [256] s8 -> table[x + 128]."""

    kind: ClassVar[str] = "activation"


@dataclass(frozen=True)
class Softmax(Attrs):
    """x s8 -> s8 with scale 1/256 and zero point -128, along `dim` (non-negative)."""

    kind: ClassVar[str] = "softmax"
    dim: int
    multiplier: int
    shift: int
    diff_min: int


@dataclass(frozen=True)
class FloatSoftmax(Attrs):
    """x f32 -> softmax along `dim`, or its logarithm."""

    kind: ClassVar[str] = "float_softmax"
    dim: int
    log: bool


@dataclass(frozen=True)
class Unary(Attrs):
    """x f32 -> f32; `function` is one of UNARY_FUNCTIONS (gelu in its exact form).

    `alpha` is leaky_relu's slope below zero. elu is scale * x above zero, else
    scale * alpha * (exp(input_scale * x) - 1).
    """

    kind: ClassVar[str] = "unary"
    function: str
    alpha: float = 1.0
    scale: float = 1.0
    input_scale: float = 1.0


@dataclass(frozen=True)
class Clamp(Attrs):
    """x -> min(max(x, low), high), in x's type; a bound that is None does not act."""

    kind: ClassVar[str] = "clamp"
    low: float | None
    high: float | None
