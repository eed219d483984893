# SPDX-License-Identifier: Apache-2.0
"""Upsampling of images; portable.

Where an output pixel falls in the input is decided here, in float32 as PyTorch does it: the IR
holds the places, so that no later stage has to know the rules.
"""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.types import DType
from ..call import Call, reads

F32 = np.float32


def _scales(call: Call) -> list[float | None]:
    """The scale factors of rows and columns, where the program states them."""
    if "scale_factors" in call.schema.types:
        if call.is_none("scale_factors"):
            return [None, None]
        values = call.reals("scale_factors")
        call.require(len(values) == 2, "needs two scale factors")
        scales: list[float | None] = list(values)
    else:
        names = ("scales_h", "scales_w")
        scales = [None if call.is_none(name) else call.real(name) for name in names]
    call.require(all(s is None or s > 0 for s in scales), "scale factors must be positive")
    return scales


def _image(call: Call, x: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Height and width of the operand and of the result."""
    info, out = call.info(x), call.out_tensor()
    call.require(len(info.shape) == 4 == len(out.shape), "the operand must be [N,C,H,W]")
    call.require_out((*info.shape[:2], *out.shape[2:]), info.dtype)
    call.require(max(out.shape[2:]) <= 2**15, "the result is too large")
    return (info.shape[2], info.shape[3]), (out.shape[2], out.shape[3])


def nearest_places(size: int, out: int, scale: float | None) -> tuple[int, ...]:
    """floor(i * step), with step = 1 / scale, or size / out without a scale."""
    step = F32(1.0 / scale if scale is not None else size / out)
    return tuple(min(int(np.floor(F32(i) * step)), size - 1) for i in range(out))


def linear_places(
    size: int, out: int, scale: float | None, align_corners: bool
) -> tuple[ops.Between, ...]:
    """Places between input pixels.

    With aligned corners i * (size - 1) / (out - 1); else (i + 1/2) * step - 1/2, not below 0, with
    the step of nearest_places.
    """
    if size == out:
        return tuple(ops.Between(i, i, 0.0) for i in range(out))
    if align_corners:
        step = F32((size - 1) / (out - 1) if out > 1 else 0.0)
    else:
        step = F32(1.0 / scale if scale is not None else size / out)
    places = []
    for i in range(out):
        at = F32(i) * step
        if not align_corners:
            at = max(step * (F32(i) + F32(0.5)) - F32(0.5), F32(0.0))
        low = min(int(np.floor(at)), size - 1)
        weight = float(min(max(at - F32(low), F32(0.0)), F32(1.0)))
        places.append(ops.Between(low, min(low + 1, size - 1), weight))
    return tuple(places)


@reads("aten::upsample_nearest2d.vec_out", "aten::upsample_nearest2d.out")
def _nearest(call: Call) -> None:
    x, scales = call.operand(), _scales(call)
    (height, width), (out_h, out_w) = _image(call, x)
    rows = nearest_places(height, out_h, scales[0])
    call.emit(ops.UpsampleNearest2d(rows, nearest_places(width, out_w, scales[1])), x)


@reads("aten::upsample_bilinear2d.vec_out", "aten::upsample_bilinear2d.out")
def _bilinear(call: Call) -> None:
    x, scales = call.operand(), _scales(call)
    info = call.info(x)
    call.require_dtype(x, DType.F32, DType.S8)
    (height, width), (out_h, out_w) = _image(call, x)
    align = call.boolean("align_corners")
    attrs = ops.UpsampleBilinear2d(
        linear_places(height, out_h, scales[0], align),
        linear_places(width, out_w, scales[1], align),
        info.quant.zero_point if info.quant is not None and info.dtype is DType.S8 else 0,
    )
    call.emit(attrs, x)
