# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions with the outputs of all phases of the stride in one pixel, and as convolutions.

Columns that are as many apart as the stride is wide have the same taps. The neighbours of all phases of a row
are one pixel with the outputs of each, which lie side by side in memory, and the window of all: a transposed
convolution whose columns have the stride 1. With output column x = stride * g + r of pixel g, tap k of input
column i, which adds to x = in_x0 + stride * i + k, is tap (in_x0 + k - r) / stride of output r where that is
whole; other weights are zero. Exact: products with a weight of zero add nothing, to a sum or to its bound.

The rows of each phase of the stride, whose pixels are such ones, are a convolution with as many rows of taps
as meet an input there, or those of all phases are one, whose pixels have the outputs of as many rows, too. It
is made in scratch, in whole pixels, also where rows or columns are no multiple of the stride, and copied to
its places in the result. Rows between those of windows that are lower than the stride meet no tap: they have
the codes of the biases, which are copied there. Of stride 1 two rows can be one so as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...ir import Array
from .problem import ConvProblem

Box = list[tuple[int, int, int]]  # extents, and the strides of source and result


def columns_as_one(problem: ConvProblem) -> ConvProblem | None:
    """With the outputs of all phases of the columns in one pixel."""
    fields, stride = problem.fields, problem.fields["stride_w"]
    if stride == 1 or fields["out_w"] % stride or _has_gaps(fields):
        return None
    together, first = _columns_together(problem.weight, stride, fields["in_x0"])
    changed = {"in_x0": first, "kernel_w": together.shape[2], "stride_w": 1}
    return problem.with_pixels(stride, together, out_w=fields["out_w"] // stride, **changed)


def _has_gaps(fields: Mapping[str, int]) -> bool:
    return max(fields["dilation_h"], fields["dilation_w"]) > 1


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
        problem: the convolution.
    """

    first: int
    rows: int
    weight: Array
    problem: ConvProblem

    def copies(self, fields: Mapping[str, int]) -> list[tuple[Box, int, int]]:
        """From scratch, or from the codes of a pixel, to a result of these fields: boxes, and where they
        begin in both."""
        stride_h, stride_w, out_c = (fields[f] for f in ("stride_h", "stride_w", "out_c"))
        stride_h = max(stride_h, self.rows)
        own, row = self.problem.fields, fields["out_w"] * out_c
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


def phases_of_rows(problem: ConvProblem, rows: int) -> list[RowPhase]:
    """Convolutions that make all rows of a transposed one: one for each phase of them, or for all as one.

    Args:
        rows: that are one: 1, or the stride.
    """
    fields = problem.fields
    if _has_gaps(fields) or fields["out_h"] < fields["stride_h"]:
        return []
    return [_row_phase(problem, first, rows) for first in range(0, fields["stride_h"], rows)]


def _row_phase(problem: ConvProblem, first: int, rows: int) -> RowPhase:
    """Output row stride * g + first meets with tap `least` + stride * t the input row g + `row` - t."""
    fields, own = problem.fields, problem.weight
    stride_h, stride_w = fields["stride_h"], fields["stride_w"]
    together, column = _columns_together(own, stride_w, fields["in_x0"])
    row, least = divmod(first - fields["in_y0"], stride_h)
    if rows > 1:
        turned, last = _columns_together(together.swapaxes(1, 2), stride_h, fields["in_y0"])
        together, row = turned.swapaxes(1, 2), -last
    else:
        own, together = own[:, least::stride_h], together[:, least::stride_h]
    _, taps_h, taps_w, _ = together.shape
    plain = replace(problem, kind="conv2d").with_pixels(
        rows * stride_w,
        np.ascontiguousarray(together[:, ::-1, ::-1]),
        out_h=len(range(first, fields["out_h"], stride_h)),
        out_w=-(-fields["out_w"] // stride_w),
        in_y0=row - (taps_h - 1),
        in_x0=-column - (taps_w - 1),
        kernel_h=taps_h,
        kernel_w=taps_w,
        stride_h=1,
        stride_w=1,
        groups=1,
    )
    return RowPhase(first, rows, own, plain)


def pairs_of_rows(problem: ConvProblem) -> RowPhase | None:
    """A convolution of stride 1 without gaps whose pixels have the outputs of two rows."""
    fields, plain = problem.fields, problem.weight
    if fields["out_h"] < 2 or _has_gaps(fields):
        return None
    out_c, kernel_h, kernel_w, in_c = plain.shape
    both = np.zeros((2, out_c, kernel_h + 1, kernel_w, in_c), plain.dtype)
    both[0, :, :-1] = both[1, :, 1:] = plain
    weight = both.reshape(2 * out_c, kernel_h + 1, kernel_w, in_c)
    height = {"out_h": -(-fields["out_h"] // 2), "kernel_h": kernel_h + 1, "stride_h": 2}
    return RowPhase(0, 2, plain, problem.with_pixels(2, weight, **height))
