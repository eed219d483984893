# SPDX-License-Identifier: Apache-2.0
"""Operators with which programs write their state: whole, or a part of it."""

from __future__ import annotations

from dataclasses import replace

from ....ir import ops
from ....ir.types import contiguous
from ...builder import COPY
from ...call import INT64, Call, reads


@reads(COPY)
def _write_state(call: Call) -> None:
    """Writes a state; the result is the state itself."""
    source, target = call.tensor("src"), call.out_tensor()
    call.require_dtype(source, target.dtype)
    if call.info(source).shape != target.shape:
        call.require(
            call.broadcast(source, call.tensor("self")) == target.shape,
            f"shape {call.info(source).shape} does not broadcast to {target.shape}",
        )
        source = call.emit_new(ops.Expand(), target, source)
    if call.writes_state():
        call.overwrite(source)
    else:
        call.emit(ops.Clone(), source)


@reads("aten::slice_scatter.out")
def _slice_scatter(call: Call) -> None:
    shape = call.info(call.tensor("self")).shape
    dim = call.dim("dim", len(shape))
    begin = 0 if call.is_none("start") else call.integer("start", INT64)
    end = shape[dim] if call.is_none("end") else call.integer("end", INT64)
    begin, end, _ = slice(begin, end).indices(shape[dim])
    call.require(call.integer("step") == 1, "only parts without gaps can be replaced (step 1)")
    part = (*shape[:dim], max(0, end - begin), *shape[dim + 1 :])
    source = call.tensor("src")
    call.require(call.info(source).shape == part, f"the part replaced has shape {part}")
    _replace(call, source, dim, begin)


@reads("aten::select_scatter.out")
def _select_scatter(call: Call) -> None:
    shape = call.info(call.tensor("self")).shape
    dim = call.dim("dim", len(shape))
    position = call.as_dim(call.integer("index"), shape[dim])
    source = call.tensor("src")
    call.require(
        call.info(source).shape == (*shape[:dim], *shape[dim + 1 :]),
        f"the part replaced has shape {(*shape[:dim], *shape[dim + 1 :])}",
    )
    part = (*shape[:dim], 1, *shape[dim + 1 :])
    seen = replace(call.info(source), name="x", shape=part, dim_order=contiguous(len(part)))
    _replace(call, call.emit_new(ops.View(), seen, source), dim, position)


def _replace(call: Call, source: int, dim: int, begin: int) -> None:
    """The operand with `source` from `begin` on along `dim`: what is before, that, and what is behind."""
    x = call.tensor("self")
    info = call.info(x)
    call.require_dtype(source, info.dtype)
    call.require_out(info.shape, info.dtype)
    end = begin + call.info(source).shape[dim]

    def cut(low: int, high: int) -> tuple[int, ...]:
        if low == high:
            return ()
        first = tuple(low if d == dim else 0 for d in range(len(info.shape)))
        shape = (*info.shape[:dim], high - low, *info.shape[dim + 1 :])
        part = replace(info, name="x", shape=shape)
        return (call.emit_new(ops.Slice(first, (1,) * len(first)), part, x),)

    pieces = (*cut(0, begin), source, *cut(end, info.shape[dim]))
    if len(pieces) == 1:
        call.emit(ops.Clone(), source)
    else:
        call.emit(ops.Concat(dim), *pieces)
