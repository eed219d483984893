# SPDX-License-Identifier: Apache-2.0
"""What is known of a convolution of codes whatever kernel computes it, and what it may be taken for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...ir import Array, DType, Op, ops
from ...target import Isa
from ..kernels import gathered, gemm, planes
from ..kernels.contract import named
from ..kernels.packing import Constants
from ..kernels.table import KernelChoice
from ..types import Field
from .context import Selector
from .groups import FEW_ZEROS, MANY_ZEROS, groups_to_join, with_zeros
from .neighbours import Joined, join_neighbours
from .transposed import (
    RowPhase,
    is_convolution,
    join_phases,
    row_pairs,
    row_phases,
)
from .weights import (
    constant_data,
    fits_in_32_bits,
    folded_bias,
    largest_plain_sum,
    largest_start,
    largest_sum,
    types_of,
    wide_bias,
)


@dataclass(frozen=True)
class Layer:
    """What is known of a convolution whatever kernel computes it.

    Attributes:
        kind: the operator whose kernels do, on any of these types.
        largest_sum: a bound of |accumulator|; largest_plain_sum, largest_start: see the functions of
            these names.
        joined: the fields that change where neighbouring pixels are computed as one, or rows are one.
        copies: the symbol of the kernel that computes it from a copy of the image.
    """

    kind: str
    types: tuple[str, ...]
    constants: Constants
    largest_sum: int
    largest_plain_sum: int
    largest_start: int = 0
    joined: Mapping[str, int] = field(default_factory=dict)
    copies: str = ""


def layers_of(
    select: Selector, attrs: ops.ConvAttrs, op: Op, fields: dict[str, Field]
) -> tuple[Layer, Layer, tuple[Layer, ...], list[tuple[RowPhase, Layer | None]]]:
    """The layer for the least constants, with more groups and neighbouring pixels computed as one, for
    kernels that copy the image and are better still, the best first, and as the layers of its rows."""
    extents = {name: value for name, value in fields.items() if isinstance(value, int)}
    layer = _layer(select, attrs, op, extents, FEW_ZEROS)
    joined = layer
    if layer.constants.groups > 1:
        joined = _layer(select, attrs, op, extents, MANY_ZEROS)
    joined = _joined(select, joined, op, extents)
    phases = _row_layers(select, attrs, op, extents, layer)
    return layer, joined, _copying(select, attrs, op, extents, joined), phases


def _copying(
    select: Selector,
    attrs: ops.ConvAttrs,
    op: Op,
    fields: Mapping[str, int],
    other: Layer,
) -> tuple[Layer, ...]:
    """The layer as it is, for kernels that copy the image and take fewer instructions than `other` does; not
    where other channels may lie between the pixels."""
    if select.target.isa is not Isa.MVE or select.choice is not KernelChoice.BUILTIN:
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
    most = gemm.instructions(others, wide=False)
    paying = [symbol for symbol in gathered.SYMBOLS if gathered.pays(symbol, facts, most)]
    paying.sort(key=lambda symbol: gathered.instructions(symbol, facts))
    return tuple(replace(alone, copies=symbol) for symbol in paying)


def _with(layer: Layer, joined: Joined) -> Layer:
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


def _joined(select: Selector, layer: Layer, op: Op, fields: Mapping[str, int]) -> Layer:
    """The layer with neighbouring pixels computed as one, where that is worth it; not where other channels
    may lie between the pixels."""
    constants = layer.constants
    if constants.groups > 1 or select.is_joined(op.outputs[0]):
        return layer
    if select.choice is not KernelChoice.BUILTIN:
        return layer
    if layer.kind == "transpose_conv2d":
        joined = join_phases(select.target, constants.weight, fields, constants.wide)
    elif layer.kind != "conv2d":
        joined = None
    else:
        is_reversed = isinstance(op.attrs, ops.TransposeConv2d)  # check/transposed.py knows no rows
        joined = join_neighbours(
            select.target, constants.weight, fields, constants.wide, rows=not is_reversed
        )
    return layer if joined is None else _with(layer, joined)


def is_reversed(select: Selector, attrs: ops.ConvAttrs, op: Op, weight: Array) -> bool:
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
) -> Layer:
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
    elif is_reversed(select, attrs, op, weight):
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
    are_right = all(rescale.shift < 0 for rescale in attrs.rescales)
    return is_taken and are_right and bool(named()["few_taps"](fields)) and planes.pay_few(fields)


def _with_biases(
    attrs: ops.ConvAttrs,
    of: DType,
    kind: str,
    constants: Constants,
    rows: Array,
    bias: Array | None,
) -> Layer:
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
        return Layer(kind, types, whole, bound, bound, largest_start(rows))
    folded, plain = folded_bias(sums, bias, attrs.in_zero_point), folded_bias(sums, bias, 0)
    return Layer(
        kind,
        types_of(of, weight, channels),
        replace(constants, bias=folded, plain_bias=plain, in_zero_point=attrs.in_zero_point),
        largest_sum(sizes, folded),
        largest_plain_sum(sizes, plain),
    )


def _row_layers(
    select: Selector, attrs: ops.ConvAttrs, op: Op, extents: Mapping[str, int], whole: Layer
) -> list[tuple[RowPhase, Layer | None]]:
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
    found: list[tuple[RowPhase, Layer | None]] = []
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
