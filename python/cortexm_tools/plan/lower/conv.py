# SPDX-License-Identifier: Apache-2.0
"""Convolutions of codes, with packed weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...ir import Array, DType, Op, ops
from ..forms.phases import RowPhase
from ..kernels.forms import Weights
from ..kernels.packing import Constants
from ..types import Arg, Call, Field, ScratchArg, TensorArg
from .context import Selector, lowers
from .conv_costs import NEIGHBOURS, ROW_PHASES
from .conv_forms import Layer, Layers, layers_of
from .copies import copy_call, merge_dims
from .images import image_calls
from .weights import (
    constant_data,
    folded_bias,
    largest_sum,
    needed_biases,
    needed_bytes,
    table_fields,
)


@lowers(ops.Conv2d, ops.DepthwiseConv2d, ops.TransposeConv2d)
def _convolution(select: Selector, attrs: ops.ConvAttrs, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    layers = select.once(lambda: layers_of(select, attrs, op))
    copying = tuple(way for way in layers.copying if not select.avoids(way.copies))
    if layers.rows and not select.avoids(ROW_PHASES):
        select.others.add(ROW_PHASES)
        if not copying:
            return _rows(select, op, layers)
    layer = layers.alone
    if not select.avoids(NEIGHBOURS):
        layer = next(iter(copying), layers.joined)
        if layer is layers.joined and layer is not layers.alone:
            select.others.add(NEIGHBOURS)
    weight = constant_data(select, op.inputs[1], op, "weights")
    positions = (
        out.numel
        if not isinstance(attrs, ops.TransposeConv2d)
        else x.numel // x.shape[1] * out.shape[1]
    )
    macs = positions * (weight.size // out.shape[1])
    return [_call(select, op, layer, weight, out.shape[1], macs)]


def _call(select: Selector, op: Op, layer: Layer, weight: Array, out_c: int, macs: int) -> Call:
    """The call of a layer.

    Args:
        weight: those of the model that it has, and `out_c` biases.
    """
    label = op.layer.path or op.kind
    problem, constants = layer.problem, layer.problem.constants
    assert isinstance(op.attrs, ops.ConvAttrs)
    facts = {
        **problem.fields,
        "rescales": op.attrs.rescales,
        "largest_sum": layer.largest_sum,
        "largest_plain_sum": layer.largest_plain_sum,
        "largest_start": layer.largest_start,
        "largest_bias": int(np.abs(constants.bias.astype(np.int64)).max(initial=0)),
        "copies": layer.copies,
        "looked_up": False,
        "least_weight": int(constant_data(select, op.inputs[1], op, "weights").min(initial=0)),
    }
    kernel = select.kernel(layer.kind, layer.types, op, facts)
    weights = Weights(kernel.pack, constants)
    packed = weights.tables
    fields = {**table_fields(select, packed, label, out_c), **problem.fields}
    args: list[Arg] = [
        select.constant(
            "w_" + label,
            weights,
            "x".join(map(str, weight.shape)),
            needed=needed_bytes(kernel, weight),
        ),
        select.constant("b_" + label, packed.bias, needed=needed_biases(constants, packed, out_c)),
    ]
    scratch = select.scratch(kernel, fields)
    (call,) = image_calls(select, op, kernel, fields, args, scratch, macs)
    return replace(call, weights=weights)


def _rows(select: Selector, op: Op, layers: Layers) -> list[Call]:
    """A convolution for each phase of the rows, and copies from scratch to their places; none where its rows
    are all there are. Rows without taps are copies alone."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    whole = layers.alone.problem.fields
    calls: list[Call] = []
    out_c = out.shape[1]  # whose biases the model brings once
    for phase, layer in layers.rows:
        if layer is None:
            calls.append(_biases_alone(select, op, phase, whole))
            continue
        macs = x.numel // x.shape[1] * phase.weight.size
        call = _call(select, op, layer, phase.weight, out_c, macs)
        out_c = 0
        own, boxes = layer.problem.fields, phase.copies(whole)
        count = own["out_h"] * own["out_w"] * own["out_c"]
        if [merge_dims(*zip(*box, strict=True)) for box, *_ in boxes] == [[(count, 1, 1)]]:
            calls.append(call)
            continue
        made, scratch = ScratchArg(count * x.dtype.size, of=x.dtype), call.args[-1]
        assert isinstance(scratch, ScratchArg)
        behind = replace(scratch, offset=-(-made.nbytes // 8) * 8)
        calls.append(replace(call, args=(*call.args[:-2], made, behind)))
        for box, begin, to in boxes:
            start = begin * x.dtype.size
            part = replace(made, nbytes=made.nbytes - start, offset=start)
            dims, steps, out_steps = zip(*box, strict=True)
            copy = copy_call(select, op, part, op.outputs[0], dims, steps, out_steps, out_start=to)
            place = replace(copy.tensors[-1], step=call.tensors[-1].step)
            calls.append(replace(copy, args=(copy.args[0], place), turns=call.turns))
    return calls


def _biases_alone(select: Selector, op: Op, phase: RowPhase, fields: Mapping[str, int]) -> Call:
    """A copy of what the biases give to the rows that meet no tap."""
    assert isinstance(op.attrs, ops.ConvAttrs)
    out = select.tensor(op.outputs[0])
    batches, out_c = out.shape[:2]
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    codes = op.attrs.finish(np.zeros((1, out_c, 1, 1)), bias, out.dtype).astype(out.dtype.numpy)
    name = "c_" + (op.layer.path or op.kind)
    source = select.constant(name, codes.reshape(-1), "biases alone", needed=0)
    ((box, _, to),) = phase.copies(fields)
    dims, steps, out_steps = zip(*box, strict=True)
    copy = copy_call(select, op, source, op.outputs[0], dims, steps, out_steps, out_start=to)
    place = replace(copy.tensors[-1], step=out.nbytes // batches if batches > 1 else 0)
    return replace(copy, args=(source, place), turns=batches)


@lowers(ops.DepthwiseRing)
def _ring(select: Selector, attrs: ops.DepthwiseRing, op: Op) -> list[Call]:
    weight = constant_data(select, op.inputs[2], op, "weights")
    bias = constant_data(select, op.inputs[3], op, "biases") if len(op.inputs) > 3 else None
    wide = weight.astype(np.int64)
    folded = folded_bias(wide.sum(axis=0), bias, attrs.in_zero_point)
    _, turns, rows, _ = select.tensor(op.inputs[1]).shape
    facts = {
        "rescales": attrs.rescales,
        "largest_sum": largest_sum(np.abs(wide).sum(axis=0), folded),
    }
    kernel = select.kernel(op.kind, DType.S8.value, op, facts)
    label = op.layer.path or op.kind
    weights = Weights(kernel.pack, Constants(weight, folded, attrs.rescales))
    packed = weights.tables
    fields: dict[str, Field] = {
        **table_fields(select, packed, label),
        "turns": turns,
        "rows": rows,
        "channels": weight.shape[1],
        "out_zero_point": attrs.out_zero_point,
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
    }
    args = [
        *(select.operand(index) for index in op.inputs[:2]),
        select.constant(
            "w_" + label,
            weights,
            "x".join(map(str, weight.shape)),
            needed=weight.nbytes,
        ),
        select.constant("b_" + label, packed.bias),
        *(TensorArg(index) for index in op.outputs),
    ]
    return [select.call(kernel, fields, args, weight.size)]
