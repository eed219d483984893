# SPDX-License-Identifier: Apache-2.0
"""Pools and padding of the cortex_m dialect."""

from __future__ import annotations

from ...ir import ops
from ...ir.types import DType
from ..call import INT8, Call, Table, register
from .windows import nchw, same_batch, window_padding

TABLE: Table = {}

_UNIT = (1, 1)


def _stride(call: Call, number: int, kernel: tuple[int, int]) -> tuple[int, int]:
    """A pool's stride; an empty list means the kernel size."""
    return call.pair(number, minimum=1) if call.integers(number) else kernel


def _avg_pool2d(call: Call) -> None:
    # zero_point, multiplier and shift (5 to 7) are not needed: a mean of codes has their scale.
    images = nchw(call, call.tensor(0))
    kernel = call.pair(1, minimum=1)
    stride = _stride(call, 2, kernel)
    same_batch(call, images, images.x_shape[1])
    padding = window_padding(call, images, kernel, stride, call.pair(3, minimum=0), _UNIT)
    images.emit(ops.AvgPool2d(kernel, stride, padding))


def _max_pool2d(call: Call) -> None:
    images = nchw(call, call.tensor(0))
    kernel = call.pair(1, minimum=1)
    stride = _stride(call, 2, kernel)
    dilation = call.pair(4, minimum=1)
    call.require(
        call.integer(6) == call.integer(7), "zero points of input and output must be equal"
    )
    act_min, act_max = call.integer(8, INT8), call.integer(9, INT8)
    call.require(act_min <= act_max, f"empty output range [{act_min}, {act_max}]")
    same_batch(call, images, images.x_shape[1])
    padding = window_padding(call, images, kernel, stride, call.pair(3, minimum=0), dilation)
    images.emit(ops.MaxPool2d(kernel, stride, padding, dilation, act_min, act_max))


for _suffix in ("", "_nhwc"):
    register(TABLE, f"cortex_m::quantized_avg_pool2d{_suffix}.out", args=9)(_avg_pool2d)
    register(TABLE, f"cortex_m::quantized_max_pool2d{_suffix}.out", args=10)(_max_pool2d)


@register(TABLE, "cortex_m::pad.out", args=4)
def _pad(call: Call) -> None:
    x = call.tensor(0)
    info = call.info(x)
    rank = len(info.shape)
    call.require_dtype(x, DType.S8)
    call.require(1 <= rank <= 4, f"padding of rank {rank} is not supported")
    before = _logical(call, info.shape, info.dim_order, call.integers(1, (0, 2**31 - 1)))
    after = _logical(call, info.shape, info.dim_order, call.integers(2, (0, 2**31 - 1)))
    shape = tuple(
        low + size + high for low, size, high in zip(before, info.shape, after, strict=True)
    )
    call.require_out(shape, DType.S8)
    call.emit(ops.Pad(before, after, call.integer(3, INT8)), x)


def _logical(
    call: Call, shape: tuple[int, ...], dim_order: tuple[int, ...], pads: tuple[int, ...]
) -> tuple[int, ...]:
    """Padding per logical dimension.

    The operator has four entries, aligned at the innermost dimension. For an image that counts as
    channels_last they are in the order N, H, W, C. An image counts so by its dim order, and also
    whenever the two layouts are the same (one channel, or one pixel).
    """
    call.require(len(pads) == 4, f"padding with {len(pads)} entries, not 4")
    rank = len(shape)
    if rank == 4:
        one = shape[1] == 1 or shape[2] == shape[3] == 1
        if one or dim_order[:2] == (0, 2):
            return pads[0], pads[3], pads[1], pads[2]
    call.require(not any(pads[: 4 - rank]), "padding of dimensions that do not exist")
    return pads[4 - rank :]
