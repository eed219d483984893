# SPDX-License-Identifier: Apache-2.0
"""Portable adaptive pools: pools of slices whose windows are equal, joined (ir/windows.py)."""

from __future__ import annotations

from collections.abc import Callable

from ...ir import ops
from ...ir.types import DType, Tensor, contiguous
from ...ir.windows import Run, runs_of
from ..call import INT8, Call, Table, register
from .arithmetic import require_float

TABLE: Table = {}

_Pool = Callable[[tuple[int, int], tuple[int, int]], ops.Attrs]


def _float_average(kernel: tuple[int, int], stride: tuple[int, int]) -> ops.Attrs:
    return ops.FloatAvgPool2d(kernel, stride, (0, 0, 0, 0), (0, 0), True, None)


def _float_maximum(kernel: tuple[int, int], stride: tuple[int, int]) -> ops.Attrs:
    return ops.FloatMaxPool2d(kernel, stride, (0, 0, 0, 0), (1, 1))


def _maximum(kernel: tuple[int, int], stride: tuple[int, int]) -> ops.Attrs:
    return ops.MaxPool2d(kernel, stride, (0, 0, 0, 0), (1, 1), *INT8)


def _new(call: Call, attrs: ops.Attrs, shape: tuple[int, ...], *inputs: int) -> int:
    like = call.info(inputs[0])
    result = Tensor("x", like.dtype, shape, contiguous(4), quant=like.quant)
    return call.emit_new(attrs, result, *inputs)


def _pooled(call: Call, x: int, pool: _Pool, size: tuple[int, int]) -> None:
    """Adds the pools; the first result of the call is what they give together."""
    batch, channels, height, width = call.info(x).shape
    rows, columns = runs_of(height, size[0]), runs_of(width, size[1])
    if len(rows) == len(columns) == 1:
        (row,), (column,) = rows, columns
        call.emit_first(pool((row.size, column.size), (row.stride, column.stride)), x)
        return
    bands = []
    for row in rows:
        parts = [_part(call, x, pool, row, column) for column in columns]
        if len(rows) == 1:
            call.emit_first(ops.Concat(3), *parts)
            return
        shape = (batch, channels, row.count, size[1])
        band = parts[0] if len(parts) == 1 else _new(call, ops.Concat(3), shape, *parts)
        bands.append(band)
    call.emit_first(ops.Concat(2), *bands)


def _part(call: Call, x: int, pool: _Pool, row: Run, column: Run) -> int:
    batch, channels, height, width = call.info(x).shape
    if (row.length, column.length) != (height, width):
        begin = (0, 0, row.start, column.start)
        shape = (batch, channels, row.length, column.length)
        x = _new(call, ops.Slice(begin, (1, 1, 1, 1)), shape, x)
    attrs = pool((row.size, column.size), (row.stride, column.stride))
    return _new(call, attrs, (batch, channels, row.count, column.count), x)


def _images(call: Call, *dtypes: DType) -> tuple[int, tuple[int, int]]:
    """Operand and output size; of images."""
    x = call.tensor(0)
    info, size = call.info(x), call.pair(1, minimum=1)
    call.require(len(info.shape) == 4, f"only images [N, C, H, W], not rank {len(info.shape)}")
    call.require_dtype(x, *dtypes)
    call.require_out((*info.shape[:2], *size), info.dtype)
    return x, size


@register(TABLE, "aten::_adaptive_avg_pool2d.out", args=2)
def _average(call: Call) -> None:
    require_float(call, call.tensor(0))
    x, size = _images(call, DType.F32)
    _pooled(call, x, _float_average, size)


@register(TABLE, "aten::adaptive_max_pool2d.out", args=2, outs=2)
def _largest(call: Call) -> None:
    x, size = _images(call, DType.F32, DType.S8)
    _pooled(call, x, _maximum if call.info(x).dtype is DType.S8 else _float_maximum, size)
    call.drop_result(1, "the indices of a max pool are used, but only its values are supported")
