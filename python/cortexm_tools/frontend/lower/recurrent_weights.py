# SPDX-License-Identifier: Apache-2.0
"""Weights and biases of recurrent layers as codes.

With the scales s_x and s_h of input and state, row o of the gates has one scale,

    S[o] = max(s_x max|w_ih[o]|, s_h max|w_hh[o]|) / 127,

for both of its matrices, whose codes are w_ih[o] s_x / S[o] and w_hh[o] s_h / S[o]: a gate is one sum of
products of codes and of the bias in units of S[o]. (TensorFlow Lite has two scales and requantizes two
sums.) What rounding adds by the matrix with the smaller products is at most what it adds by the other:
together at most twice the noise that the other has alone. The part of a GRU's candidate that its reset
gate multiplies is a sum of its own, with a scale of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...ir.recurrent import UNIT_BITS, gate_factors
from ...ir.types import DType
from ..rewrites.recurrent_operators import GRU, LSTM, RNN

_MOST_WEIGHT = 127
_MOST_CODE = {DType.S8: 2.0**8, DType.S16: 2.0**15}
"""No code of input and state, less its zero point, is larger."""

_SUMS = 2.0**31 / 1.01

_LEAST_SHARE = 1 / 128
_SMALLEST = {DType.S8: 2.0**-25, DType.S16: 2.0**-40}
"""The multipliers of all rows have one shift, and 15 bits. They have 7 at least with S as small as this, and
as this share of the largest S."""

_RELU_BITS = 19
"""The largest preactivation in units of 2**-16, which is what an RNN with ReLU calls 1."""

# Which gates a sigmoid follows; a GRU's candidate has two sums.
_SIGMOIDS = {LSTM: (True, True, False, True), GRU: (True, True, False, False), RNN: (False,)}


@dataclass(frozen=True)
class FloatWeights:
    """As in the float operator, float64: matrices [R, I] and [R, H], biases [R]."""

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor
    b_hh: Tensor


@dataclass(frozen=True)
class CodedWeights:
    """As in the operator on codes: matrices int8, biases int32, multipliers int16, and their shift."""

    tensors: tuple[Tensor, Tensor, Tensor, Tensor]
    gate_shift: int


def coded(
    target: Any,
    weights: FloatWeights,
    x_scale: float,
    h_scale: float,
    dtype: DType,
    relu_unit: float | None = None,
) -> CodedWeights:
    """The codes of `weights`.

    Args:
        target: the float operator.
        x_scale, h_scale: of the codes of input and state.
        dtype: of these codes.
        relu_unit: of an RNN with ReLU the h that is 1 in the operator on codes.
    """
    w_ih, w_hh = weights.w_ih * x_scale, weights.w_hh * h_scale
    apart = len(w_hh) // 3 if target is GRU else 0
    both = len(w_hh) - apart

    def of_sums(x: Tensor, h: Tensor, joined: Tensor) -> Tensor:
        """Of every sum, from what is known of the rows of both matrices."""
        return torch.cat([joined[:both], x[both:], h[both:]])

    largest = [each.abs().amax(1) for each in (w_ih, w_hh)]
    totals = [each.abs().sum(1) * _MOST_CODE[dtype] for each in (w_ih, w_hh)]
    bias = of_sums(weights.b_ih, weights.b_hh, weights.b_ih + weights.b_hh)
    sums = of_sums(totals[0], totals[1], totals[0] + totals[1]) + bias.abs()
    scales = torch.maximum(
        of_sums(largest[0], largest[1], torch.maximum(largest[0], largest[1])) / _MOST_WEIGHT,
        sums / _SUMS,
    )
    scales = torch.clamp(scales, min=max(float(scales.max()) * _LEAST_SHARE, _SMALLEST[dtype]))
    s_x = scales[: both + apart, None]
    s_h = torch.cat([scales[:both], scales[both + apart :]])[:, None]
    sigmoids = _SIGMOIDS[target]
    units = [2.0 ** (UNIT_BITS - is_sigmoid) for is_sigmoid in sigmoids]
    if relu_unit is not None:
        units = [2.0**_RELU_BITS / relu_unit]
    factors = scales * torch.tensor(units).repeat_interleave(len(scales) // len(units))
    gate_shift, multipliers = gate_factors(factors.tolist(), dtype)
    tensors = (
        torch.round(w_ih / s_x).to(torch.int8),
        torch.round(w_hh / s_h).to(torch.int8),
        torch.round(bias / scales).to(torch.int32),
        torch.tensor(multipliers, dtype=torch.int16),
    )
    return CodedWeights(tensors, gate_shift)
