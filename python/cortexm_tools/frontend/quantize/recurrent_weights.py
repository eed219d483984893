# SPDX-License-Identifier: Apache-2.0
"""Weights and biases of recurrent layers as codes.

With the scales s_x and s_h of input and state, row o of the gates has one scale,

    S[o] = max(s_x max|w_ih[o]|, 2^k s_h max|w_hh[o]|) / m,

m = 127, or 7 for weights of 4 bits, for both of its matrices, whose codes are w_ih[o] s_x / S[o] and
2^k w_hh[o] s_h / S[o]: a gate is one sum of products of codes and of the bias in units of S[o], in which the
products with h count 2^-k. (TensorFlow Lite has two scales and requantizes two sums.) k is 0 unless
s_x max|w_ih[o]| is so much the larger one, in most rows, that the codes of w_hh[o] would lose 3 bits or
more: an input with a few large values has such a scale, and as most of its codes are small, what those
bits add to the sums is more than all else. The part of a GRU's candidate that its reset gate multiplies is a
sum of its own, with a scale of its own.

So a layer is one or three products of a matrix with the codes that a step reads, which rounding.py rounds by
these as it does those of linear layers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...ir.recurrent import H_SHIFT, UNIT_BITS, gate_factors
from ...ir.types import DType
from ..rewrites.recurrent_operators import GRU, LSTM, RNN

_MOST_CODE = {DType.S8: 2.0**8, DType.S16: 2.0**15}
"""No code of input and state, less its zero point, is larger."""

_SUMS = 2.0**31 / 1.01

_LEAST_SHARE = 1 / 128
_SMALLEST = {DType.S8: 2.0**-25, DType.S16: 2.0**-40}
"""The multipliers of all rows have one shift, and 15 bits. They have 7 at least with S as small as this, and
as this share of the largest S."""

_MOST_LOST = 3.0
"""Of the bits of the codes of w_hh, at which k is more than 0."""

_LEAST_FACTOR = 0.5
"""By which the scales of weights of 4 bits shrink at most."""

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


@dataclass(frozen=True)
class Codes:
    """The codes in which a layer reads and gives: of int8 or int16.

    Attributes:
        x_scale, h_scale: of input and state.
        h_shift: k.
        relu_unit: of an RNN with ReLU the h that is 1 in the operator on codes.
    """

    dtype: DType
    x_scale: float
    h_scale: float
    h_shift: int
    relu_unit: float | None


@dataclass(frozen=True)
class Part:
    """Some rows of a step's sums, whose terms are products with the same codes, float64.

    Attributes:
        counts: [N], what a code of x or h counts: 1 or 2^-k.
        matrix: [R, N], what multiplies these.
        bias: [R].
        inputs: which of the codes, those of x and behind them those of h, are the N.
    """

    counts: Tensor
    matrix: Tensor
    bias: Tensor
    inputs: slice


def codes_of(
    dtype: DType, weights: FloatWeights, x_scale: float, h_scale: float, relu_unit: float | None
) -> Codes:
    """Those of a layer of these scales, with the k that its weights need."""
    of_x, of_h = weights.w_ih.abs().amax(1) * x_scale, weights.w_hh.abs().amax(1) * h_scale
    lost = math.log2(max(float(torch.median(of_x / of_h.clamp(min=1e-30))), 1.0))
    h_shift = min(int(lost), H_SHIFT[1]) if lost >= _MOST_LOST else 0
    return Codes(dtype, x_scale, h_scale, h_shift, relu_unit)


def parts_of(target: Any, weights: FloatWeights, codes: Codes) -> list[Part]:
    """The sums of a step, in the order of the operator's biases."""
    w_ih, w_hh = weights.w_ih * codes.x_scale, weights.w_hh * codes.h_scale
    inputs, all_inputs = w_ih.shape[1], w_ih.shape[1] + w_hh.shape[1]
    both = len(w_hh) - (len(w_hh) // 3 if target is GRU else 0)
    counts = torch.ones(all_inputs, dtype=w_ih.dtype)
    counts[inputs:] = 2.0**-codes.h_shift
    joined = torch.cat([w_ih, w_hh], 1)[:both] / counts
    bias = (weights.b_ih + weights.b_hh)[:both]
    parts = [Part(counts, joined, bias, slice(0, all_inputs))]
    if target is GRU:
        for of, w, b in (
            (slice(0, inputs), w_ih, weights.b_ih),
            (slice(inputs, all_inputs), w_hh, weights.b_hh),
        ):
            parts.append(Part(torch.ones_like(counts[of]), w[both:], b[both:], of))
    return parts


def scales_of(parts: Sequence[Part], dtype: DType, most: int) -> list[Tensor]:
    """S of every row of `parts` for codes from -most to most, which may shrink by `_LEAST_FACTOR` if these
    have less than 8 bits."""
    largest = torch.cat([part.matrix.abs().amax(1) for part in parts])
    sums = torch.cat(
        [part.matrix.abs() @ part.counts * _MOST_CODE[dtype] + part.bias.abs() for part in parts]
    )
    room = 1.0 if most == 127 else _LEAST_FACTOR
    scales = torch.maximum(largest / most, sums / (_SUMS * room))
    least = max(float(scales.max()) * _LEAST_SHARE, _SMALLEST[dtype])
    scales = torch.clamp(scales, min=least / room)
    return list(torch.split(scales, [len(part.matrix) for part in parts]))


@dataclass(frozen=True)
class RoundedPart:
    """The codes of a part, float64.

    Attributes:
        codes: [R, N].
        counts: as those of the part.
        scales: S, [R].
        bias: [R].
    """

    codes: Tensor
    counts: Tensor
    scales: Tensor
    bias: Tensor


def to_nearest(parts: Sequence[Part], dtype: DType, most: int) -> list[RoundedPart]:
    """Every weight as the code next to it."""
    return [
        RoundedPart(torch.round(part.matrix / scales[:, None]), part.counts, scales, part.bias)
        for part, scales in zip(parts, scales_of(parts, dtype, most), strict=True)
    ]


def coded(target: Any, inputs: int, parts: Sequence[RoundedPart], codes: Codes) -> CodedWeights:
    """The constants of the operator on codes.

    Args:
        target: the float operator.
        inputs: of x.
    """
    scales = torch.cat([part.scales for part in parts])
    bias = torch.cat([part.bias for part in parts])
    w_ih, w_hh = _matrices([part.codes for part in parts], inputs)
    units = [2.0 ** (UNIT_BITS - is_sigmoid) for is_sigmoid in _SIGMOIDS[target]]
    if codes.relu_unit is not None:
        units = [2.0**_RELU_BITS / codes.relu_unit]
    factors = scales * torch.tensor(units).repeat_interleave(len(scales) // len(units))
    gate_shift, multipliers = gate_factors(factors.tolist(), codes.dtype)
    tensors = (
        w_ih.to(torch.int8),
        w_hh.to(torch.int8),
        torch.round(bias / scales).to(torch.int32),
        torch.tensor(multipliers, dtype=torch.int16),
    )
    return CodedWeights(tensors, gate_shift)


def as_floats(parts: Sequence[RoundedPart], inputs: int, codes: Codes) -> FloatWeights:
    """The weights of the float operator that computes with these codes."""
    w_ih, w_hh = _matrices(
        [part.codes * part.counts * part.scales[:, None] for part in parts], inputs
    )
    of_x = parts[:2] if len(parts) > 1 else parts
    b_ih = torch.cat([part.bias for part in of_x])
    b_hh = torch.zeros_like(b_ih)
    if len(parts) > 1:
        b_hh[len(parts[0].bias) :] = parts[2].bias
    return FloatWeights(w_ih / codes.x_scale, w_hh / codes.h_scale, b_ih, b_hh)


def _matrices(parts: Sequence[Tensor], inputs: int) -> tuple[Tensor, Tensor]:
    """The matrices [R, I] and [R, H] of the rows of all parts."""
    both, *apart = parts
    if not apart:
        return both[:, :inputs], both[:, inputs:]
    return torch.cat([both[:, :inputs], apart[0]]), torch.cat([both[:, inputs:], apart[1]])
