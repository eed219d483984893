# SPDX-License-Identifier: Apache-2.0
"""Which form of a convolution of codes pays, and what is known of it whatever kernel computes it.

Kernels compute outputs in blocks. A pixel, and a group, costs as much as some hundred products before it
makes the first one, and outputs that are left of a block cost most: so where outputs are few, or groups
small, others are put beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir import DType, Op, ops
from ...target import Isa, Target
from ..forms.dense import of_one_channel
from ..forms.groups import join_groups
from ..forms.neighbours import join_pixels
from ..forms.phases import RowPhase, columns_as_one, pairs_of_rows, phases_of_rows
from ..forms.problem import ConvProblem
from ..forms.reversed import in_reverse
from ..forms.rows import row_as_pixel
from ..kernels import gathered, gemm, planes, triples
from ..kernels.contract import named
from ..kernels.params import zero_point_fields
from ..kernels.table import KernelChoice
from .context import Selector
from .conv_costs import in_groups, instructions, instructions_transposed
from .copies import copy_instructions
from .images import image_fields, window_fields
from .weights import (
    constant_data,
    fits_in_32_bits,
    largest_plain_sum,
    largest_start,
    largest_sum,
    types_of,
)

FEW_ZEROS, MANY_ZEROS = 1024, 2048
"""Bytes of weights that groups may add: by plans for size too, and by others."""

_PER_BYTE = 2  # instructions that each byte of them must save
_MOST_DEPTH = 288  # inputs of a window of joined groups, for which kernels have scratch memory
_MOST_OUTPUTS = 16  # of a window; more of them have little to gain
_MOST_OF_PIXEL = 12  # the same where windows are pixels, which need not be gathered
_MOST_BYTES = 1024  # of weights that other forms may add
_PER_CHANNEL = 9  # bytes of constants for its bias, multiplier and shift
# Of the instructions at most, so that estimates that are wrong do no harm.
_SHARE = {Isa.MVE: 0.93, Isa.DSP: 0.91, Isa.V7M: 0.87, Isa.V6M: 0.87}
_SHARE_TRANSPOSED = 0.85
_SHARE_PAIRS = 0.9  # of two forms that differ in a few rows
_SAVES = 3  # instructions that an added byte of a transposed convolution must save
_MOST_OF_ROWS = 3072  # bytes of constants that may be added where rows are convolutions
_PER_CALL = 100  # bytes of a call and its parameter block
_PER_COPY = 60  # instructions
_MOST_OF_ONE = 256  # int16 inputs of an output by itself


@dataclass(frozen=True)
class Layer:
    """A convolution in one form.

    Attributes:
        types: those whose kernels compute it, the best first.
        largest_sum: a bound of |accumulator|; largest_plain_sum, largest_start: see the functions of
            these names.
        copies: the symbol of the kernel that computes it from a copy of the image.
    """

    problem: ConvProblem
    types: tuple[str, ...]
    largest_sum: int
    largest_plain_sum: int
    largest_start: int = 0
    copies: str = ""

    @property
    def kind(self) -> str:
        """The operator whose kernels compute it."""
        return self.problem.kind + ("_wide" if self.problem.long else "")


@dataclass(frozen=True)
class Layers:
    """The forms of an operator.

    Attributes:
        alone: with the least constants.
        joined: with more groups and neighbouring pixels computed as one.
        copying: for kernels that copy the image and are better still, the best first.
        rows: as the layers of its rows, and none for rows without taps.
    """

    alone: Layer
    joined: Layer
    copying: tuple[Layer, ...]
    rows: Sequence[tuple[RowPhase, Layer | None]]


def layers_of(select: Selector, attrs: ops.ConvAttrs, op: Op) -> Layers:
    problem = _problem(select, attrs, op)
    if isinstance(attrs, ops.TransposeConv2d) and select.choice is KernelChoice.BUILTIN:
        problem = _in_reverse(select.target, problem)
    alone = joined = _layer(select, op, problem, FEW_ZEROS)
    if alone.problem.groups > 1:
        joined = _layer(select, op, problem, MANY_ZEROS)
    joined = _joined(select, joined, op)
    copying = _copying(select, op, problem, joined)
    return Layers(alone, joined, copying, _row_layers(select, op, problem, alone))


def _problem(select: Selector, attrs: ops.ConvAttrs, op: Op) -> ConvProblem:
    """The operator as it is."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    bias = constant_data(select, op.inputs[2], op, "biases") if len(op.inputs) > 2 else None
    zero_points = {"in_zero_point": attrs.in_zero_point, "out_zero_point": attrs.out_zero_point}
    fields = {
        **image_fields(select, op, attrs.window),
        "in_c": x.shape[1],
        "out_c": out.shape[1],
        **window_fields(attrs.window),
        "groups": attrs.groups if isinstance(attrs, ops.Conv2d) else 1,
        **zero_point_fields(x, **zero_points),
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
    }
    biases = np.zeros(out.shape[1], np.int64)
    if bias is not None:
        biases = bias.astype(np.int64).reshape(-1)
    weight = constant_data(select, op.inputs[1], op, "weights")
    ints = {name: value for name, value in fields.items() if isinstance(value, int)}
    wide = x.dtype is DType.S16
    problem = ConvProblem(op.kind, ints, weight, biases, attrs.rescales, wide)
    is_long = wide and not fits_in_32_bits(_with_bounds(problem, ()).largest_sum)
    return replace(problem, long=is_long)


