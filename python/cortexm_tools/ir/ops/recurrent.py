# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers of codes: one layer, one direction, all steps.

Sequences are [T, B, …], or [B, T, …] with `batch_first`. A gate's sum is

    bias + x . w_ih + floor(h . w_hh / 2**h_shift)

in 32 bits, which the constants prove to suffice: in each row the scale of w_ih is that of w_hh times
2**h_shift. Arithmetic: ir/recurrent.py. InterpolatedLstm and Svdf are TensorFlow Lite's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import recurrent as cells
from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64, Rescale
from ..rules import CODES, Subject
from ..types import Array, DType, Tensor
from ..wide import each_rescaled, limited_s16, sigmoid_s16


@dataclass(frozen=True)
class RecurrentAttrs(Attrs):
    """What recurrent layers have in common.

    Attributes:
        batch_first: sequences are [B, T, …].
        reverse: from the last step to the first; y[t] is still that of step t.
        sequence: whether the first result is y, of all steps.
        h_shift: products with w_hh are divided by 2**h_shift, rounded down.
        gates: for each entry of the bias a multiplier in [0, 32767]: a sum times it times
            2**(gate_shift - 16) is in units of 2**-16, and of 2**-15 where a sigmoid follows.
        out_multiplier, out_shift: of the codes of h, see `out_factor`.
    """

    batch_first: bool
    reverse: bool
    sequence: bool
    x_zero_point: int
    h_zero_point: int
    h_shift: int
    gate_shift: int
    gates: tuple[int, ...]
    out_multiplier: int
    out_shift: int

    rows: ClassVar[int] = 1
    sums: ClassVar[int] = 1
    """Rows of the weights, and sums, for each element of h."""

    def check_layer(self, op: Subject, states: tuple[DType, ...]) -> None:
        """Operands x, a state each, w_ih, w_hh, bias; results [y], and a state each."""
        count = len(states)
        op.counts(4 + count, results=int(self.sequence) + count)
        op.type_of(op.x, *CODES)
        op.rank(op.x, 3)
        _, batch, inputs = self.extents(op.x)
        before, after = op.ins[1 : 1 + count], op.outs[-count:]
        op.rank(before[0], 2)
        hidden = before[0].shape[1]
        for dtype, *pair in zip(states, before, after, strict=True):
            for state in pair:
                op.type_of(state, dtype)
                op.shape_of(state, batch, hidden)
        if self.sequence:
            op.type_of(op.out, op.x.dtype)
            op.shape_of(op.out, *op.x.shape[:2], hidden)
        w_ih, w_hh, bias = op.ins[1 + count :]
        for weight, columns in ((w_ih, inputs), (w_hh, hidden)):
            op.type_of(weight, DType.S8)
            op.shape_of(weight, self.rows * hidden, columns)
        op.type_of(bias, DType.S32)
        op.rank(bias, 1)
        op.shape_of(bias, self.sums * hidden)
        op.require(len(self.gates) == self.sums * hidden, f"needs {self.sums * hidden} gates")
        arrays = [each.data for each in (w_ih, w_hh, bias) if each.data is not None]
        op.require(len(arrays) == 3, "weights and biases must be constant")
        op.zero_points(op.x.dtype, x_zero_point=self.x_zero_point, h_zero_point=self.h_zero_point)
        op.within(cells.H_SHIFT, h_shift=self.h_shift)
        op.within(cells.GATE_SHIFTS[op.x.dtype], gate_shift=self.gate_shift)
        op.within(cells.GATE_MULTIPLIER, gates=self.gates)
        op.within(cells.OUT_MULTIPLIER, out_multiplier=self.out_multiplier)
        op.within(cells.OUT_SHIFT, out_shift=self.out_shift)
        products, bound = self.largest_sums(op.x.dtype, *arrays)
        op.require(
            products < 1 << 31 and bound << max(self.gate_shift, 0) < 1 << 31,
            f"sums of up to {bound:,}, shifted by {self.gate_shift}, do not fit in 32 bits",
        )

    def extents(self, x: Tensor) -> tuple[int, int, int]:
        """Steps, batches and inputs of a sequence."""
        first, second, inputs = x.shape
        return (second, first, inputs) if self.batch_first else (first, second, inputs)

    def parts(self, w_ih: Array, w_hh: Array, bias: Array) -> list[tuple[Array, Array, Array]]:
        """The sums of a step: weights of x and of h (with no columns where it has no part in them), and
        the biases with both zero points folded in, int64."""
        return [
            (
                x,
                h,
                b.astype(np.int64)
                - self.x_zero_point * _sums(x)
                - (self.h_zero_point * _sums(h) >> self.shift_beside(x)),
            )
            for x, h, b in self.split(w_ih, w_hh, bias)
        ]

    def shift_beside(self, w_ih: Array) -> int:
        """`h_shift`, of a sum that x has a part in."""
        return self.h_shift if w_ih.shape[1] else 0

    def split(self, w_ih: Array, w_hh: Array, bias: Array) -> list[tuple[Array, Array, Array]]:
        """`parts`, biases as they are."""
        return [(w_ih, w_hh, bias)]

    def largest_sums(self, dtype: DType, w_ih: Array, w_hh: Array, bias: Array) -> tuple[int, int]:
        """What no sum of products with h, and no whole sum, exceeds in its absolute value, at any term."""
        code = -dtype.limits[0]
        products = whole = 0
        for x, h, b in self.parts(w_ih, w_hh, bias):
            of_x, of_h = (code * _sums(np.abs(each.astype(np.int64))) for each in (x, h))
            shown = (of_h >> self.shift_beside(x)) + int(self.h_shift > 0)
            products = max(products, int(of_h.max()))
            whole = max(whole, int((of_x + shown + np.abs(b)).max()))
        return products, whole

    def products(self, x: I64, h: I64, part: tuple[Array, Array, Array]) -> I64:
        """The sums of `part`, exact by way of float64."""
        w_ih, w_hh, bias = part
        of_x = x[:, : w_ih.shape[1]].astype(np.float64) @ w_ih.astype(np.float64).T
        of_h = h[:, : w_hh.shape[1]].astype(np.float64) @ w_hh.astype(np.float64).T
        shown = of_h.astype(np.int64) >> self.shift_beside(w_ih)
        result: I64 = of_x.astype(np.int64) + shown + bias.astype(np.int64)
        return result

    def steps(self, x: Array) -> list[tuple[tuple[slice | int, ...], I64]]:
        """The index of each step in a sequence and its inputs [B, I], in the order of time."""
        count = x.shape[1 if self.batch_first else 0]
        order = range(count)[::-1] if self.reverse else range(count)
        places = [(slice(None), t) if self.batch_first else (t,) for t in order]
        return [(place, x[place].astype(np.int64)) for place in places]


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Lstm(RecurrentAttrs):
    """x s8 or s16, h [B, H] of its type, c [B, H] s16, w_ih [4H, I] s8, w_hh [4H, H] s8, bias [4H] s32
    -> [y,] h, c.

    Gates are in PyTorch's order i, f, g, o. c has the scale 2**-cell_bits; `out_multiplier` is of
    o * tanh(c) in Q30, after 16 bits are dropped.
    """

    kind: ClassVar[str] = "lstm"
    rows: ClassVar[int] = 4
    sums: ClassVar[int] = 4
    cell_bits: int

    def check(self, op: Subject) -> None:
        op.within(cells.STATE_BITS, cell_bits=self.cell_bits)
        self.check_layer(op, (op.x.dtype, DType.S16))

    def compute(
        self,
        results: tuple[Tensor, ...],
        x: Array,
        h: Array,
        c: Array,
        w_ih: Array,
        w_hh: Array,
        bias: Array,
    ) -> list[Array] | Array:
        y = np.zeros((*x.shape[:2], h.shape[1]), x.dtype)
        state, cell = h.astype(np.int64), c.astype(np.int64)
        for place, inputs in self.steps(x):
            acc = self.products(inputs, state, self.parts(w_ih, w_hh, bias)[0])
            gate = cells.limited(cells.preactivation(acc, self.gates, self.gate_shift))
            i, f, g, o = np.split(gate, 4, axis=-1)
            new = (cells.sigmoid(i) * cells.tanh(g)) >> (15 - self.cell_bits)
            cell = np.clip((cells.sigmoid(f) * cell + new + (1 << 14)) >> 15, *DType.S16.limits)
            shown = cells.tanh(cells.limited(cell << (cells.UNIT_BITS - self.cell_bits)))
            product = (cells.sigmoid(o) * shown * self.out_multiplier) >> 16
            state = cells.code_of(product, 1, self.out_shift, self.h_zero_point, _limits(x))
            y[place] = state
        return [*([y] if self.sequence else []), state.astype(x.dtype), cell.astype(np.int16)]


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Gru(RecurrentAttrs):
    """x s8 or s16, h [B, H] s16, w_ih [3H, I] s8, w_hh [3H, H] s8, bias [4H] s32 -> [y,] h.

    Gates are in PyTorch's order r, z, n; bias and `gates` have r, z, and the two parts of n, of x and of
    h. h has the scale 2**-state_bits; its codes, of x's type, are what y has and products take:
    `out_multiplier` is of h.
    """

    kind: ClassVar[str] = "gru"
    rows: ClassVar[int] = 3
    sums: ClassVar[int] = 4
    state_bits: int

    def check(self, op: Subject) -> None:
        op.within(cells.STATE_BITS, state_bits=self.state_bits)
        self.check_layer(op, (DType.S16,))

    def split(self, w_ih: Array, w_hh: Array, bias: Array) -> list[tuple[Array, Array, Array]]:
        hidden = w_hh.shape[1]
        both, x, h = np.split(bias, [2 * hidden, 3 * hidden])
        return [
            (w_ih[: 2 * hidden], w_hh[: 2 * hidden], both),
            (w_ih[2 * hidden :], w_hh[2 * hidden :, :0], x),
            (w_ih[2 * hidden :, :0], w_hh[2 * hidden :], h),
        ]

    def compute(
        self,
        results: tuple[Tensor, ...],
        x: Array,
        h: Array,
        w_ih: Array,
        w_hh: Array,
        bias: Array,
    ) -> list[Array] | Array:
        y = np.zeros((*x.shape[:2], h.shape[1]), x.dtype)
        state = h.astype(np.int64)
        codes = self._codes(state, x)
        for place, inputs in self.steps(x):
            sums = [self.products(inputs, codes, part) for part in self.parts(w_ih, w_hh, bias)]
            both = cells.preactivation(np.concatenate(sums, axis=-1), self.gates, self.gate_shift)
            r, z, of_x, of_h = np.split(both, 4, axis=-1)
            r, z = cells.sigmoid(cells.limited(r)), cells.sigmoid(cells.limited(z))
            n = cells.tanh(cells.limited(of_x + 2 * ((of_h * r) >> 16))) >> (15 - self.state_bits)
            state = n + ((z * (state - n) + (1 << 14)) >> 15)
            codes = self._codes(state, x)
            y[place] = codes
        after = state.astype(np.int16)
        return [y, after] if self.sequence else after

    def _codes(self, state: I64, x: Array) -> I64:
        return cells.code_of(
            state, self.out_multiplier, self.out_shift, self.h_zero_point, _limits(x)
        )


