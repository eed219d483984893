# SPDX-License-Identifier: Apache-2.0
"""Operators that move or rename all elements of a tensor: transposes, views, copies."""

from __future__ import annotations

from ....ir import ops
from ...call import Call, Table, register
from ...operands import like

TABLE: Table = {}


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


def _transpose(call: Call) -> None:
    x = call.tensor(0)
    _permute(call, x, call.dims(1, len(call.info(x).shape)))


register(TABLE, "cortex_m::transpose.out", args=2)(_transpose)
register(TABLE, "aten::permute_copy.out", args=2)(_transpose)


@register(TABLE, "aten::transpose_copy.int_out", args=3)
def _swap(call: Call) -> None:
    x = call.tensor(0)
    rank = len(call.info(x).shape)
    perm = list(range(rank))
    a, b = call.dim(1, rank), call.dim(2, rank)
    perm[a], perm[b] = perm[b], perm[a]
    _permute(call, x, tuple(perm))


@register(TABLE, "aten::t_copy.out", args=1)
def _matrix_transpose(call: Call) -> None:
    x = call.tensor(0)
    rank = len(call.info(x).shape)
    call.require(rank <= 2, f"only matrices can be transposed, not rank {rank}")
    _permute(call, x, tuple(reversed(range(rank))))


def _view(call: Call) -> None:
    """The result's shape says everything; dimensions and sizes in the arguments agree with it."""
    x = call.tensor(0)
    info, out = call.info(x), call.out_tensor()
    call.require(
        info.numel == out.numel and info.dtype is out.dtype,
        f"{info.dtype.value} {info.shape} cannot be seen as {out.dtype.value} {out.shape}",
    )
    (result,) = call.emit(ops.View(), x)
    _same_quant(call, x, result)


def clone(call: Call) -> None:
    """The same tensor, perhaps in another dim order."""
    x = call.tensor(0)
    call.require_out(call.info(x).shape, call.info(x).dtype)
    (out,) = call.emit(ops.Clone(), x)
    _same_quant(call, x, out)


for _name, _args in (
    ("executorch_prim::et_view.default", 2),
    ("aten::view_copy.out", 2),
    ("aten::_unsafe_view.out", 2),
    ("aten::_reshape_copy.out", 2),
    ("aten::squeeze_copy.out", 1),
    ("aten::squeeze_copy.dim_out", 2),
    ("aten::squeeze_copy.dims_out", 2),
    ("aten::unsqueeze_copy.out", 2),
):
    register(TABLE, _name, args=_args)(_view)

for _name, _args in (
    ("aten::alias_copy.out", 1),
    ("aten::detach_copy.out", 1),
    ("aten::lift_fresh_copy.out", 1),
    ("aten::clone.out", 2),
    ("dim_order_ops::_clone_dim_order.out", 3),
):
    register(TABLE, _name, args=_args)(clone)


@register(TABLE, "aten::pixel_shuffle.out", args=2)
def _pixel_shuffle(call: Call) -> None:
    x, factor = call.tensor(0), call.integer(1, (1, 2**15))
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


@register(TABLE, "aten::pixel_unshuffle.out", args=2)
def _pixel_unshuffle(call: Call) -> None:
    x, factor = call.tensor(0), call.integer(1, (1, 2**15))
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