def _with_bounds(problem: ConvProblem, types: tuple[str, ...]) -> Layer:
    sizes = np.abs(problem.rows.astype(np.int16)).sum(axis=1, dtype=np.int64)
    if problem.wide:
        bound = largest_sum(sizes, problem.bias, 1 << 15)
        return Layer(problem, types, bound, bound, largest_start(problem.rows))
    folded, plain = problem.constants.bias, problem.constants.plain_bias
    return Layer(problem, types, largest_sum(sizes, folded), largest_plain_sum(sizes, plain))


def _in_reverse(target: Target, problem: ConvProblem) -> ConvProblem:
    """All transposed convolutions of stride 1 so, but for many int16 inputs and an odd number of outputs on
    DSP, of which conv2d computes the last one by itself."""
    out_c, *sides = problem.weight.shape
    is_odd = target.isa is Isa.DSP and problem.wide and out_c % 2
    if is_odd and math.prod(sides) > _MOST_OF_ONE:
        return problem
    return in_reverse(problem) or problem


def _layer(select: Selector, op: Op, problem: ConvProblem, zeros: int) -> Layer:
    """The layer with as many groups computed as one as `zeros` bytes of weights are enough for."""
    if _is_plane(select, op, problem):
        problem = of_one_channel(problem, "depthwise_conv2d")
    elif problem.kind == "depthwise_conv2d" and problem.fields["in_c"] == 1:
        problem = of_one_channel(problem, "conv2d")  # which has the faster kernels
    is_s8 = not problem.wide
    if problem.groups > 1 and is_s8 and select.choice is KernelChoice.BUILTIN:
        problem = joined_groups(select.target, problem, zeros)
    dtype = select.tensor(op.inputs[0]).dtype
    return _with_bounds(problem, types_of(dtype, problem.weight, len(problem.rescales)))


def _is_plane(select: Selector, op: Op, problem: ConvProblem) -> bool:
    """Whether a convolution of one channel is best by the kernel for few channels."""
    if select.target.isa is not Isa.MVE or select.choice is not KernelChoice.BUILTIN:
        return False
    is_transposed = isinstance(op.attrs, ops.TransposeConv2d)
    if is_transposed or problem.fields["in_c"] != 1 or problem.wide:
        return False
    types = types_of(DType.S8, problem.weight, len(problem.rescales))
    are_right = all(rescale.shift < 0 for rescale in problem.rescales)
    are_right = are_right and bool(named()["few_taps"](problem.fields))
    return types == (DType.S8.value,) and are_right and planes.pay_few(problem.fields)


