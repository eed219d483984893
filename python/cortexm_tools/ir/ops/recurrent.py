# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers of codes: one layer, one direction, all steps.

Sequences are [T, B, …], or [B, T, …] with `batch_first`. A gate's sum is

    bias + x . w_ih + floor(h . w_hh / 2**h_shift)

in 32 bits, which the constants prove to suffice: in each row the scale of w_ih is that of w_hh times
2**h_shift. Arithmetic: ir/recurrent.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import recurrent as cells
from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..fixed_point import I64
from ..rules import CODES, Subject
from ..types import Array, DType, Tensor


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


def _sums(weight: Array) -> I64:
    result: I64 = weight.astype(np.int64).sum(axis=1)
    return result


def _limits(x: Array) -> tuple[int, int]:
    return (DType.S8 if x.dtype == np.int8 else DType.S16).limits
