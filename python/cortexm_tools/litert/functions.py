# SPDX-License-Identifier: Apache-2.0
"""Functions of int8 codes as TFLM's kernels compute them, in integers or in float32, for tables.

All take the codes less their zero point and give codes less theirs, but for `logistic` and `tanh`, whose
results have one zero point. Sources: gemmlowp's fixedpoint.h and the reference kernels of TFLM.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..ir import ops
from ..ir.fixed_point import (
    I64,
    Rescale,
    exp_on_negative,
    high_mul,
    one_minus_over_one_plus,
    one_over_one_plus,
    quantize_multiplier,
    requantize,
    rounding_shift,
)
from ..ir.types import DType

Floats = npt.NDArray[np.float32]

_ONE = 2**31 - 1  # 1 in Q31, saturated
_INTEGER_BITS = 4


def _in_q27(x: I64, scale: float) -> tuple[I64, I64]:
    """Numbers in Q4.27, and for each code -1 or 1 where it lies beyond what they reach, else 0."""
    factor = quantize_multiplier(scale * 2**27)
    radius = math.floor((2**_INTEGER_BITS - 1) * 2**27 / 2**factor.shift)
    beyond = np.where(x <= -radius, -1, np.where(x >= radius, 1, 0))
    return factor.apply(np.where(beyond == 0, x, 0)), beyond


def logistic(x: I64, scale: float) -> I64:
    """Codes of 1 / (1 + exp(-x)) in units of 1/256 from -128 on."""
    number, beyond = _in_q27(x, scale)
    positive = one_over_one_plus(exp_on_negative(-np.abs(number), _INTEGER_BITS))
    value = np.where(number < 0, _ONE - positive, np.where(number == 0, 1 << 30, positive))
    return _limited(rounding_shift(value, 23) - 128, beyond)


def tanh(x: I64, scale: float) -> I64:
    """Codes of tanh(x) in units of 1/128."""
    number, beyond = _in_q27(x, scale)
    positive = one_minus_over_one_plus(exp_on_negative(-np.abs(number), _INTEGER_BITS + 1))
    value = np.where(number == 0, 0, np.sign(number) * positive)
    return _limited(rounding_shift(value, 24), beyond)


def _limited(codes: I64, beyond: I64) -> I64:
    return np.where(beyond == 0, np.clip(codes, -128, 127), np.where(beyond > 0, 127, -128))


def _high_half(a: I64, b: int) -> I64:
    """Of products of 16 bits the upper half, doubled and rounded (SQRDMULH)."""
    return np.minimum((a * b + (1 << 14)) >> 15, 2**15 - 1)


def hard_swish(x: I64, source: float, target: float) -> I64:
    """x * relu6(x + 3) / 6 in 16 bits."""
    result, gate = (
        quantize_multiplier(source / 128 / target),
        quantize_multiplier(source / 128 / (3 / 32768)),
    )
    value = _high_half(x << 7, _upper(result))
    part = x << 7
    if gate.shift > 0:
        part = _in_16_bits(part << (gate.shift - 1))
    part = _high_half(part, _upper(gate))
    if gate.shift > 0:
        part = _in_16_bits(part << 1)
    elif gate.shift < 0:
        part = rounding_shift(part, -gate.shift)
    part = (part + (1 << 15)) >> 1
    product = np.trunc(part * value / 2**15).astype(np.int64)
    return rounding_shift(product, -result.shift)


def _in_16_bits(x: I64) -> I64:
    return np.clip(x, -(2**15), 2**15 - 1)


def _upper(rescale: Rescale) -> int:
    """A multiplier of 31 bits as one of 15 (DownScaleInt32ToInt16Multiplier)."""
    return min((rescale.multiplier + (1 << 15)) >> 16, 2**15 - 1)


def rsqrt(x: I64, source: float, target: float) -> I64:
    """1 / sqrt(x); 0 gives the largest code, and what is below, of which TFLM makes an error."""
    factor = quantize_multiplier(1.0 / (math.sqrt(source) * target))
    found = np.full(x.shape, 255, np.int64)
    one = np.array(1, np.int64)
    for place in np.flatnonzero(x > 0):
        root = _inverse_root(int(x[place]))
        found[place] = requantize(
            requantize(one, root.multiplier, root.shift + 20), factor.multiplier, factor.shift - 20
        )
    return found


def _inverse_root(value: int) -> Rescale:
    """1 / sqrt(value) of 1 … 255 by five Newton steps in Q3.28 (GetInvSqrtQuantizedMultiplierExp)."""
    if value == 1:
        return Rescale(_ONE, 0)
    pairs = (31 - value.bit_length()) // 2 - 1
    shift = 11 - pairs
    number = np.array((value << 2 * pairs) >> 1, np.int64)
    half = rounding_shift(number, 1)
    x = np.array(1 << 28, np.int64)
    for _ in range(5):
        cube = high_mul(high_mul(x, x), x) << 6
        x = (high_mul(x, (1 << 28) + (1 << 27)) - high_mul(half, int(cube))) << 3
    return Rescale(int(high_mul(x, 1518500250)) << max(-shift, 0), -max(shift, 0))


def gelu(x: Floats) -> npt.NDArray[np.float64]:
    """x * (1 + erf(x / sqrt(2))) / 2"""
    v = x.astype(np.float64)
    return 0.5 * v * (1.0 + np.array([math.erf(each * math.sqrt(0.5)) for each in v.tolist()]))


def gelu_tanh(x: Floats) -> npt.NDArray[np.float64]:
    """x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2"""
    v = x.astype(np.float64)
    return np.asarray(0.5 * v * (1.0 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))))


def plain_sum(kind: DType, zero: int, sign: int = 1) -> ops.Add:
    """a + b, or with the sign -1 a - b, of codes of one quantization: halves of both, doubled."""
    half, back = Rescale(1 << 30, 0), Rescale(1 << 30, -18 if kind is DType.S8 else -13)
    low, high = kind.limits
    return ops.Add(zero, half, zero, Rescale(sign << 30, 0), zero, back, low, high)
