# SPDX-License-Identifier: Apache-2.0
"""Movement of elements of any type: nothing is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..rules import INT32, Subject
from ..types import Array, DType, Tensor, same_layout


@operator(
    layout=Layout.SAME,
    overwrites=Operands.NONE,
    work=Work.MOVE,
    channels=Channels.PLACED,
    exact=True,
)
@dataclass(frozen=True)
class Pad(Attrs):
    """x -> x with `before[d]` and `after[d]` elements of `value` around logical dimension d."""

    kind: ClassVar[str] = "pad"
    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int

    def check(self, op: Subject) -> None:
        _check_one(op)
        rank = len(op.x.shape)
        op.require(len(self.before) == len(self.after) == rank, "the padding has another rank")
        op.within((0, INT32[1]), before=self.before, after=self.after)
        around = zip(self.before, op.x.shape, self.after, strict=True)
        op.shape_of(op.out, *(before + extent + after for before, extent, after in around))
        if op.out.dtype is DType.F32:
            op.real(value=self.value)
            exact = float(np.float32(self.value)) == self.value
            op.require(exact, f"value {self.value} is not a float32")
        else:
            op.within(op.out.dtype.limits, value=self.value)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        widths = list(zip(self.before, self.after, strict=True))
        return np.pad(x, widths, constant_values=self.value)


@operator(
    layout=Layout.ANY,
    overwrites=Operands.NONE,
    work=Work.MOVE,
    channels=Channels.PLACED,
    exact=True,
)
@dataclass(frozen=True)
class Transpose(Attrs):
    """x -> x.permute(perm), any type and rank."""

    kind: ClassVar[str] = "transpose"
    perm: tuple[int, ...]

    def check(self, op: Subject) -> None:
        _check_one(op)
        rank = len(op.x.shape)
        op.require(
            sorted(self.perm) == list(range(rank)), f"{self.perm} does not permute rank {rank}"
        )
        op.shape_of(op.out, *(op.x.shape[d] for d in self.perm))

    def is_view(self, x: Tensor, out: Tensor) -> bool:
        order = tuple(self.perm[dim] for dim in out.dim_order)
        return same_layout(x.shape, x.dim_order, order)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        return x.transpose(self.perm)


@operator(
    layout=Layout.ROWS,
    overwrites=Operands.NONE,
    work=Work.MOVE,
    channels=Channels.PLACED,
    exact=True,
)
@dataclass(frozen=True)
class View(Attrs):
    """x -> the same elements in logical order, in the output's shape."""

    kind: ClassVar[str] = "view"

    def check(self, op: Subject) -> None:
        _check_one(op)
        op.require(
            op.x.numel == op.out.numel,
            f"{op.x.shape} to {op.out.shape} changes the number of elements",
        )

    def is_view(self, x: Tensor, out: Tensor) -> bool:
        return True  # both are in C order

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        return x.reshape(results[0].shape)


@operator(
    layout=Layout.ANY, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.EACH, exact=True
)
@dataclass(frozen=True)
class Clone(Attrs):
    """x -> the same logical tensor, perhaps in another dim order."""

    kind: ClassVar[str] = "clone"

    def check(self, op: Subject) -> None:
        _check_one(op)
        op.same_shape()

    def is_view(self, x: Tensor, out: Tensor) -> bool:
        return same_layout(x.shape, x.dim_order, out.dim_order)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        return x


