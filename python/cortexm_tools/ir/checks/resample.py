# SPDX-License-Identifier: Apache-2.0
"""Rules of resampling."""

from __future__ import annotations

from .. import ops
from ..types import DType
from .rules import INT8, Subject, rule


@rule(ops.UpsampleNearest2d)
def _nearest(attrs: ops.UpsampleNearest2d, op: Subject) -> None:
    _image(op, len(attrs.rows), len(attrs.cols))
    op.types(*DType)
    for places, extent in ((attrs.rows, op.x.shape[2]), (attrs.cols, op.x.shape[3])):
        _inside(op, places, extent)


@rule(ops.UpsampleBilinear2d)
def _bilinear(attrs: ops.UpsampleBilinear2d, op: Subject) -> None:
    _image(op, len(attrs.rows), len(attrs.cols))
    op.types(DType.F32, DType.S8)
    for places, extent in ((attrs.rows, op.x.shape[2]), (attrs.cols, op.x.shape[3])):
        _inside(op, tuple(place.low for place in places), extent)
        _inside(op, tuple(place.high for place in places), extent)
        inside = all(0.0 <= place.weight <= 1.0 for place in places)
        op.require(inside, "a weight lies outside of [0, 1]")
    op.within(INT8, zero_point=attrs.zero_point)


def _image(op: Subject, rows: int, cols: int) -> None:
    op.counts(1)
    op.rank(op.x, 4)
    op.shape_of(op.out, *op.x.shape[:2], rows, cols)


def _inside(op: Subject, places: tuple[int, ...], extent: int) -> None:
    op.require(all(0 <= place < extent for place in places), "a place lies outside of the image")