def joined_groups(target: Target, problem: ConvProblem, most: int = MANY_ZEROS) -> ConvProblem:
    """With so many groups as one as pay.

    Args:
        most: bytes of weights that may be added.
    """
    isa = target.kernels
    if isa not in (Isa.MVE, Isa.DSP, *triples.ISAS):
        return problem

    def cost(form: ConvProblem) -> float:
        if isa in triples.ISAS:
            found = triples.instructions(isa, form.fields)
        elif isa is Isa.MVE:
            found = gemm.instructions(form.fields, wide=False)
        else:
            found = in_groups(form.fields)
        return found + _PER_BYTE * (form.weight.size - problem.weight.size)

    return min([problem, *join_groups(problem, _MOST_DEPTH, most)], key=cost)


def _joined(select: Selector, layer: Layer, op: Op) -> Layer:
    """The layer with neighbouring pixels computed as one, where that is worth it; not where other channels
    may lie between the pixels."""
    problem = layer.problem
    if problem.groups > 1 or problem.long or select.is_joined(op.outputs[0]):
        return layer
    if select.choice is not KernelChoice.BUILTIN:
        return layer
    if problem.kind == "transpose_conv2d":
        problem = joined_columns(select.target, problem)
    elif problem.kind == "conv2d":
        is_reversed = isinstance(op.attrs, ops.TransposeConv2d)
        problem = joined_neighbours(select.target, problem, rows=not is_reversed)
    return replace(layer, problem=problem)


def joined_neighbours(target: Target, problem: ConvProblem, *, rows: bool = True) -> ConvProblem:
    """With so many pixels of a row as one as pay.

    Args:
        problem: conv2d of one group.
        rows: all pixels of a row may be one, and rows may be.
    """
    isa, weight = target.kernels, problem.weight
    most = _MOST_OUTPUTS if weight[0].size > weight.shape[3] else _MOST_OF_PIXEL
    if isa not in _SHARE or weight.shape[0] > most or (problem.wide and isa in triples.ISAS):
        return problem
    forms = list(join_pixels(problem))
    if rows and (row := row_as_pixel(problem, _MOST_BYTES)) is not None:
        forms.append(row)
    alone = instructions(isa, problem)
    best, found = alone, problem
    for form in forms:
        each = instructions(isa, form)
        added = form.weight.size - weight.size
        tables = _PER_CHANNEL * (len(form.weight) - len(weight))
        cost = each + added + tables  # each byte saves an instruction
        if each < _SHARE[isa] * alone and added <= _MOST_BYTES and cost < best:
            best, found = cost, form
    return found


def joined_columns(target: Target, problem: ConvProblem) -> ConvProblem:
    """A transposed convolution with the columns of all phases as one, if that pays."""
    fields, isa = problem.fields, target.isa
    form = columns_as_one(problem) if isa in (Isa.MVE, Isa.DSP) else None
    if form is None:
        return problem
    rows, columns = fields["stride_h"], fields["stride_w"]
    alone = instructions_transposed(isa, problem.weight, (rows, columns), problem.wide)
    each = instructions_transposed(isa, form.weight, (rows, 1), problem.wide) / columns
    added = form.weight.size - problem.weight.size
    added += _PER_CHANNEL * (len(form.weight) - len(problem.weight))
    saved = fields["out_h"] * fields["out_w"] * (alone - each)
    pays = each <= _SHARE_TRANSPOSED * alone and saved >= _SAVES * added
    return form if pays and added <= _MOST_BYTES else problem


