# SPDX-License-Identifier: Apache-2.0
"""Convolutions of codes, with packed weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...ir import Array, DType, Op, ops
from ..kernels.forms import FORMS
from ..kernels.packing import Constants
from ..kernels.params import zero_point_fields
from ..kernels.table import Kernel
from ..types import Arg, Call, Field, ScratchArg, TensorArg
from .constants import Weights
from .context import Selector, lowers
from .conv_layers import Layer, is_reversed, layers_of
from .copies import copy_call, merge_dims
from .images import image_calls, image_fields, window_fields
from .neighbours import NEIGHBOURS
from .transposed import (
    ROW_PHASES,
    RowPhase,
    places,
)
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
    extents = image_fields(select, op, attrs.window) | {
        "in_c": x.shape[1],
        "out_c": out.shape[1],
        **window_fields(attrs.window),
    }
    weight = constant_data(select, op.inputs[1], op, "weights")
    if is_reversed(select, attrs, op, weight):
        extents |= places(attrs.window)
    clamp: dict[str, Field] = {"act_min": attrs.act_min, "act_max": attrs.act_max}
    layer, joined, copying, phases = select.once(
        lambda: layers_of(select, attrs, op, extents | clamp)
    )
    copying = tuple(way for way in copying if not select.avoids(way.copies))
    if phases and not select.avoids(ROW_PHASES):
        select.others.add(ROW_PHASES)
        if not copying:
            return _rows(select, attrs, op, extents, phases)
    if not select.avoids(NEIGHBOURS):
        alone = layer
        layer = next(iter(copying), joined)
        if layer is joined and joined is not alone:
            select.others.add(NEIGHBOURS)
    positions = (
        out.numel
        if not isinstance(attrs, ops.TransposeConv2d)
        else x.numel // x.shape[1] * out.shape[1]
    )
    macs = positions * (weight.size // out.shape[1])
    kernel, fields, constants = _kernel(select, attrs, op, extents, layer, weight, out.shape[1])
    scratch = select.scratch(kernel, fields)
    return image_calls(select, op, kernel, fields, constants, scratch, macs)


def _kernel(
    select: Selector,
    attrs: ops.ConvAttrs,
    op: Op,
    extents: Mapping[str, Field],
    layer: Layer,
    weight: Array,
    out_c: int,
) -> tuple[Kernel, dict[str, Field], list[Arg]]:
    """The kernel of a layer, its parameter block and constants.

    Args:
        weight: those of the model that it has, and `out_c` biases.
    """
    x = select.tensor(op.inputs[0])
    label = op.layer.path or op.kind
    fields: dict[str, Field] = {
        **extents,
        "groups": layer.constants.groups,
        **zero_point_fields(
            x, in_zero_point=attrs.in_zero_point, out_zero_point=attrs.out_zero_point
        ),
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
        **layer.joined,
    }
    facts = {
        **fields,
        "rescales": attrs.rescales,
        "largest_sum": layer.largest_sum,
        "largest_plain_sum": layer.largest_plain_sum,
        "largest_start": layer.largest_start,
        "largest_bias": int(np.abs(layer.constants.bias.astype(np.int64)).max(initial=0)),
        "copies": layer.copies,
        "looked_up": False,
        "least_weight": int(constant_data(select, op.inputs[1], op, "weights").min(initial=0)),
    }
    kernel = select.kernel(layer.kind, layer.types, op, facts)
    constants = layer.constants
    packed = FORMS[kernel.pack].tables(constants)
    named = table_fields(select, packed, label, out_c)
    args: list[Arg] = [
        select.constant(
            "w_" + label,
            Weights(kernel.pack, constants),
            "x".join(map(str, weight.shape)),
            needed=needed_bytes(kernel, weight),
        ),
        select.constant("b_" + label, packed.bias, needed=needed_biases(constants, packed, out_c)),
    ]
    return kernel, named | fields, args


def _rows(
    select: Selector,
    attrs: ops.ConvAttrs,
    op: Op,
    extents: dict[str, Field],
    phases: list[tuple[RowPhase, Layer | None]],
) -> list[Call]:
    """A convolution for each phase of the rows, and copies from scratch to their places; none where its rows
    are all there are. Rows without taps are copies alone."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    whole = {name: value for name, value in extents.items() if isinstance(value, int)}
    calls: list[Call] = []
    out_c = out.shape[1]  # whose biases the model brings once
    for phase, layer in phases:
        if layer is None:
            calls.append(_biases_alone(select, attrs, op, phase, whole))
            continue
        kernel, fields, constants = _kernel(select, attrs, op, extents, layer, phase.weight, out_c)
        out_c = 0
        macs = x.numel // x.shape[1] * phase.weight.size
        scratch = select.scratch(kernel, fields)
        (call,) = image_calls(select, op, kernel, fields, constants, scratch, macs)
        own, boxes = layer.joined, phase.copies(whole)
        count = own["out_h"] * own["out_w"] * own["out_c"]
        if [merge_dims(*zip(*box, strict=True)) for box, *_ in boxes] == [[(count, 1, 1)]]:
            calls.append(call)
            continue
        made = ScratchArg(count * x.dtype.size, of=x.dtype)
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


def _biases_alone(
    select: Selector, attrs: ops.ConvAttrs, op: Op, phase: RowPhase, fields: Mapping[str, int]
) -> Call:
    """A copy of what the biases give to the rows that meet no tap."""
    out = select.tensor(op.outputs[0])
    batches, out_c = out.shape[:2]
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    codes = attrs.finish(np.zeros((1, out_c, 1, 1)), bias, out.dtype).astype(out.dtype.numpy)
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
    constants = Constants(weight, folded, attrs.rescales)
    packed = FORMS[kernel.pack].tables(constants)
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
            Weights(kernel.pack, constants),
            "x".join(map(str, weight.shape)),
            needed=weight.nbytes,
        ),
        select.constant("b_" + label, packed.bias),
        *(TensorArg(index) for index in op.outputs),
    ]
    return [select.call(kernel, fields, args, weight.size)]
