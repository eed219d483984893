# SPDX-License-Identifier: Apache-2.0
"""LSTM over a sequence: of int8 codes, with a cell state of int16, as TFLM computes it."""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.fixed_point import Rescale, quantize_multiplier
from ...ir.types import Array, DType
from ..arithmetic import float_multiplier
from ..call import AGAIN, Call, reads
from ..values import LiteTensor

_ABSENT = {
    "peephole connections": (9, 10, 11),
    "a projection": (16, 17),
    "normalized layers": (20, 21, 22, 23),
}
"""Operands of variants that TFLM has not."""

_GATES = range(4)  # i, f, g, o


@reads("UNIDIRECTIONAL_SEQUENCE_LSTM", options="UnidirectionalSequenceLSTMOptions")
def _lstm(call: Call) -> None:
    for what, numbers in _ABSENT.items():
        call.require(
            not any(map(call.has, numbers)), f"has {what}", "convert a plain LSTM of Keras"
        )
    call.types(DType.S8, operands=1)
    x, y, h, c = call.lite(0), call.result(), call.lite(18), call.lite(19)
    call.require(
        (h.type, c.type) == ("INT8", "INT16"),
        f"has states of {h.type} and {c.type}, not INT8 and INT16",
        AGAIN,
    )
    function = call.choice("fused_activation_function", "ActivationFunctionType")
    call.require(function == "TANH", f"its cells have the function {function}, not TANH", AGAIN)
    call.require(not call.option("diagonal_recurrent_tensors"), "has diagonal weights", AGAIN)
    call.require(len(x.shape) == 3, f"takes a sequence, not the shape {x.shape}", AGAIN)
    is_first = not call.option("time_major")
    batch, inputs = x.shape[0 if is_first else 1], x.shape[2]
    hidden = h.numel // batch
    fits = h.numel == c.numel == batch * hidden and y.shape == (*x.shape[:2], hidden)
    call.require(fits, f"its states and {y} do not fit", AGAIN)
    call.same_scale(h, y)
    call.zero(c)
    scale, clip = call.scale(c), float(call.option("cell_clip"))
    # The nearest power of two is the scale that tanh sees.
    left = 12 + math.floor(math.log2(scale) + 0.5)
    call.require(
        -31 <= left <= 13, f"{c} has the scale {scale}, which no power of two is near", AGAIN
    )
    attrs = ops.InterpolatedLstm(
        batch_first=is_first,
        x_zero_point=call.zero(x),
        h_zero_point=call.zero(h),
        of_x=tuple(_factor(call, x, 1 + gate) for gate in _GATES),
        of_h=tuple(_factor(call, h, 5 + gate) for gate in _GATES),
        fresh=quantize_multiplier(2.0**-30 / scale),
        out=quantize_multiplier(2.0**-30 / call.scale(h)),
        cell_limit=int(min(clip / scale, 32767.0)) if clip > 0 else 32768,
        cell_multiplier=3 << max(left, 0),
        cell_shift=max(-left, 0),
    )
    states = [
        call.builder.state(f"variable {each.index} {each.name}", each.index) for each in (h, c)
    ]
    weights = [
        np.concatenate([_constant(call, first + gate, np.int8, shape) for gate in _GATES])
        for first, shape in ((1, (hidden, inputs)), (5, (hidden, hidden)))
    ]
    weights.append(
        np.concatenate([_constant(call, 12 + gate, np.int32, (hidden,)) for gate in _GATES])
    )
    made, *after = call.several(
        attrs,
        call.operand(0),
        *(call.view(state.now, (batch, hidden)) for state in states),
        *map(call.number, weights),
        results=(
            (DType.S8, y.shape),
            (DType.S8, (batch, hidden)),
            (DType.S16, (batch, hidden)),
        ),
    )
    for state, tensor, new in zip(states, (h, c), after, strict=True):
        state.now = call.view(new, tensor.shape)
    call.give(made)


def _factor(call: Call, x: LiteTensor, number: int) -> Rescale:
    """Of products, to units of 2**-12."""
    weights = call.lite(number)
    call.require(call.zero(weights) == 0, f"{weights} has a zero point", AGAIN)
    return float_multiplier(call, x, weights, by=2.0**-12)


def _constant(call: Call, number: int, dtype: type, shape: tuple[int, ...]) -> Array:
    data = call.constant(number)
    call.require(
        data.dtype == dtype and data.shape == shape,
        f"{call.lite(number)} is {data.dtype} of shape {data.shape}, must be {np.dtype(dtype)} of {shape}",
        AGAIN,
    )
    return data
