# SPDX-License-Identifier: Apache-2.0
"""Rules of data movement, in any element type."""

from __future__ import annotations

import numpy as np

from .. import ops
from ..types import DType
from .rules import INT32, Subject, rule


def _one(op: Subject) -> None:
    """One operand, of the result's type."""
    op.counts(1)
    op.types(*DType)


@rule(ops.Clone)
def _clone(attrs: ops.Clone, op: Subject) -> None:
    _one(op)
    op.same_shape()


@rule(ops.View)
def _view(attrs: ops.View, op: Subject) -> None:
    _one(op)
    op.require(
        op.x.numel == op.out.numel, f"{op.x.shape} to {op.out.shape} changes the number of elements"
    )


@rule(ops.Transpose)
def _transpose(attrs: ops.Transpose, op: Subject) -> None:
    _one(op)
    rank = len(op.x.shape)
    op.require(
        sorted(attrs.perm) == list(range(rank)), f"{attrs.perm} does not permute rank {rank}"
    )
    op.shape_of(op.out, *(op.x.shape[d] for d in attrs.perm))


@rule(ops.Pad)
def _pad(attrs: ops.Pad, op: Subject) -> None:
    _one(op)
    rank = len(op.x.shape)
    op.require(len(attrs.before) == len(attrs.after) == rank, "the padding has another rank")
    op.within((0, INT32[1]), before=attrs.before, after=attrs.after)
    around = zip(attrs.before, op.x.shape, attrs.after, strict=True)
    op.shape_of(op.out, *(before + extent + after for before, extent, after in around))
    if op.out.dtype is DType.F32:
        op.real(value=attrs.value)
        exact = float(np.float32(attrs.value)) == attrs.value
        op.require(exact, f"value {attrs.value} is not a float32")
    else:
        op.within(op.out.dtype.limits, value=attrs.value)


@rule(ops.Expand)
def _expand(attrs: ops.Expand, op: Subject) -> None:
    _one(op)
    op.broadcasts_to(op.x, op.out.shape)


@rule(ops.Concat)
def _concat(attrs: ops.Concat, op: Subject) -> None:
    op.counts(1, len(op.ins))
    op.types(*DType)
    dim, shape = attrs.dim, op.out.shape
    op.dimension(dim, len(shape))
    for x in op.ins:
        op.rank(x, len(shape))
        fits = x.shape[:dim] == shape[:dim] and x.shape[dim + 1 :] == shape[dim + 1 :]
        op.require(fits, f"{x.name!r} of shape {x.shape} is no part of {shape} along {dim}")
    joined = sum(x.shape[dim] for x in op.ins)
    op.require(joined == shape[dim], f"the result has size {shape[dim]}, the operands {joined}")


@rule(ops.Slice)
def _slice(attrs: ops.Slice, op: Subject) -> None:
    _one(op)
    rank = len(op.x.shape)
    op.rank(op.out, rank)
    op.require(len(attrs.begin) == len(attrs.step) == rank, "begins and steps have another rank")
    op.require(0 not in attrs.step, "a step is zero")
    for begin, step, size, extent in zip(
        attrs.begin, attrs.step, op.x.shape, op.out.shape, strict=True
    ):
        last = begin + step * (extent - 1)
        op.require(0 <= begin < size and 0 <= last < size, "leads out of the operand")
        op.within(INT32, step=step)


@rule(ops.Tile)
def _tile(attrs: ops.Tile, op: Subject) -> None:
    _one(op)
    missing = len(op.out.shape) - len(op.x.shape)
    op.require(missing >= 0, "the result has fewer dimensions than the operand")
    sizes = zip(op.out.shape[missing:], op.x.shape, strict=True)
    whole = all(extent % size == 0 for extent, size in sizes)
    op.require(whole, f"{op.out.shape} is no multiple of {op.x.shape}")


@rule(ops.AsStrided)
def _as_strided(attrs: ops.AsStrided, op: Subject) -> None:
    _one(op)
    op.require(len(attrs.strides) == len(op.out.shape), "the strides have another rank")
    op.within(INT32, strides=attrs.strides)
    reach = [(n - 1) * step for n, step in zip(op.out.shape, attrs.strides, strict=True)]
    low = attrs.offset + sum(min(r, 0) for r in reach)
    high = attrs.offset + sum(max(r, 0) for r in reach)
    op.require(low >= 0 and high < op.x.numel, "leads out of the operand")
