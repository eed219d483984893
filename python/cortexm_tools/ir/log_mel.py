# SPDX-License-Identifier: Apache-2.0
"""From logarithms of bands of spectra in real numbers to the integers of the operator LogMel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .fixed_point import I64
from .ops.spectrum import GAIN_SHIFT, LogMel
from .spectrum import MOST_POWER, least_shift

Reals = npt.NDArray[np.float64]

_LARGEST = 2**15 - 1  # codes of windows and weights
_ONE = 2**16  # of a logarithm in Q16
_MOST_LEAST = 2**92 - 1


@dataclass(frozen=True)
class RealLogMel:
    """factor * ln(sum) + offset of each band, with its sum of bank * |X|**2, or of bank * |X|.

    Attributes:
        points: of the transform X; frame f begins at sample start + f * hop.
        window: [frame], at most `points`.
        bank: [bands, points / 2 + 1], not negative.
        roots: whether sums are of |X|, or of sqrt(|X|**2 + under).
        least: added to the sums, or the least that they count for if not `adds`.
        factor, offset: [bands].
    """

    points: int
    start: int
    hop: int
    window: Reals
    bank: Reals
    roots: bool
    least: float
    adds: bool
    factor: Reals
    offset: Reals
    under: float = 0.0

    def on_codes(
        self, scale: float, out_scale: float, out_zero_point: int, act_min: int, act_max: int
    ) -> tuple[LogMel, I64, I64] | None:
        """The operator for samples of `scale` and results of `out_scale`, its window and weights;
        None if a step of the logarithm is more than half a code."""
        highest = float(np.abs(self.window).max()) or 1.0
        window = np.round(self.window * (_LARGEST / highest)).astype(np.int64)
        shift = least_shift(window, self.points)
        loudest = float(self.bank.max()) or 1.0
        codes = np.round(self.bank * (_LARGEST / loudest)).astype(np.int64)
        first, count, weights = _sparse(codes)
        # The operator's sums are those of real numbers times unit.
        amplitude = 2.0 * 2.0**-shift * (_LARGEST / highest) / scale
        unit = _LARGEST / loudest * (amplitude if self.roots else amplitude**2)
        gains = self.factor * math.log(2) / (_ONE * out_scale)
        offsets = (self.offset - self.factor * math.log(unit)) / out_scale + out_zero_point + 0.5
        gain_shift = _most_shift(gains, offsets)
        if gain_shift < GAIN_SHIFT[0]:
            return None
        return (
            LogMel(
                points=self.points,
                start=self.start,
                hop=self.hop,
                shift=shift,
                roots=self.roots,
                under_root=min(round(self.under * amplitude**2), MOST_POWER) if self.roots else 0,
                first=first,
                count=count,
                least=min(round(self.least * unit), _MOST_LEAST),
                adds=self.adds,
                gains=_scaled(gains, gain_shift),
                offsets=_scaled(offsets, gain_shift),
                gain_shift=gain_shift,
                act_min=act_min,
                act_max=act_max,
            ),
            window,
            weights,
        )


def _sparse(codes: I64) -> tuple[tuple[int, ...], tuple[int, ...], I64]:
    """First bin and number of bins of each band, and the weights of these."""
    first, count, weights = [], [], []
    for row in codes:
        used = np.flatnonzero(row)
        low, high = (int(used[0]), int(used[-1])) if len(used) else (0, 0)
        first.append(low)
        count.append(high + 1 - low)
        weights.append(row[low : high + 1])
    return tuple(first), tuple(count), np.concatenate(weights)


def _most_shift(gains: Reals, offsets: Reals) -> int:
    """The most bits of fraction with which gains have 32 bits, and offsets 63."""
    bits = (
        31 - math.frexp(float(np.abs(gains).max()))[1],
        62 - math.frexp(float(np.abs(offsets).max()))[1],
        GAIN_SHIFT[1],
    )
    return min(bits)


def _scaled(values: Any, shift: int) -> tuple[int, ...]:
    return tuple(round(float(value) * 2.0**shift) for value in values)
