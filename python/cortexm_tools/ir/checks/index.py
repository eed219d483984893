# SPDX-License-Identifier: Apache-2.0
"""Rules of indexing. What an index is, no rule can say: kernels bring it into range."""

from __future__ import annotations

from .. import ops
from ..types import DType, Tensor
from .rules import INDICES, Subject, rule


@rule(ops.Gather)
def _gather(attrs: ops.Gather, op: Subject) -> None:
    op.counts(2)
    index = op.ins[1]
    op.same_type(op.x, op.out)
    op.type_of(index, *INDICES)
    op.dimension(attrs.dim, len(op.x.shape))
    op.rank(index, len(op.x.shape))
    fits = all(d == attrs.dim or extent <= op.x.shape[d] for d, extent in enumerate(index.shape))
    op.require(fits, f"an index of shape {index.shape} does not fit {op.x.shape}")
    op.shape_of(op.out, *index.shape)


@rule(ops.Index)
def _index(attrs: ops.Index, op: Subject) -> None:
    op.counts(1 + len(attrs.axes))
    op.same_type(op.x, op.out)
    op.shape_of(op.out, *_indexed_shape(op, attrs.axes, op.ins[1:]))


@rule(ops.IndexPut)
def _index_put(attrs: ops.IndexPut, op: Subject) -> None:
    op.counts(2 + len(attrs.axes))
    op.same_type(op.x, op.ins[1], op.out)
    op.same_shape()
    op.broadcasts_to(op.ins[1], _indexed_shape(op, attrs.axes, op.ins[2:]))
    adds = attrs.accumulate and op.x.dtype is DType.BOOL
    op.require(not adds, "booleans cannot be added")


def _indexed_shape(
    op: Subject, axes: tuple[int, ...], indices: tuple[Tensor, ...]
) -> tuple[int, ...]:
    """The shape of the first operand indexed along `axes`, as numpy and PyTorch define it."""
    shape = op.x.shape
    op.require(bool(axes) and list(axes) == sorted(set(axes)), f"axes {axes} are not in order")
    for axis in axes:
        op.dimension(axis, len(shape))
    for index in indices:
        op.type_of(index, *INDICES)
    joint = op.broadcast(*indices)
    rest = [extent for d, extent in enumerate(shape) if d not in axes]
    adjacent = axes == tuple(range(axes[0], axes[0] + len(axes)))
    place = axes[0] if adjacent else 0
    return (*rest[:place], *joint, *rest[place:])
