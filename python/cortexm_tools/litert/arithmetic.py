# SPDX-License-Identifier: Apache-2.0
"""TFLM's arithmetic at build time: multipliers of scales, and codes of bounds, to the bit.

Scales are float32; their products and quotients TFLM computes in double, codes of bounds in float.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..ir import ops
from ..ir.fixed_point import Rescale, quantize_multiplier, round_away
from .call import AGAIN, Call
from .values import LiteTensor

_BOUNDS: dict[str, tuple[float | None, float | None]] = {
    "NONE": (None, None),
    "RELU": (0.0, None),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU6": (0.0, 6.0),
}
"""Of fused activations; TANH and SIGN_BIT no kernel of TFLM's has."""


def float_multiplier(call: Call, *factors: LiteTensor, by: LiteTensor | float) -> Rescale:
    """Of scales multiplied and divided in float32."""
    product = np.float32(1)
    with np.errstate(all="ignore"):
        for tensor in factors:
            product = product * np.float32(call.scale(tensor))
        found = float(product / np.float32(by if isinstance(by, float) else call.scale(by)))
    call.require(math.isfinite(found), "its scales are too large or too small", AGAIN)
    return quantize_multiplier(found)


def code_of(value: float, scale: float, zero: int) -> int:
    """The code of a number, not limited."""
    return int(round_away(np.float32(value) / np.float32(scale))) + zero


def activation(call: Call, name: str = "fused_activation_function") -> str:
    """The fused activation of an operator."""
    found = call.choice(name, "ActivationFunctionType")
    call.require(
        found in _BOUNDS,
        f"the fused activation {found} has no kernel",
        "put the activation behind the layer as an operator of its own",
    )
    return found


def code_bounds(call: Call, tensor: LiteTensor, function: str) -> tuple[int, int]:
    """The smallest and the largest code that a fused activation leaves."""
    scale, zero = call.scale(tensor), call.zero(tensor)
    lowest, highest = call.type(tensor).limits
    low, high = _BOUNDS[function]
    if low is not None:
        lowest = max(lowest, code_of(low, scale, zero))
    if high is not None:
        highest = min(highest, code_of(high, scale, zero))
    call.require(lowest <= highest, f"the activation leaves no code of {tensor}", AGAIN)
    return lowest, highest


def clamped(call: Call, x: int, function: str) -> int:
    """A float32 tensor behind a fused activation."""
    low, high = _BOUNDS[function]
    return x if low is None and high is None else call.like(ops.Clamp(low, high), x)


def table(call: Call, function: Callable[[npt.NDArray[np.int64]], npt.ArrayLike]) -> int:
    """The constant table of a function of int8 codes, whose results are limited to codes."""
    codes = np.clip(np.asarray(function(np.arange(-128, 128)), np.int64), -128, 127)
    return call.number(codes.astype(np.int8))
