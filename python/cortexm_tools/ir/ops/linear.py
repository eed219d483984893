# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: of codes, int8 or int16, and of float32.

Sums of products of codes go through float64, exactly; float32 sums take their terms one after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import Rescale, rescale_channels
from ..floats import F32, Floats, begin_sums, fma
from ..rules import CODES, INT8, INT16, Subject, bias_types, check_codes, check_wide_sums, shifts
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


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class BatchMatmul(Attrs):
    """lhs [B,M,K], rhs transposed [B,N,K], both s8 or s16 -> [B,M,N] of that type."""

    kind: ClassVar[str] = "batch_matmul"
    lhs_zero_point: int
    rhs_zero_point: int
    out_zero_point: int
    rescale: Rescale

    def check(self, op: Subject) -> None:
        op.counts(2)
        op.types(*CODES)
        lhs, rhs = op.ins
        for tensor in op.ins:
            op.rank(tensor, 3)
        fits = lhs.shape[0] == rhs.shape[0] and lhs.shape[2] == rhs.shape[2]
        op.require(fits, f"operands {lhs.shape} and {rhs.shape} (transposed) do not fit")
        op.shape_of(op.out, *lhs.shape[:2], rhs.shape[1])
        check_wide_sums(op, lhs.shape[2], 1 << 15)
        op.rescales(shift=shifts(op.x.dtype), rescale=self.rescale)
        op.zero_points(
            op.x.dtype,
            lhs_zero_point=self.lhs_zero_point,
            rhs_zero_point=self.rhs_zero_point,
            out_zero_point=self.out_zero_point,
        )

    def compute(self, results: tuple[Tensor, ...], lhs: Array, rhs: Array) -> Array:
        rows = lhs.astype(np.float64) - self.lhs_zero_point
        columns = rhs.astype(np.float64) - self.rhs_zero_point
        acc = (rows @ columns.transpose(0, 2, 1)).astype(np.int64)
        if results[0].dtype is DType.S16:
            return np.clip(rescale_wide(acc, self.rescale), *INT16)
        return np.clip(self.rescale.apply(acc) + self.out_zero_point, *INT8)


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
