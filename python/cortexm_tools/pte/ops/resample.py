# SPDX-License-Identifier: Apache-2.0
"""Upsampling of images; portable.

Where an output pixel falls in the input is decided here, as PyTorch does it: the IR holds the places, so
that no later stage has to know the rules.
"""

from __future__ import annotations

from ...ir import ops
from ...ir.ops.resample import linear_places, nearest_places
from ...ir.types import DType
from ..call import Call, reads


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


@reads("cortexm::upsample_bilinear2d.out")
def _bilinear_codes(call: Call) -> None:
    x = call.tensor("input")
    call.require_dtype(x, DType.S8, DType.S16)
    height, width = _image(call, x)[0]
    sizes = call.integers("output_size")
    call.require(len(sizes) == 2, "needs two sizes")
    call.require_out((*call.info(x).shape[:2], *sizes), call.info(x).dtype)
    scales, align = _scales(call), call.boolean("align_corners")
    attrs = ops.UpsampleBilinear2d(
        linear_places(height, sizes[0], scales[0], align),
        linear_places(width, sizes[1], scales[1], align),
        call.integer("zero_point"),
    )
    call.emit(attrs, x)