def _copying(select: Selector, op: Op, problem: ConvProblem, other: Layer) -> tuple[Layer, ...]:
    """The layer as it is, for kernels that copy the image and take fewer instructions than `other` does; not
    where other channels may lie between the pixels."""
    if select.target.isa is not Isa.MVE or select.choice is not KernelChoice.BUILTIN:
        return ()
    is_taken = other.kind == "conv2d" and other.types == (DType.S8.value,)
    if not is_taken or select.is_joined(op.outputs[0]):
        return ()
    alone = _layer(select, op, problem, 0)
    facts, most = alone.problem.fields, gemm.instructions(other.problem.fields, wide=False)
    paying = [symbol for symbol in gathered.SYMBOLS if gathered.pays(symbol, facts, most)]
    paying.sort(key=lambda symbol: gathered.instructions(symbol, facts))
    return tuple(replace(alone, copies=symbol) for symbol in paying)


def _row_layers(
    select: Selector, op: Op, problem: ConvProblem, whole: Layer
) -> list[tuple[RowPhase, Layer | None]]:
    """The layers that make all rows of a transposed convolution in scratch, where it costs less than `whole`,
    and none for rows without taps; not in the result of a concatenation."""
    if not isinstance(op.attrs, ops.TransposeConv2d) or select.choice is not KernelChoice.BUILTIN:
        return []
    find = {"transpose_conv2d": row_phases, "conv2d": row_pairs}.get(whole.kind)
    phases = find(select.target, problem) if find else []
    if not phases or select.is_joined(op.outputs[0]):
        return []
    return [
        (phase, _with_bounds(phase.problem, whole.types) if phase.weight.size else None)
        for phase in phases
    ]


def _made_by(target: Target, phase: RowPhase, fields: Mapping[str, int]) -> tuple[float, int]:
    """Instructions of a phase of the rows with its copies, and bytes of its constants and calls."""
    form, copies = phase.problem, phase.copies(fields)
    total = float(len(copies) * _PER_COPY)
    for box, *_ in copies:
        total += copy_instructions(box, target.isa, 2 if form.wide else 1)
    added = _PER_CALL * len(copies)
    if phase.weight.size:
        total += instructions(target.isa, form)
        added += form.weight.size + _PER_CHANNEL * len(form.weight)
    return total, added


def row_phases(target: Target, problem: ConvProblem) -> list[RowPhase]:
    """Convolutions that make all rows, if that is worth it; else none."""
    fields, isa = problem.fields, target.isa
    if isa not in (Isa.MVE, Isa.DSP) or (fields["stride_h"], fields["stride_w"]) == (1, 1):
        return []
    own = joined_columns(target, problem)
    steps = own.fields["stride_h"], own.fields["stride_w"]
    pixels = fields["out_h"] * own.fields["out_w"]
    alone = pixels * instructions_transposed(isa, own.weight, steps, problem.wide)
    best, found = _SHARE_TRANSPOSED * alone, list[RowPhase]()
    for rows in sorted({1, fields["stride_h"]}):
        phases = [
            replace(each, problem=joined_neighbours(target, each.problem, rows=False))
            if each.weight.size
            else each
            for each in phases_of_rows(problem, rows)
        ]
        costs = [_made_by(target, phase, fields) for phase in phases]
        total = sum(each for each, _ in costs)
        added = sum(each for _, each in costs) - problem.weight.size
        added += _PER_CALL * sum(phase.weight.size > 0 for phase in phases)
        if phases and added <= _MOST_OF_ROWS and total < min(best, alone - _SAVES * added):
            best, found = total, phases
    return found


def row_pairs(target: Target, problem: ConvProblem) -> list[RowPhase]:
    """All rows of a transposed convolution of stride 1, two as one, if that is worth it; else none.

    Args:
        problem: the convolution that it is.
    """
    phase = pairs_of_rows(problem) if target.isa is Isa.MVE else None
    if phase is None:
        return []
    other = joined_neighbours(target, problem, rows=False)
    alone = instructions(target.isa, other)
    total, added = _made_by(target, phase, problem.fields)
    added -= other.weight.size + _PER_CHANNEL * len(other.weight)
    pays = total < min(_SHARE_PAIRS * alone, alone - _SAVES * added)
    return [phase] if pays and added <= _MOST_BYTES else []
