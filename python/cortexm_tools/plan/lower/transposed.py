# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions in forms that cost less.

Of stride 1 one is a convolution whose taps are in reverse, for which there are faster kernels. On MVE, where
gathering the windows of a row costs as much as some of their products, two rows can be one, whose pixels have
the outputs of both: it is made in scratch and copied to its places, as below.

Others are a convolution for each phase of the stride: columns that are as many apart as the stride is wide
have the same taps. Where outputs are few, what a pixel costs before its first product and outputs that are
left of a block cost most. So the neighbours of all phases of a row are one pixel with the outputs of each,
which lie side by side in memory, and the window of all: a transposed convolution whose columns have the
stride 1. With output column x = stride * g + r of pixel g, tap k of input column i, which adds to
x = in_x0 + stride * i + k, is tap (in_x0 + k - r) / stride of output r where that is whole; other weights are
zero. Exact: products with a weight of zero add nothing, to a sum or to its bound.

These pixels can be those of conv2d, which begins and gathers them with less: the rows of each phase of the
stride are a convolution with as many rows of taps as meet an input there, or those of all phases are one,
whose pixels have the outputs of as many rows, too. It is made in scratch, in whole pixels, also where rows or
columns are no multiple of the stride, and copied to its places in the result. Rows between those of windows
that are lower than the stride meet no tap: they have the codes of the biases, which are copied there.

Of floats, whose sums have an order, each phase is a convolution by itself, with every stride-th weight.
Output r + stride * q of the full result meets with tap r + stride * t the input q - t. So inputs and outputs
are walked from the last one to the first, with negative strides: then a later tap has a later input, as a
convolution has it, and the terms keep their order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...ir import Array
from ...ir.geometry import Window
from ...target import Isa, Target
from .copies import copy_instructions
from .lanes import Box
from .neighbours import Joined, instructions, join_neighbours

_MOST_PHASES = 16
_MOST_BYTES = 1024  # of constants that may be added
_PER_CHANNEL = 9  # of them for its bias, multiplier and shift
_SHARE = 0.85  # of the instructions at most, so that estimates that are wrong do no harm
_SHARE_PAIRS = 0.9  # the same of two forms that differ in a few rows
_PER_BYTE = 3  # instructions that an added byte must save
_MOST_OF_ROWS = 3072  # the same where rows are convolutions
_PER_CALL = 100  # bytes of a call and its parameter block
_PER_COPY = 60  # instructions
_MOST_OF_ONE = 256  # int16 inputs of an output by itself


def is_convolution(target: Target, weight: Array, window: Window, wide: bool) -> bool:
    """Whether to take a transposed convolution for a convolution: all of stride 1, but for many int16
    inputs and an odd number of outputs on DSP, of which conv2d computes the last one by itself.

    Args:
        weight: [out_c, kernel_h, kernel_w, in_c].
        wide: the codes are int16.
    """
    out_c, *sides = weight.shape
    is_slow = target.isa is Isa.DSP and wide and out_c % 2 and math.prod(sides) > _MOST_OF_ONE
    return window.stride == (1, 1) and not is_slow


def places(window: Window) -> dict[str, int]:
    """Where the first window of that convolution begins."""
    reach = [(side - 1) * step for side, step in zip(window.kernel, window.dilation, strict=True)]
    return {"in_y0": window.padding[0] - reach[0], "in_x0": window.padding[1] - reach[1]}


@dataclass(frozen=True)
class AxisPhase:
    """Along an axis, the outputs from `first` on that are a stride apart, and the taps from `tap` on that
    they meet.

    Attributes:
        inputs: the first ones, which they meet.
        pad: places beyond them that the last output's window has.
    """

    tap: int
    taps: int
    first: int
    count: int
    inputs: int
    pad: int


