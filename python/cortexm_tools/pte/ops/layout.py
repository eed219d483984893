# SPDX-License-Identifier: Apache-2.0
"""Operators that move or rename elements without computing: transposes, views, copies."""

from __future__ import annotations

from ...ir import ops
from ..call import Call, Table, register

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


def _clone(call: Call) -> None:
    x = call.tensor(0)
    info, result = call.info(x), call.out_tensor()
    call.require_out(info.shape, result.dtype)
    if info.dtype is not result.dtype:
        call.emit(ops.Cast(), x)
        return
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
    ("aten::_to_copy.out", 3),
    ("dim_order_ops::_clone_dim_order.out", 3),
    ("dim_order_ops::_to_dim_order_copy.out", 3),
):
    register(TABLE, _name, args=_args)(_clone)
