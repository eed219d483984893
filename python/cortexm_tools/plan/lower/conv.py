# SPDX-License-Identifier: Apache-2.0
"""Convolutions: int8 with packed weights; float32 with the strides of any layout."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...ir import Array, DType, Op, Tensor, ops
from ...ir.geometry import Window
from ...target import Isa
from ..kernels import gathered, planes, widened
from ..kernels.conditions import CASES
from ..kernels.forms import FORMS
from ..kernels.packing import Constants
from ..kernels.params import zero_point_fields
from ..kernels.table import Kernel, KernelChoice
from ..types import Arg, Call, Field, ScratchArg, TensorArg
from .boxes import strides
from .constants import Weights
from .context import POINTWISE, Selector, lowers
from .copies import copy_call, merge_dims
from .groups import FEW_ZEROS, MANY_ZEROS, groups_to_join, with_zeros
from .images import image_calls, image_fields, strided_image_fields, window_fields
from .linear import lanes_of_rows, takes_rows
from .neighbours import (
    NEIGHBOURS,
    SQUARES,
    Joined,
    dense,
    in_3x3,
    instructions_dsp,
    instructions_mve,
    is_dense_best,
    join_columns,
    join_dense,
    join_neighbours,
    join_windows,
)
from .transposed import (
    FLOAT_PHASES,
    ROW_PHASES,
    AxisPhase,
    RowPhase,
    float_phases,
    is_convolution,
    join_phases,
    places,
    row_pairs,
    row_phases,
)
from .weights import (
    constant_data,
    fits_in_32_bits,
    float_call,
    folded_bias,
    largest_plain_sum,
    largest_start,
    largest_sum,
    needed_biases,
    needed_bytes,
    table_fields,
    types_of,
    wide_bias,
)


@dataclass(frozen=True)
class _Layer:
    """What is known of a convolution whatever kernel computes it.

    Attributes:
        kind: the operator whose kernels do, on any of these types.
        largest_sum: a bound of |accumulator|; largest_plain_sum, largest_start: see the functions of
            these names.
        joined: the fields that change where neighbouring pixels are computed as one, or rows are one.
        copies: the symbol of the kernel that computes it from a copy of the image, or SQUARES.
    """

    kind: str
    types: tuple[str, ...]
    constants: Constants
    largest_sum: int
    largest_plain_sum: int
    largest_start: int = 0
    joined: Mapping[str, int] = field(default_factory=dict)
    copies: str = ""


def _layers(
    select: Selector, attrs: ops.ConvAttrs, op: Op, fields: dict[str, Field]
) -> tuple[_Layer, _Layer, tuple[_Layer, ...], list[tuple[RowPhase, _Layer | None]]]:
    """The layer for the least constants, with more groups and neighbouring pixels computed as one, for
    kernels that copy the image and are better still, the best first, and as the layers of its rows."""
    extents = {name: value for name, value in fields.items() if isinstance(value, int)}
    layer = _layer(select, attrs, op, extents, FEW_ZEROS)
    if isinstance(attrs, ops.DepthwiseConv2d) and not layer.kind.endswith("_wide"):
        square = _square(select, attrs, op, extents, layer)
        columns = _columns(select, attrs, op, extents)
        if square or columns is not None:
            alone = _layer(select, attrs, op, extents, FEW_ZEROS, may_be_dense=False)
            return layer, alone if columns is None else _with(alone, columns), square, []
        whole = _dense(select, attrs, op, extents, layer)
        if whole is not None:
            return layer, whole, (), []
    joined = layer
    if layer.constants.groups > 1:
        joined = _layer(select, attrs, op, extents, MANY_ZEROS)
    joined = _joined(select, joined, op, extents)
    phases = _row_phases(select, attrs, op, extents, layer)
    return layer, joined, _copying(select, attrs, op, extents, joined), phases


def _copying(
    select: Selector,
    attrs: ops.ConvAttrs,
    op: Op,
    fields: Mapping[str, int],
    other: _Layer,
) -> tuple[_Layer, ...]:
    """The layer as it is, for kernels that copy the image and take fewer instructions than `other` does; not
    where other channels may lie between the pixels."""
    isa = select.target.isa
    if isa not in (Isa.MVE, Isa.DSP) or select.choice is not KernelChoice.BUILTIN:
        return ()
    if (
        other.kind != "conv2d"
        or other.types != (DType.S8.value,)
        or select.is_joined(op.outputs[0])
    ):
        return ()
    alone = _layer(select, attrs, op, fields, 0)
    facts = {**fields, "groups": alone.constants.groups}
    others = {**fields, "groups": other.constants.groups, **other.joined}
    if isa is Isa.DSP:
        most = instructions_dsp(others, wide=False)
        pays = widened.pays(facts, most, planes.pay(isa, others))
        return (replace(alone, copies=widened.SYMBOL),) if pays else ()
    most = instructions_mve(others, wide=False)
    ways = [_gathering(symbol, alone, facts) for symbol in gathered.SYMBOLS]
    changed = {way.copies: {**facts, **way.joined} for way in ways}
    paying = [
        way
        for way in ways
        if gathered.pays(way.copies, changed[way.copies], most, one_row="in_h" in way.joined)
    ]
    paying.sort(key=lambda way: gathered.instructions(way.copies, changed[way.copies]))
    return tuple(paying)


def _gathering(symbol: str, alone: _Layer, facts: Mapping[str, int]) -> _Layer:
    """The layer for a kernel that copies the image, with the pixels, or rows, that it takes for one."""
    joined = join_windows(symbol, alone.constants.weight, facts)
    layer = alone if joined is None else _with(alone, joined)
    row = gathered.in_one_row(symbol, {**facts, **layer.joined})
    if row:
        weight = layer.constants.weight
        turned = weight.reshape(len(weight), 1, row["kernel_w"], -1)
        layer = replace(layer, constants=replace(layer.constants, weight=turned))
    return replace(layer, copies=symbol, joined={**layer.joined, **row})


def _columns(
    select: Selector, attrs: ops.DepthwiseConv2d, op: Op, fields: Mapping[str, int]
) -> Joined | None:
    """Neighbouring pixels of a depthwise convolution as one of all their channels."""
    x = select.tensor(op.inputs[0])
    if x.shape[1] == 1:
        return None
    if select.choice is not KernelChoice.BUILTIN or select.is_joined(op.outputs[0]):
        return None
    weight = constant_data(select, op.inputs[1], op, "weights")
    return join_columns(select.target, weight, fields, x.dtype is DType.S16)


def _dense(
    select: Selector,
    attrs: ops.DepthwiseConv2d,
    op: Op,
    fields: Mapping[str, int],
    layer: _Layer,
) -> _Layer | None:
    """A depthwise convolution of int16 as one of all channels, whose neighbouring pixels are one."""
    if select.choice is not KernelChoice.BUILTIN or select.is_joined(op.outputs[0]):
        return None
    if layer.kind != op.kind or not layer.constants.wide or attrs.window.dilation != (1, 1):
        return None
    weight = constant_data(select, op.inputs[1], op, "weights")
    joined = join_dense(select.target, weight, fields)
    if joined is None:
        return None
    constants = replace(layer.constants, weight=joined.weight)
    return _with(replace(layer, kind="conv2d", constants=constants), joined)


def _square(
    select: Selector,
    attrs: ops.DepthwiseConv2d,
    op: Op,
    fields: Mapping[str, int],
    layer: _Layer,
) -> tuple[_Layer, ...]:
    """A depthwise convolution of small windows as one of 3x3."""
    if select.choice is not KernelChoice.BUILTIN or layer.kind != op.kind or len(layer.types) > 1:
        return ()  # of weights of 4 bits not all channels have the kernel
    weight, wide = constant_data(select, op.inputs[1], op, "weights"), layer.constants.wide
    facts = {"rescales": attrs.rescales, "largest_sum": layer.largest_sum}
    needed = ("shifts_right_2",) if wide else ("shifts_right_to_22", "narrow_sums")
    if not all(CASES[name](facts) for name in needed):
        return ()
    square = in_3x3(select.target, weight, fields, wide)
    return () if square is None else (replace(_with(layer, square), copies=SQUARES),)


def _with(layer: _Layer, joined: Joined) -> _Layer:
    """The layer with neighbouring pixels computed as one."""
    constants = layer.constants
    bias = np.tile(constants.bias, joined.count).astype(np.int64)
    bias += constants.in_zero_point * joined.outside
    again = replace(
        constants,
        weight=joined.weight,
        stride=(constants.stride[0], joined.fields.get("stride_w", constants.stride[1])),
        bias=bias.astype(constants.bias.dtype),  # wraps
        plain_bias=np.tile(constants.plain_bias, joined.count),
        rescales=constants.rescales * joined.count,
    )
    return replace(layer, constants=again, joined=joined.fields)


def _joined(select: Selector, layer: _Layer, op: Op, fields: Mapping[str, int]) -> _Layer:
    """The layer with neighbouring pixels computed as one, where that is worth it; not where other channels
    may lie between the pixels."""
    constants = layer.constants
    if constants.groups > 1 or select.is_joined(op.outputs[0]):
        return layer
    if select.choice is not KernelChoice.BUILTIN:
        return layer
    if layer.kind == "transpose_conv2d":
        joined = join_phases(select.target, constants.weight, fields, constants.wide)
    elif layer.kind != "conv2d" or (
        constants.wide and select.target.isa is Isa.DSP and planes.pay(Isa.DSP, fields)
    ):
        joined = None  # of int16 one channel at a time has no estimate
    else:
        is_reversed = isinstance(op.attrs, ops.TransposeConv2d)  # check/transposed.py knows no rows
        joined = join_neighbours(
            select.target, constants.weight, fields, constants.wide, rows=not is_reversed
        )
    return layer if joined is None else _with(layer, joined)


def _is_reversed(select: Selector, attrs: ops.ConvAttrs, op: Op, weight: Array) -> bool:
    """Whether a transposed convolution is taken for a convolution with its taps in reverse."""
    if not isinstance(attrs, ops.TransposeConv2d) or select.choice is not KernelChoice.BUILTIN:
        return False
    wide = select.tensor(op.inputs[0]).dtype is DType.S16
    return is_convolution(select.target, weight, attrs.window, wide)


def _layer(
    select: Selector,
    attrs: ops.ConvAttrs,
    op: Op,
    fields: Mapping[str, int],
    zeros: int,
    *,
    may_be_dense: bool = True,
) -> _Layer:
    """The layer with as many groups computed as one as `zeros` bytes of weights are enough for."""
    weight = constant_data(select, op.inputs[1], op, "weights")
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    depthwise, kind = isinstance(attrs, ops.DepthwiseConv2d), op.kind
    wide = weight.astype(np.int64)
    rows = wide.reshape(-1, wide.shape[-1]).T if depthwise else wide.reshape(len(wide), -1)
    if _is_plane(select, attrs, op, weight, fields):
        if not depthwise:
            kind, weight = "depthwise_conv2d", weight.transpose(3, 1, 2, 0)
    elif depthwise and select.tensor(op.inputs[0]).shape[1] == 1:
        # One input channel for all outputs: a plain convolution, which has the faster kernels.
        _, kernel_h, kernel_w, out_c = weight.shape
        kind, weight = "conv2d", weight.reshape(-1, out_c).T.reshape(out_c, kernel_h, kernel_w, 1)
    elif (
        depthwise
        and may_be_dense
        and select.choice is KernelChoice.BUILTIN
        and select.tensor(op.inputs[0]).shape[1] == weight.shape[3]
        and select.tensor(op.inputs[0]).dtype is DType.S8
        and is_dense_best(select.target, weight, attrs.window)
    ):
        kind, weight = "conv2d", dense(weight)
    elif _is_reversed(select, attrs, op, weight):
        kind, weight = "conv2d", weight[:, ::-1, ::-1]
    groups = attrs.groups if isinstance(attrs, ops.Conv2d) else 1
    of, joined = select.tensor(op.inputs[0]).dtype, 1
    if groups > 1 and of is DType.S8 and select.choice is KernelChoice.BUILTIN:
        joined = groups_to_join(select.target, weight, {**fields, "groups": groups}, zeros)
    if joined > 1:
        weight, groups = with_zeros(weight, groups, joined), groups // joined
    constants = Constants(weight, np.zeros(0), attrs.rescales, groups, stride=attrs.window.stride)
    return _with_biases(attrs, of, kind, constants, rows, bias)


def _is_plane(
    select: Selector, attrs: ops.ConvAttrs, op: Op, weight: Array, fields: Mapping[str, int]
) -> bool:
    """Whether a convolution of one channel is best by the kernel for few channels."""
    dtype = select.tensor(op.inputs[0]).dtype
    if select.target.isa is not Isa.MVE or select.choice is not KernelChoice.BUILTIN:
        return False
    if isinstance(attrs, ops.TransposeConv2d) or fields["in_c"] != 1 or dtype is not DType.S8:
        return False
    is_taken = types_of(dtype, weight, len(attrs.rescales)) == (DType.S8.value,)
    return (
        is_taken and CASES["shifts_right"]({"rescales": attrs.rescales}) and planes.pay_few(fields)
    )


def _with_biases(
    attrs: ops.ConvAttrs,
    of: DType,
    kind: str,
    constants: Constants,
    rows: Array,
    bias: Array | None,
) -> _Layer:
    """A layer that has its weights, and now its biases.

    Args:
        of: the type of its codes.
        rows: the weights of each output, int64.
        bias: the model's.
    """
    weight, channels = constants.weight, len(constants.rescales)
    sums, sizes = rows.sum(axis=1), np.abs(rows).sum(axis=1)
    if of is DType.S16:
        total = wide_bias(bias, channels)
        bound = largest_sum(sizes, total, 1 << 15)
        if fits_in_32_bits(bound):
            total = total.astype(np.int32)
        else:
            kind += "_wide"
        types = types_of(of, weight, channels)
        whole = replace(constants, bias=total, wide=True)
        return _Layer(kind, types, whole, bound, bound, largest_start(rows))
    folded, plain = folded_bias(sums, bias, attrs.in_zero_point), folded_bias(sums, bias, 0)
    return _Layer(
        kind,
        types_of(of, weight, channels),
        replace(constants, bias=folded, plain_bias=plain, in_zero_point=attrs.in_zero_point),
        largest_sum(sizes, folded),
        largest_plain_sum(sizes, plain),
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
    if _is_reversed(select, attrs, op, weight):
        extents |= places(attrs.window)
    clamp: dict[str, Field] = {"act_min": attrs.act_min, "act_max": attrs.act_max}
    layer, joined, copying, phases = select.once(
        lambda: _layers(select, attrs, op, extents | clamp)
    )
    copying = tuple(way for way in copying if not select.avoids(way.copies))
    if phases and not select.avoids(ROW_PHASES):
        select.others.add(ROW_PHASES)
        if not copying:
            return _rows(select, attrs, op, extents, phases)
    if not select.avoids(NEIGHBOURS):
        alone = layer
        layer = next(iter(copying), joined)
        if layer.copies == SQUARES:
            select.others.add(SQUARES)
        elif layer is joined and joined is not alone:
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
    layer: _Layer,
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


def _row_phases(
    select: Selector, attrs: ops.ConvAttrs, op: Op, extents: Mapping[str, int], whole: _Layer
) -> list[tuple[RowPhase, _Layer | None]]:
    """The layers that make all rows of a transposed convolution in scratch, where it costs less than `whole`,
    and none for rows without taps; not in the result of a concatenation."""
    find = {"transpose_conv2d": row_phases, "conv2d": row_pairs}.get(whole.kind)
    if not isinstance(attrs, ops.TransposeConv2d) or select.choice is not KernelChoice.BUILTIN:
        return []
    weight, of = (
        constant_data(select, op.inputs[1], op, "weights"),
        select.tensor(op.inputs[0]).dtype,
    )
    phases = find(select.target, weight, extents, of is DType.S16) if find else []
    if not phases or select.is_joined(op.outputs[0]):
        return []
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    found: list[tuple[RowPhase, _Layer | None]] = []
    for phase in phases:
        if not phase.weight.size:
            found.append((phase, None))
            continue
        joined = phase.joined
        rows = joined.weight.astype(np.int64).reshape(len(joined.weight), -1)
        biases = None if bias is None else np.tile(bias.reshape(-1), joined.count)
        constants = Constants(joined.weight, np.zeros(0), attrs.rescales * joined.count)
        layer = _with_biases(attrs, of, "conv2d", constants, rows, biases)
        found.append((phase, replace(layer, types=whole.types, joined=joined.fields)))
    return found


def _rows(
    select: Selector,
    attrs: ops.ConvAttrs,
    op: Op,
    extents: dict[str, Field],
    phases: list[tuple[RowPhase, _Layer | None]],
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


def _one_row(fields: dict[str, Field]) -> dict[str, Field]:
    """The same 1x1 convolution of an image of one row, if its rows follow each other: kernels take
    neighbours in a row together."""
    height, width = fields["in_h"], fields["in_w"]
    assert isinstance(height, int) and isinstance(width, int)
    for name in ("in_strides", "out_strides"):
        steps = fields[name]
        assert isinstance(steps, tuple)
        if steps[2] != width * steps[3]:
            return fields
    pixels = height * width
    return fields | {"in_h": 1, "in_w": pixels, "out_h": 1, "out_w": pixels}


_TURNED = ("in", "out", "kernel", "stride", "dilation")


def _keeps_columns(
    select: Selector, groups: int, weight: Tensor, fields: Mapping[str, Field]
) -> bool:
    """Whether kernels take windows of a single column as well as those of a row: planes that are groups, of
    which they compute neighbours in a row, and on DSP eight channels or more side by side."""
    ins, outs = fields["in_strides"], fields["out_strides"]
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    if groups == 1 or weight.shape[1] != 1:
        return False
    return not ins[1] == outs[1] == 1 or (select.target.isa is Isa.DSP and groups >= 8)


def _turned(fields: dict[str, Field]) -> dict[str, Field]:
    """The same convolution with the columns as rows: kernels take neighbours in a row together, and
    windows of a single column share inputs with none of these."""
    changed: dict[str, Field] = {"pad_top": fields["pad_left"], "pad_left": fields["pad_top"]}
    for name in _TURNED:
        changed |= {f"{name}_h": fields[f"{name}_w"], f"{name}_w": fields[f"{name}_h"]}
    for name in ("in_strides", "out_strides"):
        steps = fields[name]
        assert isinstance(steps, tuple)
        changed[name] = (*steps[:2], steps[3], steps[2])
    return fields | changed


@lowers(ops.FloatConv2d, ops.FloatTransposeConv2d)
def _float_convolution(
    select: Selector, attrs: ops.FloatConv2d | ops.FloatTransposeConv2d, op: Op
) -> list[Call]:
    x, weight, out = (select.tensor(i) for i in (op.inputs[0], op.inputs[1], op.outputs[0]))
    if takes_rows(select, op):
        return lanes_of_rows(select, op)
    transposed = isinstance(attrs, ops.FloatTransposeConv2d)
    has_bias = len(op.inputs) > 2
    fields = strided_image_fields(x, out) | {
        "batches": x.shape[0],
        "in_c": x.shape[1],
        "out_c": out.shape[1],
        "groups": attrs.groups,
        **window_fields(attrs.window),
        "pad_top": attrs.window.padding[0],
        "pad_left": attrs.window.padding[1],
        "bias_stride": int(has_bias),
    }
    if attrs.window == POINTWISE and not transposed:
        fields = _one_row(fields)
    elif not transposed and attrs.window.kernel[1] == 1:
        if not _keeps_columns(select, attrs.groups, weight, fields):
            fields = _turned(fields)
    taps = math.prod(weight.shape[1:])
    macs = (x.numel if transposed else out.numel) * taps
    if transposed and weight.data is not None and not select.avoids(FLOAT_PHASES):
        phases = float_phases(attrs.window, x.shape[2:], out.shape[2:])
        if phases:
            return [_float_phase(select, op, fields, weight.data, *phase) for phase in phases]
    name = "transpose_conv2d" if transposed else "conv2d"
    return [float_call(select, op, name, fields, macs)]


def _float_phase(
    select: Selector,
    op: Op,
    fields: dict[str, Field],
    weight: Array,
    row: AxisPhase,
    column: AxisPhase,
) -> Call:
    """A phase of a transposed convolution of floats, which has these fields and weights
    [in_c, out_c / groups, kernel_h, kernel_w], as a convolution."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    groups, stride_h, stride_w = (fields[f] for f in ("groups", "stride_h", "stride_w"))
    assert isinstance(groups, int) and isinstance(stride_h, int) and isinstance(stride_w, int)
    some = weight[:, :, row.tap :: stride_h, column.tap :: stride_w]
    by_group = some.reshape(groups, -1, *some.shape[1:]).swapaxes(1, 2)
    part = np.ascontiguousarray(by_group.reshape(-1, *by_group.shape[2:]))
    steps, out_steps = strides(x), strides(out)
    last = (row.inputs - 1) * steps[2] + (column.inputs - 1) * steps[3]
    out_last = (row.first + (row.count - 1) * stride_h) * out_steps[2]
    out_last += (column.first + (column.count - 1) * stride_w) * out_steps[3]
    changed: dict[str, Field] = {
        "in_h": row.inputs,
        "in_w": column.inputs,
        "out_h": row.count,
        "out_w": column.count,
        **window_fields(Window((row.taps, column.taps), (1, 1), (0, 0, 0, 0))),
        "pad_top": row.pad,
        "pad_left": column.pad,
        "in_strides": (*steps[:2], -steps[2], -steps[3]),
        "out_strides": (*out_steps[:2], -stride_h * out_steps[2], -stride_w * out_steps[3]),
    }
    macs = x.numel * math.prod(some.shape[1:])
    return float_call(select, op, "conv2d", fields | changed, macs, part, (last, out_last))
