# SPDX-License-Identifier: Apache-2.0
"""Operators that move or rename all elements of a tensor: transposes, views, copies."""

from __future__ import annotations

from ....ir import ops
from ...call import Call, reads
from ...operands import like


def _permute(call: Call, x: int, perm: tuple[int, ...]) -> None:
    info = call.info(x)
    call.require(len(perm) == len(info.shape), f"{len(perm)} dimensions for rank {len(info.shape)}")
    call.require_out(tuple(info.shape[d] for d in perm), info.dtype)
    (out,) = call.emit(ops.Transpose(perm), x)
    _same_quant(call, x, out)


def _same_quant(call: Call, x: int, out: int) -> None:
    quant = call.info(x).quant
    if quant is not None:
        call.set_quant(out, quant.scale, quant.zero_point)


@reads("aten::permute_copy.out")
def _permute_copy(call: Call) -> None:
    x = call.operand()
    _permute(call, x, call.dims("dims", len(call.info(x).shape)))


@reads("cortex_m::transpose.out")
def _transpose(call: Call) -> None:
    x = call.operand()
    _permute(call, x, call.dims("perm", len(call.info(x).shape)))


@reads("aten::transpose_copy.int_out")
def _swap(call: Call) -> None:
    x = call.operand()
    rank = len(call.info(x).shape)
    perm = list(range(rank))
    a, b = call.dim("dim0", rank), call.dim("dim1", rank)
    perm[a], perm[b] = perm[b], perm[a]
    _permute(call, x, tuple(perm))


@reads("aten::t_copy.out")
def _matrix_transpose(call: Call) -> None:
    x = call.operand()
    rank = len(call.info(x).shape)
    call.require(rank <= 2, f"only matrices can be transposed, not rank {rank}")
    _permute(call, x, tuple(reversed(range(rank))))


@reads(
    "executorch_prim::et_view.default",
    "aten::view_copy.out",
    "aten::_unsafe_view.out",
    "aten::_reshape_copy.out",
    "aten::squeeze_copy.out",
    "aten::squeeze_copy.dim_out",
    "aten::squeeze_copy.dims_out",
    "aten::unsqueeze_copy.out",
)
def _view(call: Call) -> None:
    """The result's shape says everything; dimensions and sizes in the arguments agree with it."""
    x = call.operand()
    info, out = call.info(x), call.out_tensor()
    call.require(
        info.numel == out.numel and info.dtype is out.dtype,
        f"{info.dtype.value} {info.shape} cannot be seen as {out.dtype.value} {out.shape}",
    )
    (result,) = call.emit(ops.View(), x)
    _same_quant(call, x, result)


@reads(
    "aten::alias_copy.out",
    "aten::detach_copy.out",
    "aten::lift_fresh_copy.out",
    "aten::clone.out",
    "dim_order_ops::_clone_dim_order.out",
)
def clone(call: Call) -> None:
    """The same tensor, perhaps in another dim order."""
    x = call.operand()
    call.require_out(call.info(x).shape, call.info(x).dtype)
    (out,) = call.emit(ops.Clone(), x)
    _same_quant(call, x, out)


@reads("aten::pixel_shuffle.out")
def _pixel_shuffle(call: Call) -> None:
    x, factor = call.operand(), call.integer("upscale_factor", (1, 2**15))
    shape = call.info(x).shape
    call.require(len(shape) >= 3 and shape[-3] % factor**2 == 0, "channels do not fit the factor")
    *batch, channels, height, width = shape
    depth, n = channels // factor**2, len(batch)
    call.require_out((*batch, depth, height * factor, width * factor), call.info(x).dtype)
    split = (*batch, depth, factor, factor, height, width)
    perm = (*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    seen = call.emit_new(ops.View(), like(call, x, split), x)
    moved = like(call, x, tuple(split[d] for d in perm))
    call.emit(ops.View(), call.emit_new(ops.Transpose(perm), moved, seen))


@reads("aten::pixel_unshuffle.out")
def _pixel_unshuffle(call: Call) -> None:
    x, factor = call.operand(), call.integer("downscale_factor", (1, 2**15))
    shape = call.info(x).shape
    call.require(
        len(shape) >= 3 and shape[-2] % factor == shape[-1] % factor == 0,
        "height and width do not fit the factor",
    )
    *batch, channels, height, width = shape
    h, w, n = height // factor, width // factor, len(batch)
    call.require_out((*batch, channels * factor**2, h, w), call.info(x).dtype)
    split = (*batch, channels, h, factor, w, factor)
    perm = (*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    seen = call.emit_new(ops.View(), like(call, x, split), x)
    moved = like(call, x, tuple(split[d] for d in perm))
    call.emit(ops.View(), call.emit_new(ops.Transpose(perm), moved, seen))
