# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: of codes, int8 or int16, and of float32.

Sums of products of codes go through float64, exactly; float32 sums take their terms one after another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import Rescale, rescale_channels
from ..floats import F32, Floats, begin_sums, fma
from ..rules import (
    CODES,
    INT8,
    INT16,
    INT32,
    Subject,
    bias_types,
    check_codes,
    check_wide_sums,
    shifts,
)
from ..types import Array, DType, Tensor
from ..wide import rescale_wide, rescale_wide_channels


@operator(
    layout=Layout.ROWS,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.WEIGHTED,
    exact=True,
)
@dataclass(frozen=True)
class Linear(Attrs):
    """x [..., K] s8 or s16, weight [O, K] s8, [bias [O]] -> [..., O] of x's type.

    `rescales` has one for all outputs, or one for each.
    """

    kind: ClassVar[str] = "linear"
    in_zero_point: int
    weight_zero_point: int
    out_zero_point: int
    rescales: tuple[Rescale, ...]
    act_min: int
    act_max: int

    def check(self, op: Subject) -> None:
        op.counts(2, 3)
        check_codes(op)
        _check_rows(op, *bias_types(op.x.dtype))
        check_wide_sums(op, op.ins[1].shape[1], 128)
        out_features = op.ins[1].shape[0]
        op.require(len(self.rescales) in (1, out_features), f"needs 1 rescale, or {out_features}")
        op.rescales(shift=shifts(op.x.dtype), rescales=self.rescales)
        op.zero_points(
            op.x.dtype,
            in_zero_point=self.in_zero_point,
            weight_zero_point=self.weight_zero_point,
            out_zero_point=self.out_zero_point,
        )
        op.clamp(self.act_min, self.act_max)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, weight: Array, bias: Array | None = None
    ) -> Array:
        rows = x.astype(np.float64) - self.in_zero_point
        columns = weight.astype(np.float64) - self.weight_zero_point
        acc = (rows @ columns.T).astype(np.int64)
        if bias is not None:
            acc = acc + bias.astype(np.int64)
        rescales = self.rescales * (weight.shape[0] // len(self.rescales))
        if results[0].dtype is DType.S16:
            result = rescale_wide_channels(acc, rescales, axis=acc.ndim - 1)
        else:
            result = rescale_channels(acc, rescales, axis=acc.ndim - 1) + self.out_zero_point
        return np.clip(result, self.act_min, self.act_max)


@dataclass(frozen=True)
class Matrices:
    """Where matrices [B,I,J] lie in a tensor of other dimensions: element [g,h,i,j] is number
    offset + sum(index * strides) of its elements in logical C order.

    Attributes:
        shape: groups, matrices of a group, I, J. There are B = groups * matrices.
        strides: in elements, none below 0.
        offset: in elements.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def matrices(self) -> tuple[int, int, int]:
        """[B,I,J]"""
        return self.shape[0] * self.shape[1], self.shape[2], self.shape[3]

    def places(self) -> Array:
        """[B,I,J]: the number of each element."""
        steps = [
            stride * np.arange(extent).reshape([-1 if d == axis else 1 for d in range(4)])
            for axis, (extent, stride) in enumerate(zip(self.shape, self.strides, strict=True))
        ]
        places: Array = self.offset + sum(steps, np.zeros(self.shape, np.int64))
        return places.reshape(self.matrices)

    def grouped(self, groups: int) -> Matrices | None:
        """The same in so many groups; None if they do not lie in these."""
        (has, each, *rest), (first, second, *steps) = self.shape, self.strides
        if has == groups:
            return self
        if has == 1 or first == each * second:
            each = has * each // groups
            shape, strides = (groups, each, *rest), (each * second, second, *steps)
            return Matrices(shape, strides, self.offset)
        return None

    @staticmethod
    def dense(*shape: int) -> Matrices:
        """[B,I,J] one after the other."""
        batches, rows, cols = shape
        return Matrices((1, batches, rows, cols), (0, rows * cols, cols, 1))


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class BatchMatmul(Attrs):
    """lhs [B,M,K], rhs transposed [B,N,K], both s8 or s16 -> [B,M,N] of that type.

    `lhs`, `rhs` and `out` say where these lie in tensors of other dimensions, as heads of attention do:
    rows of lhs and of the result in one piece, of rhs rows or columns.
    """

    kind: ClassVar[str] = "batch_matmul"
    lhs_zero_point: int
    rhs_zero_point: int
    out_zero_point: int
    rescale: Rescale
    lhs: Matrices | None = None
    rhs: Matrices | None = None
    out: Matrices | None = None

    def placed(self, lhs: Tensor, rhs: Tensor) -> tuple[Matrices, Matrices, Matrices] | None:
        """Where operands and result lie, in groups of one size; None if there is none."""
        left = self.lhs or Matrices.dense(*lhs.shape)
        right = self.rhs or Matrices.dense(*rhs.shape)
        batches, rows, _ = left.matrices
        made = self.out or Matrices.dense(batches, rows, right.shape[2])
        groups = max(left.shape[0], right.shape[0], made.shape[0])
        found = [each.grouped(groups) for each in (left, right, made)]
        one, two, three = found
        return (one, two, three) if one and two and three else None

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.types(*CODES)
        for own, tensor in zip((self.lhs, self.rhs, self.out), (*op.ins, op.out), strict=True):
            if own is not None:
                _check_matrices(op, own, tensor)
            elif tensor is not op.out:
                op.rank(tensor, 3)
        lhs = op.ins[0].shape if self.lhs is None else self.lhs.matrices
        rhs = op.ins[1].shape if self.rhs is None else self.rhs.matrices
        fits = lhs[0] == rhs[0] and lhs[2] == rhs[2]
        op.require(fits, f"operands {lhs} and {rhs} (transposed) do not fit")
        made = *lhs[:2], rhs[1]
        if self.out is None:
            op.shape_of(op.out, *made)
        else:
            places = np.sort(self.out.places(), axis=None)
            is_all = np.array_equal(places, np.arange(op.out.numel))
            op.require(self.out.matrices == made and is_all, f"the result is not {made}")
        placed = self.placed(*op.ins)
        op.require(placed is not None, "its matrices lie in groups of different sizes")
        assert placed is not None
        left, right, result = placed
        in_rows = all(each.shape[3] == 1 or each.strides[3] == 1 for each in (left, result))
        op.require(in_rows, "rows are not in one piece")
        apart = [right.shape[d] > 1 and right.strides[d] != 1 for d in (2, 3)]
        op.require(not all(apart), "neither rows nor columns of rhs are in one piece")
        check_wide_sums(op, lhs[2], 1 << 15)
        op.rescales(shift=shifts(op.x.dtype), rescale=self.rescale)
        op.zero_points(
            op.x.dtype,
            lhs_zero_point=self.lhs_zero_point,
            rhs_zero_point=self.rhs_zero_point,
            out_zero_point=self.out_zero_point,
        )

    def compute(self, results: tuple[Tensor, ...], lhs: Array, rhs: Array) -> Array:
        lhs = lhs if self.lhs is None else lhs.reshape(-1)[self.lhs.places()]
        rhs = rhs if self.rhs is None else rhs.reshape(-1)[self.rhs.places()]
        rows = lhs.astype(np.float64) - self.lhs_zero_point
        columns = rhs.astype(np.float64) - self.rhs_zero_point
        acc = (rows @ columns.transpose(0, 2, 1)).astype(np.int64)
        if results[0].dtype is DType.S16:
            codes = np.clip(rescale_wide(acc, self.rescale), *INT16)
        else:
            codes = np.clip(self.rescale.apply(acc) + self.out_zero_point, *INT8)
        if self.out is None:
            return codes
        made = np.empty(codes.size, codes.dtype)
        made[self.out.places()] = codes
        return made.reshape(results[0].shape)


def _check_matrices(op: Subject, own: Matrices, tensor: Tensor) -> None:
    """They lie inside of the tensor."""
    op.require(isinstance(own, Matrices), "its operands lie nowhere")
    op.require(len(own.shape) == len(own.strides) == 4, "matrices have four extents and strides")
    op.within(INT32, strides=own.strides)
    op.require(min(own.shape) > 0 <= min(*own.strides, own.offset), "matrices lead below 0")
    last = own.offset + sum((n - 1) * s for n, s in zip(own.shape, own.strides, strict=True))
    inside = last < tensor.numel and math.prod(own.shape) <= tensor.numel
    op.require(inside, f"matrices lead out of {tensor.name!r}")


@operator(
    layout=Layout.WEIGHTS,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class FloatLinear(Attrs):
    """x [..., K] f32, weight [O, K] f32, [bias [O] f32] -> [..., O] f32."""

    kind: ClassVar[str] = "float_linear"

    def check(self, op: Subject) -> None:
        op.counts(2, 3)
        op.types(DType.F32)
        _check_rows(op, DType.F32)

    def compute(
        self, results: tuple[Tensor, ...], x: Floats, weight: Floats, bias: Floats | None = None
    ) -> Array:
        shape = results[0].shape
        total = begin_sums(shape, bias, len(shape) - 1)
        for k in range(weight.shape[1]):
            total = fma(total, x[..., k : k + 1], weight[:, k])
        return total


@operator(
    layout=Layout.WEIGHTS,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class FloatMatmul(Attrs):
    """a [..., M, K] f32, b [..., K, N] f32, of one rank, [bias f32] -> [..., M, N] f32.

    The bias broadcasts to the result.
    """

    kind: ClassVar[str] = "float_matmul"

    def check(self, op: Subject) -> None:
        op.counts(2, 3)
        op.types(DType.F32)
        a, b = op.ins[0].shape, op.ins[1].shape
        op.require(len(a) == len(b) >= 2, "operands must be matrices of one rank")
        op.require(a[:-2] == b[:-2] and a[-1] == b[-2], f"operands {a} and {b} do not fit")
        op.shape_of(op.out, *a[:-1], b[-1])
        if len(op.ins) > 2:
            op.broadcasts_to(op.ins[2], op.out.shape)

    def compute(
        self, results: tuple[Tensor, ...], a: Floats, b: Floats, bias: Floats | None = None
    ) -> Array:
        start = np.zeros((), F32) if bias is None else bias
        total = np.array(np.broadcast_to(start, results[0].shape), F32)
        for k in range(a.shape[-1]):
            total = fma(total, a[..., :, k : k + 1], b[..., k : k + 1, :])
        return total


def _check_rows(op: Subject, *bias: DType) -> None:
    """Rows of x times the rows of a matrix."""
    weight = op.ins[1]
    op.rank(weight, 2)
    op.require(op.x.shape[-1:] == weight.shape[1:], "the operand's rows differ from the weights'")
    op.shape_of(op.out, *op.x.shape[:-1], weight.shape[0])
    if len(op.ins) > 2:
        op.type_of(op.ins[2], *bias)
        op.shape_of(op.ins[2], weight.shape[0])
