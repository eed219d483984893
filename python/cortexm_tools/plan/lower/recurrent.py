# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: one call for all steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir import Array, Op, ops
from ...ir.wide import SIGMOIDS
from ..kernels.forms import Weights
from ..kernels.packing import Constants
from ..kernels.params import rescale_fields
from ..types import Arg, Call, Field, ScratchArg, TensorArg
from .context import Selector, lowers
from .weights import constant_data, folded_bias, needed_bytes, types_of

_BLOCK = 4  # cells


@lowers(ops.Lstm)
def _lstm(select: Selector, attrs: ops.Lstm, op: Op) -> list[Call]:
    parts = _parts(select, attrs, op)
    return [_call(select, attrs, op, parts, [4], state_bits=attrs.cell_bits)]


@lowers(ops.Gru)
def _gru(select: Selector, attrs: ops.Gru, op: Op) -> list[Call]:
    parts = _parts(select, attrs, op)
    return [_call(select, attrs, op, parts, [2, 1, 1], state_bits=attrs.state_bits)]


@lowers(ops.Rnn)
def _rnn(select: Selector, attrs: ops.Rnn, op: Op) -> list[Call]:
    parts = _parts(select, attrs, op)
    return [_call(select, attrs, op, parts, [1], state_bits=0, is_relu=int(attrs.relu))]


@lowers(ops.InterpolatedLstm)
def _interpolated_lstm(select: Selector, attrs: ops.InterpolatedLstm, op: Op) -> list[Call]:
    w_ih, w_hh, bias = _constants(select, op)
    x = select.tensor(op.inputs[0])
    batches, steps = x.shape[:2] if attrs.batch_first else x.shape[1::-1]
    inputs, hidden = w_ih.shape[1], w_hh.shape[1]
    strides = _strides("x", attrs, steps, batches, inputs)
    strides |= _strides("y", attrs, steps, batches, hidden)
    fields: dict[str, Field] = {
        "steps": steps,
        "batches": batches,
        "inputs": inputs,
        "hidden": hidden,
        **{name: value for name, value in strides.items() if not name.endswith("start")},
        "x_multiplier": tuple(each.multiplier for each in attrs.of_x),
        "h_multiplier": tuple(each.multiplier for each in attrs.of_h),
        "fresh_multiplier": attrs.fresh.multiplier,
        "fresh_shift": attrs.fresh.shift,
        "out_multiplier": attrs.out.multiplier,
        "out_shift": attrs.out.shift,
        "cell_limit": attrs.cell_limit,
        "cell_multiplier": attrs.cell_multiplier,
        "cell_shift": attrs.cell_shift,
        "out_zero_point": attrs.h_zero_point,
        "x_shift": tuple(each.shift for each in attrs.of_x),
        "h_shift": tuple(each.shift for each in attrs.of_h),
    }
    of_x = folded_bias(w_ih.astype(np.int64).sum(axis=1), bias, attrs.x_zero_point)
    of_h = folded_bias(w_hh.astype(np.int64).sum(axis=1), None, attrs.h_zero_point)
    label = op.layer.path or op.kind
    args: list[Arg] = [
        *map(select.operand, op.inputs[:3]),
        select.constant("w_" + label, np.concatenate([w_ih, w_hh], axis=1)),
        select.constant("b_" + label, np.stack([of_x, of_h], axis=1), needed=bias.nbytes),
        select.constant("sigmoid", SIGMOIDS.astype(np.int16), "tables", needed=0),
        *map(TensorArg, (*op.outputs[1:], op.outputs[0])),
    ]
    macs = steps * batches * (w_ih.size + w_hh.size)
    return [select.call(select.kernel("lstm_interpolated", "s8", op, fields), fields, args, macs)]


@lowers(ops.Svdf)
def _svdf(select: Selector, attrs: ops.Svdf, op: Op) -> list[Call]:
    features, times, bias = _constants(select, op)
    batches, inputs = select.tensor(op.inputs[1]).shape
    fields: dict[str, Field] = {
        "batches": batches,
        "inputs": inputs,
        "units": len(bias),
        "rank": attrs.rank,
        "memory": times.shape[1],
        **rescale_fields(attrs.feature),
        "out_multiplier": attrs.out.multiplier,
        "out_shift": attrs.out.shift,
        "out_zero_point": attrs.out_zero_point,
    }
    start = folded_bias(features.astype(np.int64).sum(axis=1), None, attrs.in_zero_point)
    label = op.layer.path or op.kind
    args: list[Arg] = [
        *map(select.operand, op.inputs[:2]),
        select.constant("w_" + label, features),
        select.constant("s_" + label, start, needed=0),
        select.constant("t_" + label, times),
        select.constant("b_" + label, bias),
        *map(TensorArg, op.outputs),
    ]
    macs = batches * (features.size + times.size)
    return [select.call(select.kernel("svdf", "s8", op, fields), fields, args, macs)]


_Part = tuple[Array, Array]


