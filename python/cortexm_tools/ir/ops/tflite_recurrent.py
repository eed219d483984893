# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers as TensorFlow Lite Micro computes them: two requantized products for each gate,
sigmoid and tanh interpolated in tables (ir/wide.py), and filters over features that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64, Rescale
from ..rules import Subject
from ..types import Array, DType, Tensor
from ..wide import sigmoid_s16


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class InterpolatedLstm(Attrs):
    """x, h [B, H] s8, c [B, H] s16, w_ih [4H, I] s8, w_hh [4H, H] s8, bias [4H] s32 -> y, h, c.

    Gates are in the order i, f, g, o. `of_x` and `of_h` make of each product codes in units of 2**-12,
    which are added; `fresh` and `out` are of i * g and of o * tanh(c) in Q30. All is limited to 16 bits,
    c to `cell_limit`; c * cell_multiplier / 2**cell_shift is in units of 1 / 12288.
    """

    kind: ClassVar[str] = "interpolated_lstm"
    reverse: ClassVar[bool] = False
    batch_first: bool
    x_zero_point: int
    h_zero_point: int
    of_x: tuple[Rescale, ...]
    of_h: tuple[Rescale, ...]
    fresh: Rescale
    out: Rescale
    cell_limit: int
    cell_multiplier: int
    cell_shift: int

    def check(self, op: Subject) -> None:
        op.counts(6, results=3)
        x, h = op.ins[:2]
        op.rank(x, 3)
        op.rank(h, 2)
        inputs, (batch, hidden) = x.shape[2], h.shape
        op.require(x.shape[0 if self.batch_first else 1] == batch, f"has no {batch} batches")
        states = (DType.S8, h.shape), (DType.S16, h.shape)
        weights = (DType.S8, (4 * hidden, inputs)), (DType.S8, (4 * hidden, hidden))
        results = (DType.S8, (*x.shape[:2], hidden)), *states
        _check_all(op, (DType.S8, x.shape), *states, *weights, (DType.S32, (4 * hidden,)), *results)
        op.require(len(self.of_x) == len(self.of_h) == 4, "has four gates")
        op.zero_points(DType.S8, x_zero_point=self.x_zero_point, h_zero_point=self.h_zero_point)
        op.rescales(of_x=self.of_x, of_h=self.of_h, fresh=self.fresh, out=self.out)
        op.within((0, 2**15), cell_limit=self.cell_limit)
        op.within((0, 2**15 - 1), cell_multiplier=self.cell_multiplier)
        op.within((0, 31), cell_shift=self.cell_shift)

    def compute(
        self,
        results: tuple[Tensor, ...],
        x: Array,
        h: Array,
        c: Array,
        w_ih: Array,
        w_hh: Array,
        bias: Array,
    ) -> list[Array]:
        y, state, cell = [], h.astype(np.int64), c.astype(np.int64)
        for inputs in x.swapaxes(0, 1) if self.batch_first else x:
            of_x = (inputs.astype(np.int64) - self.x_zero_point) @ w_ih.T.astype(np.int64) + bias
            of_h = (state - self.h_zero_point) @ w_hh.T.astype(np.int64)
            sums = _limited(_each(of_x, self.of_x) + _each(of_h, self.of_h))
            gates = enumerate(np.split(3 * sums, 4, axis=-1))
            i, f, g, o = (sigmoid_s16(part, is_tanh=gate == 2) for gate, part in gates)
            kept = _limited(Rescale(1 << 30, -14).apply(f * cell))
            cell = _limited(kept + _limited(self.fresh.apply(i * g)))
            cell = np.clip(cell, -self.cell_limit, self.cell_limit)
            place = (cell * self.cell_multiplier + (1 << self.cell_shift >> 1)) >> self.cell_shift
            shown = self.out.apply(o * sigmoid_s16(place, is_tanh=True)) + self.h_zero_point
            state = np.clip(shown, *DType.S8.limits)
            y.append(state)
        sequence = np.stack(y, axis=1 if self.batch_first else 0)
        return [sequence.astype(np.int8), state.astype(np.int8), cell.astype(np.int16)]


def _each(acc: I64, rescales: tuple[Rescale, ...]) -> I64:
    """Sums of four gates in a row, requantized to 16 bits."""
    parts = [r.apply(part) for r, part in zip(rescales, np.split(acc, 4, axis=-1), strict=True)]
    return _limited(np.concatenate(parts, axis=-1))


def _limited(x: I64) -> I64:
    return np.clip(x, *DType.S16.limits)


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.FIRST,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Svdf(Attrs):
    """kept [B, F * M] s16, x [B, I] s8, features [F, I] s8, times [F, M] s16, bias [U] s32 -> kept,
    y [B, U] s8.

    Each of F = U * rank filters has a feature of x behind those of M - 1 calls before. A unit's sum, of
    the products of its filters' features with `times`, wraps to 32 bits.
    """

    kind: ClassVar[str] = "svdf"
    rank: int
    in_zero_point: int
    feature: Rescale
    out: Rescale
    out_zero_point: int

    def check(self, op: Subject) -> None:
        op.counts(5, results=2)
        _, x, _, times, bias = op.ins
        op.rank(times, 2)
        op.rank(x, 2)
        (filters, memory), (batch, inputs), units = times.shape, x.shape, bias.numel
        op.require(0 < self.rank and filters == units * self.rank, f"{filters} filters do not fit")
        kept, weights = (DType.S16, (batch, filters * memory)), (DType.S8, (filters, inputs))
        wide, biases = (DType.S16, times.shape), (DType.S32, (units,))
        results = kept, (DType.S8, (batch, units))
        _check_all(op, kept, (DType.S8, x.shape), weights, wide, biases, *results)
        op.zero_points(
            DType.S8, in_zero_point=self.in_zero_point, out_zero_point=self.out_zero_point
        )
        op.rescales(feature=self.feature, out=self.out)

    def compute(
        self, results: tuple[Tensor, ...], kept: Array, x: Array, *constants: Array
    ) -> list[Array]:
        features, times, bias = constants
        made = (x.astype(np.int64) - self.in_zero_point) @ features.astype(np.int64).T
        new = _limited(self.feature.apply(made))
        before = kept.reshape(len(x), *times.shape)
        after = np.concatenate([before[..., 1:], new[..., None]], axis=-1).astype(np.int64)
        sums = (after * times).reshape(len(x), len(bias), -1).sum(axis=-1) + bias
        y = np.clip(self.out.apply(sums) + self.out_zero_point, *DType.S8.limits)
        return [after.astype(np.int16).reshape(kept.shape), y.astype(np.int8)]


def _check_all(op: Subject, *tensors: tuple[DType, tuple[int, ...]]) -> None:
    """Types and shapes of operands, of which the last three are constants, and of results."""
    for tensor, (dtype, shape) in zip((*op.ins, *op.outs), tensors, strict=True):
        op.type_of(tensor, dtype)
        op.shape_of(tensor, *shape)
    constant = all(each.data is not None for each in op.ins[-3:])
    op.require(constant, "weights and biases must be constant")