@operator(
    layout=Layout.COPY, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Expand(Attrs):
    """x -> x broadcast to the output's shape (numpy rules), any type."""

    kind: ClassVar[str] = "expand"

    def check(self, op: Subject) -> None:
        _check_one(op)
        op.broadcasts_to(op.x, op.out.shape)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        return np.broadcast_to(x, results[0].shape)


@operator(
    layout=Layout.STRIDED,
    overwrites=Operands.NONE,
    work=Work.MOVE,
    channels=Channels.PLACED,
    exact=True,
)
@dataclass(frozen=True)
class Concat(Attrs):
    """x0, x1, ... of one type -> joined along dimension `dim`."""

    kind: ClassVar[str] = "concat"
    dim: int

    def check(self, op: Subject) -> None:
        op.counts(1, len(op.ins))
        op.types(*DType)
        dim, shape = self.dim, op.out.shape
        op.dimension(dim, len(shape))
        for x in op.ins:
            op.rank(x, len(shape))
            fits = x.shape[:dim] == shape[:dim] and x.shape[dim + 1 :] == shape[dim + 1 :]
            op.require(fits, f"{x.name!r} of shape {x.shape} is not part of {shape} along {dim}")
        joined = sum(x.shape[dim] for x in op.ins)
        op.require(joined == shape[dim], f"the result has size {shape[dim]}, the operands {joined}")

    def compute(self, results: tuple[Tensor, ...], *parts: Array) -> Array:
        return np.concatenate(parts, axis=self.dim)


@operator(
    layout=Layout.FOLLOW,
    overwrites=Operands.FIRST,
    work=Work.MOVE,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Push(Attrs):
    """x, new of one type -> x without its first elements along dimension `dim`, as many as `new` has, and
    `new` behind."""

    kind: ClassVar[str] = "push"
    dim: int

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.types(*DType)
        op.same_shape()
        shape, new = op.x.shape, op.ins[1].shape
        op.dimension(self.dim, len(shape))
        op.rank(op.ins[1], len(shape))
        op.require(new[self.dim] < shape[self.dim], f"{new[self.dim]} elements replace all")
        op.shape_of(op.ins[1], *shape[: self.dim], new[self.dim], *shape[self.dim + 1 :])

    def compute(self, results: tuple[Tensor, ...], x: Array, new: Array) -> Array:
        kept = x.take(range(new.shape[self.dim], x.shape[self.dim]), axis=self.dim)
        return np.concatenate([kept, new], axis=self.dim)


@operator(
    layout=Layout.COPY, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Slice(Attrs):
    """x -> out of the same rank; out[i] = x[begin + step * i] in every dimension.

    Steps are not zero; a negative one reads backwards. The extents are the result's shape.
    """

    kind: ClassVar[str] = "slice"
    begin: tuple[int, ...]
    step: tuple[int, ...]

    def check(self, op: Subject) -> None:
        _check_one(op)
        rank = len(op.x.shape)
        op.rank(op.out, rank)
        op.require(len(self.begin) == len(self.step) == rank, "begins and steps have another rank")
        op.require(0 not in self.step, "a step is zero")
        for begin, step, size, extent in zip(
            self.begin, self.step, op.x.shape, op.out.shape, strict=True
        ):
            last = begin + step * (extent - 1)
            op.require(0 <= begin < size and 0 <= last < size, "leads out of the operand")
            op.within(INT32, step=step)

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        axes = [
            begin + step * np.arange(size)
            for begin, step, size in zip(self.begin, self.step, results[0].shape, strict=True)
        ]
        return x[np.ix_(*axes)] if axes else x


@operator(
    layout=Layout.COPY, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class Tile(Attrs):
    """x -> x repeated; out[i] = x[i mod size] in every dimension, x aligned at the last one."""

    kind: ClassVar[str] = "tile"

    def check(self, op: Subject) -> None:
        _check_one(op)
        missing = len(op.out.shape) - len(op.x.shape)
        op.require(missing >= 0, "the result has fewer dimensions than the operand")
        sizes = zip(op.out.shape[missing:], op.x.shape, strict=True)
        whole = all(extent % size == 0 for extent, size in sizes)
        op.require(whole, f"{op.out.shape} is not a multiple of {op.x.shape}")

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        shape = results[0].shape
        whole = x.reshape((1,) * (len(shape) - x.ndim) + x.shape)
        return np.tile(whole, [out // size for out, size in zip(shape, whole.shape, strict=True)])


@operator(
    layout=Layout.ROWS, overwrites=Operands.NONE, work=Work.MOVE, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class AsStrided(Attrs):
    """x -> out[i] = flat[offset + sum(i_d * strides_d)], with flat = x in logical C order.

    Windows may overlap. All indices lie inside x.
    """

    kind: ClassVar[str] = "as_strided"
    strides: tuple[int, ...]
    offset: int

    def check(self, op: Subject) -> None:
        _check_one(op)
        op.require(len(self.strides) == len(op.out.shape), "the strides have another rank")
        op.within(INT32, strides=self.strides)
        reach = [(n - 1) * step for n, step in zip(op.out.shape, self.strides, strict=True)]
        low = self.offset + sum(min(r, 0) for r in reach)
        high = self.offset + sum(max(r, 0) for r in reach)
        op.require(low >= 0 and high < op.x.numel, "leads out of the operand")

    def compute(self, results: tuple[Tensor, ...], x: Array) -> Array:
        shape = results[0].shape
        index = np.full(shape, self.offset, np.int64)
        for axis, stride in enumerate(self.strides):
            steps = np.arange(shape[axis]) * stride
            index += steps.reshape([-1 if d == axis else 1 for d in range(len(shape))])
        return np.asarray(x.reshape(-1)[index])


def _check_one(op: Subject) -> None:
    """One operand, of the result's type."""
    op.counts(1)
    op.types(*DType)
