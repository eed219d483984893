# SPDX-License-Identifier: Apache-2.0
"""Spectra of sound: windows, transform, bands and logarithm as one operator.

What lies between spans some 180 dB and would not fit in codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import numpy as np

from ..attrs import Attrs, Channels, Layout, Operands, Work, operator
from ..rules import CODES, INT32, Subject
from ..spectrum import (
    MOST_POWER,
    SIZES,
    bands,
    doubled_spectrum,
    least_shift,
    logarithm,
    root,
    windowed,
)
from ..types import Array, DType, Tensor

# A logarithm, below 2**23, times a gain and an offset below it fit in 64 bits.
_MOST_OFFSET = 2**62 - 1
_MOST_LEAST = 2**92 - 1  # with all sums of bands, 96 bits
GAIN_SHIFT = (32, 62)


@operator(
    layout=Layout.ROWS, overwrites=Operands.NONE, work=Work.SUMS, channels=Channels.NONE, exact=True
)
@dataclass(frozen=True)
class LogMel(Attrs):
    """x s16 [..., samples], window s16 [frame], weights s16 [sum of counts], both constants -> codes
    [..., frames, bands] of the logarithms of bands of spectra.

    Attributes:
        points: of the transform; a frame is at most as long, and continued with zeros.
        start, hop: frame f begins at sample start + f * hop.
        shift: samples times window lose so many bits.
        roots: whether bands add up magnitudes in place of their squares.
        under_root: added to squares of magnitudes before their root.
        first, count: of the bins in each band; weights are theirs, band by band, from 0 on.
        least: added to every sum, or the least it counts for if not `adds`.
        gains, offsets, gain_shift: of each band; (log2 * gain + offset) / 2**gain_shift is a code,
            log2 in Q16.
    """

    kind: ClassVar[str] = "log_mel"
    points: int
    start: int
    hop: int
    shift: int
    roots: bool
    under_root: int
    first: tuple[int, ...]
    count: tuple[int, ...]
    least: int
    adds: bool
    gains: tuple[int, ...]
    offsets: tuple[int, ...]
    gain_shift: int
    act_min: int
    act_max: int

    def check(self, op: Subject) -> None:
        op.counts(3)
        op.type_of(op.x, DType.S16)
        op.type_of(op.out, *CODES)
        for table, name in zip(op.ins[1:], ("window", "weights"), strict=True):
            op.type_of(table, DType.S16)
            op.rank(table, 1)
            op.require(table.data is not None, f"the {name} is no constant")
        window, weights = (table.data for table in op.ins[1:])
        assert window is not None and weights is not None
        op.require(self.points in SIZES, f"a transform of {self.points} points")
        op.require(1 <= len(window) <= self.points, f"frames of {len(window)} samples")
        op.require(bool(op.x.shape) and len(op.out.shape) == len(op.x.shape) + 1, "has no frames")
        least = least_shift(window.astype(np.int64), self.points)
        op.within((least, 30), shift=self.shift)
        op.within((0, INT32[1]), start=self.start)
        op.within((1, INT32[1]), hop=self.hop)
        bins, count = self.points // 2 + 1, len(self.first)
        op.shape_of(op.out, *op.x.shape[:-1], op.out.shape[-2], count)
        end = self.start + (op.out.shape[-2] - 1) * self.hop + len(window)
        op.require(end <= op.x.shape[-1], f"frames end at sample {end} of {op.x.shape[-1]}")
        for name in ("count", "gains", "offsets"):
            op.require(len(getattr(self, name)) == count, f"has {count} bands, but not {name}")
        op.within((0, MOST_POWER if self.roots else 0), under_root=self.under_root)
        op.within((0, bins - 1), first=self.first)
        op.within((1, bins), count=self.count)
        ends = max(f + c for f, c in zip(self.first, self.count, strict=True))
        op.require(ends <= bins, f"bands end at bin {ends} of {bins}")
        op.require(sum(self.count) == len(weights), f"{len(weights)} weights in all")
        op.require(int(weights.min(initial=0)) >= 0, "a weight is negative")
        op.within((0, _MOST_LEAST), least=self.least)
        op.within(INT32, gains=self.gains)
        op.within((-_MOST_OFFSET, _MOST_OFFSET), offsets=self.offsets)
        op.within(GAIN_SHIFT, gain_shift=self.gain_shift)
        op.clamp(self.act_min, self.act_max)

    def compute(
        self, results: tuple[Tensor, ...], x: Array, window: Array, weights: Array
    ) -> Array:
        frames, count = results[0].shape[-2:]
        places = self.start + self.hop * np.arange(frames)[:, None] + np.arange(len(window))
        cut = x.astype(np.int64).reshape(-1, x.shape[-1])[:, places].reshape(-1, len(window))
        rows = np.zeros((len(cut), self.points), np.int64)
        rows[:, : len(window)] = windowed(cut, window.astype(np.int64), self.shift)
        re, im = doubled_spectrum(rows)
        spectrum = re * re + im * im
        if self.roots:
            spectrum = root(np.minimum(spectrum + self.under_root, MOST_POWER))
        ends = [0, *accumulate(self.count)]
        parts = [weights[a:b].astype(np.int64) for a, b in zip(ends, ends[1:], strict=False)]
        sums = bands(spectrum, self.first, parts)
        logs = np.array([[self._logarithm(value) for value in row] for row in sums], np.int64)
        scaled = logs * np.array(self.gains, np.int64) + np.array(self.offsets, np.int64)
        codes = np.clip(scaled >> self.gain_shift, self.act_min, self.act_max)
        return codes.astype(results[0].dtype.numpy).reshape(results[0].shape)

    def _logarithm(self, value: int) -> int:
        return logarithm(value + self.least if self.adds else max(value, self.least))
