# SPDX-License-Identifier: Apache-2.0
"""Pools of the cortex_m dialect and portable ones, int8 and float32.

Adaptive pools are pools of slices whose windows are equal, joined (ir/windows.py).
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir import ops
from ...ir.geometry import Window
from ...ir.types import DType, Tensor, contiguous
from ...ir.windows import Run, runs_of
from ..call import Call, reads
from ..operands import LIMITS, code_range, require_float
from ..windows import images_of, nchw, same_batch, window_of

_NO_INDICES = "the indices of a max pool are used, but only its values are supported"


def _stride(call: Call, kernel: tuple[int, int]) -> tuple[int, int]:
    """A pool's stride; an empty list means the kernel size."""
    return call.pair("stride", minimum=1) if call.integers("stride") else kernel


@reads(
    "cortex_m::quantized_avg_pool2d.out",
    "cortex_m::quantized_avg_pool2d_nhwc.out",
    "cortexm::quantized_avg_pool2d.out",
)
def _avg_pool2d(call: Call) -> None:
    # zero_point, multiplier and shift are not needed: a mean of codes has their scale.
    images = nchw(call, call.operand())
    kernel = call.pair("kernel_size", minimum=1)
    stride = _stride(call, kernel)
    same_batch(call, images, images.x_shape[1])
    window = window_of(call, images, kernel, stride, call.pair("padding", minimum=0))
    images.emit(ops.AvgPool2d(window))


@reads(
    "cortex_m::quantized_max_pool2d.out",
    "cortex_m::quantized_max_pool2d_nhwc.out",
    "cortexm::quantized_max_pool2d.out",
)
def _max_pool2d(call: Call) -> None:
    images = nchw(call, call.operand())
    kernel = call.pair("kernel_size", minimum=1)
    stride = _stride(call, kernel)
    dilation = call.pair("dilation", minimum=1)
    call.require(
        call.integer("input_zero_point") == call.integer("output_zero_point"),
        "zero points of input and output must be equal",
    )
    act_min, act_max = code_range(call)
    same_batch(call, images, images.x_shape[1])
    window = window_of(call, images, kernel, stride, call.pair("padding", minimum=0), dilation)
    images.emit(ops.MaxPool2d(window, act_min, act_max))


@reads("aten::avg_pool2d.out")
def _portable_avg_pool2d(call: Call) -> None:
    x = call.operand()
    require_float(call, x)
    images = images_of(call, x, DType.F32)
    same_batch(call, images, images.x_shape[1])
    kernel = call.pair("kernel_size", minimum=1)
    stride = _stride(call, kernel)
    padding = call.pair("padding", minimum=0)
    attrs = ops.FloatAvgPool2d(
        window_of(call, images, kernel, stride, padding),
        declared_padding=padding,
        count_padding=call.boolean("count_include_pad"),
        divisor=(
            None
            if call.is_none("divisor_override")
            else call.integer("divisor_override", (1, 2**31 - 1))
        ),
    )
    images.emit(attrs)


@reads("aten::max_pool2d_with_indices.out")
def _portable_max_pool2d(call: Call) -> None:
    x = call.operand()
    images = images_of(call, x, DType.F32, *LIMITS)
    dtype = call.info(x).dtype
    same_batch(call, images, images.x_shape[1])
    kernel = call.pair("kernel_size", minimum=1)
    stride = _stride(call, kernel)
    dilation = call.pair("dilation", minimum=1)
    window = window_of(call, images, kernel, stride, call.pair("padding", minimum=0), dilation)
    attrs: ops.Attrs
    if dtype in LIMITS:
        attrs = ops.MaxPool2d(window, *LIMITS[dtype])
    else:
        attrs = ops.FloatMaxPool2d(window)
    call.emit_first(attrs, x)
    call.drop_result(1, _NO_INDICES)


# -- adaptive pools ------------------------------------------------------------------------------

_Pool = Callable[[Window], ops.Attrs]


def _float_average(window: Window) -> ops.Attrs:
    return ops.FloatAvgPool2d(window, (0, 0), True, None)


def _maximum(dtype: DType) -> _Pool:
    """The largest number of a window, of codes or floats."""
    if dtype not in LIMITS:
        return ops.FloatMaxPool2d
    return lambda window: ops.MaxPool2d(window, *LIMITS[dtype])


def _window(row: Run, column: Run) -> Window:
    return Window((row.size, column.size), (row.stride, column.stride), (0, 0, 0, 0))


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
        call.emit_first(pool(_window(row, column)), x)
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
    attrs = pool(_window(row, column))
    return _new(call, attrs, (batch, channels, row.count, column.count), x)


def _adaptive_operand(call: Call, *dtypes: DType) -> tuple[int, tuple[int, int]]:
    """Operand and output size; of images."""
    x = call.operand()
    info, size = call.info(x), call.pair("output_size", minimum=1)
    call.require(len(info.shape) == 4, f"only images [N, C, H, W], not rank {len(info.shape)}")
    call.require_dtype(x, *dtypes)
    call.require_out((*info.shape[:2], *size), info.dtype)
    return x, size


@reads("aten::_adaptive_avg_pool2d.out")
def _adaptive_average(call: Call) -> None:
    require_float(call, call.operand())
    x, size = _adaptive_operand(call, DType.F32)
    _pooled(call, x, _float_average, size)


@reads("aten::adaptive_max_pool2d.out")
def _adaptive_maximum(call: Call) -> None:
    x, size = _adaptive_operand(call, DType.F32, *LIMITS)
    _pooled(call, x, _maximum(call.info(x).dtype), size)
    call.drop_result(1, _NO_INDICES)
