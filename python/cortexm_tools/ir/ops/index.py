# SPDX-License-Identifier: Apache-2.0
"""Elements at places that other tensors hold.

Indices come from the input: a negative one counts from the end, and what is still outside of
[0, size) is brought to the nearest end, so that no access leaves the operand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64
from ..rules import CODES, INDICES, Subject
from ..types import Array, DType, Tensor


@operator(
    layout=Layout.ANY, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Gather(Attrs):
    """x, index s64 or s32 of x's rank -> out[i] = x[i with coordinate `dim` replaced by index[i]]."""

    kind: ClassVar[str] = "gather"
    dim: int

    def check(self, op: Subject) -> None:
        op.counts(2)
        index = op.ins[1]
        op.same_type(op.x, op.out)
        op.type_of(index, *INDICES)
        op.dimension(self.dim, len(op.x.shape))
        op.rank(index, len(op.x.shape))
        fits = all(d == self.dim or extent <= op.x.shape[d] for d, extent in enumerate(index.shape))
        op.require(fits, f"an index of shape {index.shape} does not fit {op.x.shape}")
        op.shape_of(op.out, *index.shape)

    def compute(self, results: tuple[Tensor, ...], x: Array, index: Array) -> Array:
        within = tuple(
            slice(None) if d == self.dim else slice(size) for d, size in enumerate(index.shape)
        )
        return np.take_along_axis(x[within], in_range(index, x.shape[self.dim]), axis=self.dim)


@operator(
    layout=Layout.ANY, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Index(Attrs):
    """x, one s64 or s32 index tensor per axis in `axes` -> x indexed by all of them together.

    The index tensors broadcast. Their dimensions replace the indexed axes if those are adjacent,
    and come first otherwise.
    """

    kind: ClassVar[str] = "index"
    axes: tuple[int, ...]

    def check(self, op: Subject) -> None:
        op.counts(1 + len(self.axes))
        op.same_type(op.x, op.out)
        op.shape_of(op.out, *_indexed_shape(op, self.axes, op.ins[1:]))

    def compute(self, results: tuple[Tensor, ...], x: Array, *indices: Array) -> Array:
        return np.asarray(x.reshape(-1)[_indexed_offsets(x.shape, self.axes, indices)])


MULTIPLIERS = 1 << 23
"""Above all multipliers of an embedding: times a code of 8 bits they stay in 32 bits."""

COLUMNS = 1 << 14
"""Above all lengths of an embedding's rows."""


@operator(
    layout=Layout.ANY, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Embedding(Attrs):
    """table [N, W] s8, index s64 or s32 -> rows of the table, each times its multiplier, s8 or s16.

    Of row n a code c becomes floor((c * multipliers[n] + 2^(shift - 1)) / 2^shift) + out_zero_point,
    limited to act_min … act_max.
    """

    kind: ClassVar[str] = "embedding"
    multipliers: tuple[int, ...]
    shift: int
    out_zero_point: int
    act_min: int
    act_max: int

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.rank(op.x, 2)
        op.type_of(op.x, DType.S8)
        op.type_of(op.ins[1], *INDICES)
        op.type_of(op.out, *CODES)
        rows, columns = op.x.shape
        op.require(op.x.data is not None, "the table is no constant")
        op.require(0 < columns < COLUMNS, f"rows of {columns} are too long")
        op.shape_of(op.out, *op.ins[1].shape, columns)
        op.require(len(self.multipliers) == rows, f"needs {rows} multipliers")
        op.within((0, MULTIPLIERS - 1), multipliers=self.multipliers)
        op.within((1, 30), shift=self.shift)
        op.zero_points(op.out.dtype, out_zero_point=self.out_zero_point)
        op.clamp(self.act_min, self.act_max)

    def compute(self, results: tuple[Tensor, ...], table: Array, index: Array) -> Array:
        at = in_range(index, table.shape[0])
        products = table[at].astype(np.int64) * np.array(self.multipliers, np.int64)[at][..., None]
        rounded = (products + (1 << self.shift - 1) >> self.shift) + self.out_zero_point
        return np.clip(rounded, self.act_min, self.act_max)


@operator(
    layout=Layout.FOLLOW,
    overwrites=Operands.FIRST,
    work=Work.MOVE,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class IndexPut(Attrs):
    """x, values, one index tensor per axis in `axes` -> x with the indexed elements replaced.

    Indexing is that of Index; `values` broadcast to the indexed shape. With `accumulate`, values
    are added, also where an index occurs more than once; else the last one in C order stays.
    """

    kind: ClassVar[str] = "index_put"
    axes: tuple[int, ...]
    accumulate: bool

    def check(self, op: Subject) -> None:
        op.counts(2 + len(self.axes))
        op.same_type(op.x, op.ins[1], op.out)
        op.same_shape()
        op.broadcasts_to(op.ins[1], _indexed_shape(op, self.axes, op.ins[2:]))
        adds = self.accumulate and op.x.dtype is DType.BOOL
        op.require(not adds, "booleans cannot be added")

    def compute(self, results: tuple[Tensor, ...], x: Array, values: Array, *at: Array) -> Array:
        """Over flat offsets, so that what is stored twice is stored in C order."""
        offsets = _indexed_offsets(x.shape, self.axes, at)
        spread = np.broadcast_to(values, offsets.shape).reshape(-1)
        result = x.reshape(-1).copy()
        if self.accumulate:
            np.add.at(result, offsets.reshape(-1), spread)
        else:
            result[offsets.reshape(-1)] = spread
        return result.reshape(x.shape)


def in_range(index: Array, size: int) -> I64:
    """Indices as a device takes them: negative ones from the end, then the nearest valid one."""
    at = index.astype(np.int64)
    return np.clip(np.where(at < 0, at + size, at), 0, size - 1)


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


def _indexed_offsets(
    shape: tuple[int, ...], axes: tuple[int, ...], indices: tuple[Array, ...]
) -> I64:
    """Where the elements that `indices` choose from a tensor of `shape` lie, in C order."""
    numbers = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    given = dict(zip(axes, indices, strict=True))
    key = tuple(
        in_range(given[axis], shape[axis]) if axis in given else slice(None)
        for axis in range(axes[-1] + 1)
    )
    return np.asarray(numbers[key])