def _constants(select: Selector, op: Op) -> list[Array]:
    """w_ih, w_hh and the bias."""
    return [constant_data(select, index, op, "weights and biases") for index in op.inputs[-3:]]


def _parts(select: Selector, attrs: ops.RecurrentAttrs, op: Op) -> list[_Part]:
    """The sums of a step: weights, of h first, and biases with the zero points folded in."""
    w_ih, w_hh, bias = _constants(select, op)
    return [
        (np.concatenate([h, x], axis=1), folded.astype(np.int32))
        for x, h, folded in attrs.parts(w_ih, w_hh, bias)
    ]


def _in_blocks(rows: Array, gates: int) -> Array:
    """Rows [gates * hidden, …] in blocks of four cells, the last one of those that are left."""
    cells = rows.reshape(gates, -1, *rows.shape[1:])
    starts = range(0, cells.shape[1], _BLOCK)
    blocks = [cells[:, at : at + _BLOCK].reshape(-1, *rows.shape[1:]) for at in starts]
    return np.concatenate(blocks)


def _call(
    select: Selector,
    attrs: ops.RecurrentAttrs,
    op: Op,
    parts: Sequence[_Part],
    gates: Sequence[int],
    **own: int,
) -> Call:
    """A call whose sums are `parts`, of so many gates each."""
    x = select.tensor(op.inputs[0])
    steps, batches, inputs = attrs.extents(x)
    states = len(op.outputs) - int(attrs.sequence)
    hidden = select.tensor(op.outputs[-1]).shape[1]
    w_ih, w_hh, plain = _constants(select, op)
    types = types_of(x.dtype, np.concatenate([w_ih, w_hh], axis=1), len(w_hh))
    facts = {"largest_sum": max(attrs.largest_sums(x.dtype, w_ih, w_hh, plain))}
    kernel = select.kernel(op.kind, types, op, facts)
    label = op.layer.path or op.kind
    constants = [
        Constants(_in_blocks(weight, count), _in_blocks(bias, count))
        for (weight, bias), count in zip(parts, gates, strict=True)
    ]
    apart: list[Constants] = []
    if attrs.h_shift:
        both = constants[0]
        apart = [Constants(both.weight[:, hidden:], both.bias)]
        constants[0] = Constants(both.weight[:, :hidden], both.bias)
    weights = [
        select.constant(
            "w_" + label,
            Weights(kernel.pack, each),
            "x".join(map(str, each.weight.shape)),
            needed=needed_bytes(kernel, each.weight),
        )
        for each in [*constants, *apart]
    ]
    beside = {"x_weight": weights.pop().name} if apart else {}
    ends = np.cumsum([count * hidden for count in gates])[:-1]
    multipliers = np.split(np.array(attrs.gates, np.int16), ends)
    multiplier = np.concatenate(
        [_in_blocks(part, count) for part, count in zip(multipliers, gates, strict=True)]
    )
    bias = np.concatenate([each.bias for each in constants])
    fields: dict[str, Field] = {
        "gates": select.constant("m_" + label, multiplier).name,
        **beside,
        "h_shift": attrs.h_shift,
        "steps": steps,
        "batches": batches,
        "inputs": inputs,
        "hidden": hidden,
        **_strides("x", attrs, steps, batches, inputs),
        **_strides("y", attrs, steps, batches, hidden),
        "out_multiplier": attrs.out_multiplier,
        "out_shift": attrs.out_shift,
        "out_zero_point": attrs.h_zero_point,
        "gate_left": max(attrs.gate_shift, 0),
        "gate_right": max(-attrs.gate_shift, 0),
        "is_relu": 0,
        **own,
    }
    if not attrs.sequence:
        fields |= {"y_start": 0, "y_batch": 0 if len(parts) > 1 else hidden, "y_step": 0}
    args: list[Arg] = [
        *(select.operand(index) for index in op.inputs[: 1 + states]),
        *weights,
        select.constant("b_" + label, bias),
        *_results(attrs, op, len(parts) > 1),
        select.scratch(kernel, fields),
    ]
    macs = steps * batches * sum(each.weight.size for each in [*constants, *apart])
    return select.call(kernel, fields, args, macs)


def _results(attrs: ops.RecurrentAttrs, op: Op, is_gru: bool) -> list[Arg]:
    """The states and y; without y the codes of h take its place, and of a gru, whose h is none, nothing."""
    results: list[Arg] = [TensorArg(index) for index in op.outputs]
    if attrs.sequence:
        return [*results[1:], results[0]]
    return [*results, ScratchArg(0) if is_gru else results[0]]


def _strides(
    name: str,
    attrs: ops.RecurrentAttrs | ops.InterpolatedLstm,
    steps: int,
    batches: int,
    extent: int,
) -> dict[str, Field]:
    """Where a sequence begins, in the order of time, and the way from batch to batch and step to step."""
    batch, step = (steps * extent, extent) if attrs.batch_first else (extent, batches * extent)
    start, step = ((steps - 1) * step, -step) if attrs.reverse else (0, step)
    return {f"{name}_start": start, f"{name}_batch": batch, f"{name}_step": step}