def float_phases(
    window: Window, ins: tuple[int, ...], outs: tuple[int, ...]
) -> list[tuple[AxisPhase, AxisPhase]]:
    """The phases, of rows and of columns, of a transposed convolution of floats between images of these
    sides; none where there are too many, or some meet no tap or no input."""
    axes = []
    for axis, (extent, out) in enumerate(zip(ins, outs, strict=True)):
        kernel, stride, pad = (
            each[axis] for each in (window.kernel, window.stride, window.padding[:2])
        )
        phases = []
        for tap in range(stride):
            begin = -((tap - pad) // stride)  # of the first output in the full result, in strides
            first = tap + stride * begin - pad
            count = len(range(first, out, stride))
            taps = len(range(tap, kernel, stride))
            if count:
                end = begin + count
                phases.append(
                    AxisPhase(tap, taps, first, count, min(end, extent), max(0, end - extent))
                )
        axes.append(phases)
    pairs = [(row, column) for row in axes[0] for column in axes[1]]
    is_met = all(min(phase.taps, phase.inputs) > 0 for pair in pairs for phase in pair)
    is_plain = all(d == 1 or k == 1 for d, k in zip(window.dilation, window.kernel, strict=True))
    return pairs if is_met and is_plain and len(pairs) <= _MOST_PHASES else []


def join_phases(
    target: Target, weight: Array, fields: Mapping[str, int], wide: bool
) -> Joined | None:
    """The columns of all phases as one, if that is worth it.

    Args:
        weight: int8 [out_c, kernel_h, kernel_w, in_c].
        fields: extents, window and places of the first window, of one whole image.
        wide: the codes are int16.
    """
    out_c = len(weight)
    stride = fields["stride_w"]
    if target.isa not in (Isa.MVE, Isa.DSP) or stride == 1:
        return None
    if fields["out_w"] % stride or max(fields["dilation_h"], fields["dilation_w"]) > 1:
        return None
    together, first = _columns_together(weight, stride, fields["in_x0"])
    changed = {
        "out_w": fields["out_w"] // stride,
        "out_c": stride * out_c,
        "out_pixel_stride": stride * out_c,
        "in_x0": first,
        "kernel_w": together.shape[2],
        "stride_w": 1,
    }
    steps = fields["stride_h"], stride
    alone = _instructions(target.isa, weight, steps, wide)
    each = _instructions(target.isa, together, (steps[0], 1), wide) / stride
    added = together.size - weight.size + _PER_CHANNEL * (stride - 1) * out_c
    saved = fields["out_h"] * fields["out_w"] * (alone - each)
    if each > _SHARE * alone or added > _MOST_BYTES or saved < _PER_BYTE * added:
        return None
    return Joined(stride, together, changed, np.zeros(stride * out_c, np.int64))


def _columns_together(weight: Array, stride: int, begin: int) -> tuple[Array, int]:
    """The weights of a column with the outputs of each phase, [stride * out_c, kernel_h, columns, in_c], and
    the column of the result, in strides, to which input 0 adds with the first one.

    Args:
        begin: the one to which it adds with the first of `weight`, in columns.
    """
    out_c, kernel_h, kernel_w, in_c = weight.shape
    first, last = begin // stride, (begin + kernel_w - 1) // stride
    joined = np.zeros((stride, out_c, kernel_h, last - first + 1, in_c), weight.dtype)
    for tap in range(kernel_w):
        column, phase = divmod(begin + tap, stride)
        joined[phase, :, :, column - first] = weight[:, :, tap]
    return joined.reshape(stride * out_c, kernel_h, -1, in_c), first


@dataclass(frozen=True)
class RowPhase:
    """Rows of a result that are as many apart as the stride is high, or all, as a convolution, some as one.

    Attributes:
        first: the first of these rows, of which `rows` follow each other.
        weight: the model's that it has; none where the rows meet no tap.
        joined: its pixels, with all extents and places in their fields.
    """

    first: int
    rows: int
    weight: Array
    joined: Joined

    def copies(self, fields: Mapping[str, int]) -> list[tuple[Box, int, int]]:
        """From scratch, or from the codes of a pixel, to a result of these fields: boxes, and where they
        begin in both."""
        stride_h, stride_w, out_c = (fields[f] for f in ("stride_h", "stride_w", "out_c"))
        stride_h = max(stride_h, self.rows)
        own, row = self.joined.fields, fields["out_w"] * out_c
        height, pitch = own["out_h"], own["out_w"] * own["out_c"]
        begin = self.first * row
        if not self.weight.size:
            pixels = (fields["out_w"], 0, out_c), (out_c, 1, 1)
            return [([(height, 0, stride_h * row), *pixels], 0, begin)]
        if self.rows == 1:
            return [([(height, pitch, stride_h * row), (row, 1, 1)], 0, begin)]
        piece = stride_w * out_c
        boxes = []
        for high, rows, y in _parts(fields["out_h"], stride_h):
            for wide, columns, x in _parts(fields["out_w"], stride_w):
                box = [
                    (high, pitch, stride_h * row),
                    (rows, piece, row),
                    (wide, stride_h * piece, piece),
                    (columns * out_c, 1, 1),
                ]
                place = begin + stride_h * y * row + x * piece
                boxes.append((box, y * pitch + x * stride_h * piece, place))
        return boxes


def _parts(extent: int, stride: int) -> list[tuple[int, int, int]]:
    """Whole strides of an extent, and what is left: how many, how long, and after how many."""
    whole, left = divmod(extent, stride)
    return [part for part in ((whole, stride, 0), (1, left, whole)) if part[0] and part[1]]


def row_phases(
    target: Target, weight: Array, fields: Mapping[str, int], wide: bool
) -> list[RowPhase]:
    """Convolutions that make all rows, if that is worth it; else none.

    Args: as of `join_phases`.
    """
    steps = fields["stride_h"], fields["stride_w"]
    if target.isa not in (Isa.MVE, Isa.DSP) or steps == (1, 1):
        return []
    if max(fields["dilation_h"], fields["dilation_w"]) > 1 or fields["out_h"] < steps[0]:
        return []
    joined = join_phases(target, weight, fields, wide)
    columns = fields["out_w"] // (1 if joined is None else joined.count)
    form = (weight, steps) if joined is None else (joined.weight, (steps[0], 1))
    alone = fields["out_h"] * columns * _instructions(target.isa, *form, wide)
    best, found = _SHARE * alone, list[RowPhase]()
    for rows in sorted({1, steps[0]}):
        phases = [
            _row_phase(target, weight, fields, first, rows, wide)
            for first in range(0, steps[0], rows)
        ]
        total, added = 0.0, -weight.size
        for phase in phases:
            own, copies = phase.joined, phase.copies(fields)
            for box, *_ in copies:
                total += _PER_COPY + copy_instructions(box, target.isa, 2 if wide else 1)
            added += _PER_CALL * len(copies)
            if phase.weight.size:
                total += instructions(target.isa, own.weight, own.fields, wide)
                added += own.weight.size + _PER_CHANNEL * len(own.weight) + _PER_CALL
        if added <= _MOST_OF_ROWS and total < min(best, alone - _PER_BYTE * added):
            best, found = total, phases
    return found


def row_pairs(
    target: Target, weight: Array, fields: Mapping[str, int], wide: bool
) -> list[RowPhase]:
    """All rows of a transposed convolution of stride 1, two as one, if that is worth it; else none.

    Args: as of `join_phases`, but that `fields` are those of the convolution that it is (`places`).
    """
    if target.isa is not Isa.MVE or fields["out_h"] < 2:
        return []
    if max(fields["dilation_h"], fields["dilation_w"]) > 1:
        return []
    plain = np.ascontiguousarray(weight[:, ::-1, ::-1])
    out_c, kernel_h, kernel_w, in_c = plain.shape
    other = join_neighbours(target, plain, fields, wide, rows=False)
    if other is None:
        other = Joined(1, plain, {}, np.zeros(out_c, np.int64))
    alone = instructions(target.isa, other.weight, {**fields, **other.fields}, wide)
    both = np.zeros((2, out_c, kernel_h + 1, kernel_w, in_c), plain.dtype)
    both[0, :, :-1] = both[1, :, 1:] = plain
    changed = {
        **fields,
        "out_h": -(-fields["out_h"] // 2),
        "out_c": 2 * out_c,
        "out_pixel_stride": 2 * out_c,
        "kernel_h": kernel_h + 1,
        "stride_h": 2,
        "groups": 1,
    }
    outside = np.zeros(2 * out_c, np.int64)
    own = Joined(2, both.reshape(2 * out_c, kernel_h + 1, kernel_w, in_c), changed, outside)
    phase = RowPhase(0, 2, weight, own)
    copies = phase.copies(fields)
    added = own.weight.size - other.weight.size
    added += _PER_CHANNEL * (len(own.weight) - len(other.weight)) + _PER_CALL * len(copies)
    total = instructions(target.isa, own.weight, changed, wide)
    for box, *_ in copies:
        total += _PER_COPY + copy_instructions(box, target.isa, 2 if wide else 1)
    pays = total < min(_SHARE_PAIRS * alone, alone - _PER_BYTE * added)
    return [phase] if pays and added <= _MOST_BYTES else []


def _row_phase(
    target: Target, weight: Array, fields: Mapping[str, int], first: int, rows: int, wide: bool
) -> RowPhase:
    """One phase of the rows, or all as one.

    Output row stride * g + first meets with tap `least` + stride * t the input row g + `row` - t.
    """
    stride_h, stride_w = fields["stride_h"], fields["stride_w"]
    together, column = _columns_together(weight, stride_w, fields["in_x0"])
    row, least = divmod(first - fields["in_y0"], stride_h)
    own = weight
    if rows > 1:
        turned, last = _columns_together(together.swapaxes(1, 2), stride_h, fields["in_y0"])
        together, row = turned.swapaxes(1, 2), -last
    else:
        own, together = weight[:, least::stride_h], together[:, least::stride_h]
    pixel, taps_h, taps_w, _ = together.shape
    changed = {
        **fields,
        "out_h": len(range(first, fields["out_h"], stride_h)),
        "out_w": -(-fields["out_w"] // stride_w),
        "out_c": pixel,
        "out_pixel_stride": pixel,
        "in_y0": row - (taps_h - 1),
        "in_x0": -column - (taps_w - 1),
        "kernel_h": taps_h,
        "kernel_w": taps_w,
        "stride_h": 1,
        "stride_w": 1,
        "groups": 1,
    }
    plain = np.ascontiguousarray(together[:, ::-1, ::-1])
    joined = None
    if own.size:
        joined = join_neighbours(target, plain, changed, wide, rows=False)
    if joined is None:
        joined = Joined(1, plain, {}, np.zeros(pixel, np.int64))
    count = len(joined.weight) // len(weight)
    whole = Joined(count, joined.weight, {**changed, **joined.fields}, joined.outside)
    return RowPhase(first, rows, own, whole)


def _instructions(isa: Isa, weight: Array, stride: tuple[int, int], wide: bool) -> float:
    """Of one pixel, on average; from what `python -m benchmarks.sweep --kinds transposed` counts."""
    outputs, kernel_h, kernel_w, in_c = weight.shape
    blocks, left = divmod(outputs, 4)
    total = 0.0
    for y in range(stride[0]):
        for x in range(stride[1]):
            rows = len(range(y, kernel_h, stride[0]))
            codes = rows * len(range(x, kernel_w, stride[1])) * in_c
            if isa is Isa.MVE:
                chunks = -(-codes // (8 if wide else 16))
                window = 32 * rows if rows > 1 else 0
                total += 95 + window + blocks * (15 + 7 * chunks) + left * (20 + 3 * chunks)
            else:
                total += 237 + 4.8 * codes + blocks * (119 + 5.2 * codes)
                total += left * (40 + 2.3 * codes)
    return total / (stride[0] * stride[1])
