# SPDX-License-Identifier: Apache-2.0
"""Weights and biases of layers, and the requantization of their sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ir.fixed_point import Rescale, quantize_multiplier
from ..ir.types import Array, DType
from .call import AGAIN, Call
from .values import LiteTensor


@dataclass(frozen=True)
class Weights:
    """Of a layer.

    Attributes:
        data: int8 codes, or float32.
        scales: one, or one for each output; none of floats.
    """

    data: Array
    tensor: LiteTensor
    scales: tuple[float, ...] = ()

    def zero_point(self, call: Call) -> int:
        """Of all codes."""
        return call.zero(self.tensor) if len(self.scales) == 1 else 0


def weights_of(call: Call, x: int, w: int, axis: int) -> Weights:
    """Operand `w`, by which a layer multiplies operand `x`.

    Codes beside activations in float32 (dynamic range) become numbers: the layer computes in float32.

    Args:
        axis: of the weights' outputs.
    """
    kind, tensor = call.type(call.lite(x)), call.lite(w)
    data = call.constant(w)
    if call.type(tensor) is DType.F32 and kind is DType.F32:
        return Weights(data, tensor)
    call.require(
        data.dtype == np.int8 and kind in (DType.F32, DType.S8, DType.S16),
        f"multiplies {call.lite(x).type} by {tensor.type}; there are kernels for INT8 and INT16 by "
        "INT8 or INT4, and for FLOAT32",
        "quantize the model to int8",
    )
    quantization = tensor.quantization
    if quantization is None:
        raise call.error(f"{tensor} is not quantized: it has no scale", AGAIN)
    count = len(quantization.scales)
    call.require(
        count == 1 or quantization.axis == axis,
        f"{tensor} has its scales along dimension {quantization.axis}, not {axis}",
        AGAIN,
    )
    call.require(
        count == 1 or not any(quantization.zero_points),
        f"{tensor} has a zero point for each channel",
        "quantize the weights symmetrically",
    )
    scales = quantization.scales
    if kind is DType.F32:
        shape = [count if d == axis else 1 for d in range(data.ndim)]
        centred = data.astype(np.float32) - np.float32(quantization.zero_points[0])
        return Weights(centred * np.array(scales, np.float32).reshape(shape), tensor)
    return Weights(data, tensor, scales)


def rescales(call: Call, x: LiteTensor, weights: Weights, y: LiteTensor) -> tuple[Rescale, ...]:
    """What becomes of sums."""
    factor, result = call.scale(x), call.scale(y)
    return tuple(quantize_multiplier(factor * scale / result) for scale in weights.scales)


def bias_of(call: Call, number: int, count: int, kind: DType) -> int | None:
    """The bias of a layer with `count` outputs."""
    if not call.has(number):
        return None
    data = call.constant(number)
    allowed = {DType.S8: "i4", DType.S16: "i8", DType.F32: "f4"}
    call.require(
        data.dtype.str[1:] == allowed[kind],
        f"the bias is {data.dtype}, must be {np.dtype(allowed[kind])}",
        "int16 activations take a bias of 64 bits: convert without quantized_bias_type"
        if kind is DType.S16
        else AGAIN,
    )
    call.require(data.size == count, f"the bias has {data.size} values for {count} outputs", AGAIN)
    if kind is not DType.F32 and not data.any():
        return None
    return call.number(data.reshape(count))


def check_sums(call: Call, kind: DType, bias: int) -> None:
    """Sums of int16 layers without a bias take 64 bits unless they say 32, which our kernels have not."""
    if kind is DType.S16 and not call.has(bias):
        call.require(
            call.choice("quantized_bias_type", "TensorType") in ("FLOAT32", "INT64"),
            "its sums have 32 bits, those of kernels for int16 activations 64",
            "convert without quantized_bias_type",
        )