@operator(
    layout=Layout.MATRICES,
    overwrites=Operands.NONE,
    work=Work.SUMS,
    channels=Channels.NONE,
    exact=True,
)
@dataclass(frozen=True)
class Rnn(RecurrentAttrs):
    """x s8 or s16, h [B, H] of its type, w_ih [H, I] s8, w_hh [H, H] s8, bias [H] s32 -> [y,] h.

    h = tanh(sum), or with `relu` max(sum, 0), whose unit is any: 2**19 of it are 1. `out_multiplier` is
    of either in Q15.
    """

    kind: ClassVar[str] = "rnn"
    relu: bool

    def check(self, op: Subject) -> None:
        self.check_layer(op, (op.x.dtype,))

    def compute(
        self,
        results: tuple[Tensor, ...],
        x: Array,
        h: Array,
        w_ih: Array,
        w_hh: Array,
        bias: Array,
    ) -> list[Array] | Array:
        y = np.zeros((*x.shape[:2], h.shape[1]), x.dtype)
        state = h.astype(np.int64)
        for place, inputs in self.steps(x):
            acc = self.products(inputs, state, self.parts(w_ih, w_hh, bias)[0])
            gate = cells.limited(cells.preactivation(acc, self.gates, self.gate_shift))
            value = np.maximum(gate, 0) >> 4 if self.relu else cells.tanh(gate)
            state = cells.code_of(
                value, self.out_multiplier, self.out_shift, self.h_zero_point, _limits(x)
            )
            y[place] = state
        after = state.astype(x.dtype)
        return [y, after] if self.sequence else after


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
            sums = limited_s16(each_rescaled(of_x, self.of_x) + each_rescaled(of_h, self.of_h))
            gates = enumerate(np.split(3 * sums, 4, axis=-1))
            i, f, g, o = (sigmoid_s16(part, is_tanh=gate == 2) for gate, part in gates)
            kept = limited_s16(Rescale(1 << 30, -14).apply(f * cell))
            cell = limited_s16(kept + limited_s16(self.fresh.apply(i * g)))
            cell = np.clip(cell, -self.cell_limit, self.cell_limit)
            place = (cell * self.cell_multiplier + (1 << self.cell_shift >> 1)) >> self.cell_shift
            shown = self.out.apply(o * sigmoid_s16(place, is_tanh=True)) + self.h_zero_point
            state = np.clip(shown, *DType.S8.limits)
            y.append(state)
        sequence = np.stack(y, axis=1 if self.batch_first else 0)
        return [sequence.astype(np.int8), state.astype(np.int8), cell.astype(np.int16)]


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
        new = limited_s16(self.feature.apply(made))
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


def _sums(weight: Array) -> I64:
    result: I64 = weight.astype(np.int64).sum(axis=1)
    return result


def _limits(x: Array) -> tuple[int, int]:
    return (DType.S8 if x.dtype == np.int8 else DType.S16).limits
