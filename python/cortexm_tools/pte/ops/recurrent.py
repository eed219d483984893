# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers on codes, of this project's library (frontend/lower/dialect_recurrent.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir import ops
from ...ir.recurrent import (
    GATE_MULTIPLIER,
    GATE_SHIFTS,
    H_SHIFT,
    OUT_MULTIPLIER,
    OUT_SHIFT,
    STATE_BITS,
)
from ...ir.types import DType
from ..call import Call, Converter, reads
from ..operands import LIMITS


def _layer(kind: type[ops.RecurrentAttrs], sequence: bool) -> Converter:
    def convert(call: Call) -> None:
        x = call.tensor("input")
        dtype, shape = call.info(x).dtype, call.info(x).shape
        call.require_dtype(x, *LIMITS)
        call.require(len(shape) == 3, f"the sequence {shape} does not have three dimensions")
        w_ih, w_hh, bias = (
            call.constant(name) for name in ("input_weights", "hidden_weights", "bias")
        )
        gates = call.constant_data("gate_multipliers")
        call.require(
            gates.dtype == np.int16 and gates.shape == call.info(bias).shape,
            "the multipliers of the gates must be as many int16 numbers as the bias has",
        )
        call.require(
            int(gates.min(initial=0)) >= GATE_MULTIPLIER[0], "a multiplier of a gate is negative"
        )
        own: dict[str, Any] = {"relu": call.boolean("relu")} if kind is ops.Rnn else {}
        for name in {ops.Lstm: ["cell_bits"], ops.Gru: ["state_bits"]}.get(kind, []):
            own[name] = call.integer(name, STATE_BITS)
        zero_points = (0, 0) if dtype is DType.S16 else LIMITS[dtype]
        attrs = kind(
            batch_first=call.boolean("batch_first"),
            reverse=call.boolean("reverse"),
            sequence=sequence,
            x_zero_point=call.integer("input_zero_point", zero_points),
            h_zero_point=call.integer("hidden_zero_point", zero_points),
            h_shift=call.integer("hidden_shift", H_SHIFT),
            gate_shift=call.integer("gate_shift", GATE_SHIFTS[dtype]),
            gates=tuple(gates.tolist()),
            out_multiplier=call.integer("output_multiplier", OUT_MULTIPLIER),
            out_shift=call.integer("output_shift", OUT_SHIFT),
            **own,
        )
        hidden = call.info(w_hh).shape[-1:]
        _, batch, _ = attrs.extents(call.info(x))
        states = [_state(call, attrs, name, (batch, *hidden)) for name in _states(kind)]
        if sequence:
            call.require_out((*shape[:2], *hidden), dtype)
        for number, state in enumerate(states, start=int(sequence)):
            call.require_out((batch, *hidden), call.info(state).dtype, number=number)
        call.emit(attrs, x, *states, w_ih, w_hh, bias)

    return convert


def _states(kind: type[ops.RecurrentAttrs]) -> tuple[str, ...]:
    return ("hidden", "cell") if kind is ops.Lstm else ("hidden",)


def _state(call: Call, attrs: ops.RecurrentAttrs, name: str, shape: tuple[int, ...]) -> int:
    """An initial state; if none is given, the codes of zeros."""
    kept = name == "cell" or isinstance(attrs, ops.Gru)
    dtype = DType.S16 if kept else call.info(call.tensor("input")).dtype
    index = call.optional(name)
    if index is None:
        code = 0 if kept else attrs.h_zero_point
        return call.add_constant(name, np.full(shape, code, dtype.numpy))
    call.require_dtype(index, dtype)
    have = call.info(index).shape
    call.require(have == shape, f"the initial state {have} does not have the shape {shape}")
    return index


for _name, _kind in (("lstm", ops.Lstm), ("gru", ops.Gru), ("rnn", ops.Rnn)):
    reads(f"cortexm::{_name}.out")(_layer(_kind, sequence=True))
    reads(f"cortexm::{_name}_last.out")(_layer(_kind, sequence=False))
