# SPDX-License-Identifier: Apache-2.0
"""What a node on the way from sound to logarithms of bands is, in terms of the sound."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from torch.fx import Node

from ....ir.log_mel import Reals

FRAME = "frame"
INNER = "inner"
"""Samples, bins or bands."""
PAIR = "pair"
"""Real and imaginary part."""

Axis = int | str | None


class Stage(Enum):
    SOUND = "samples"
    FRAMES = "frames of samples, times a window"
    SPECTRUM = "complex bins of each frame"
    CONJUGATE = "the same, conjugated"
    COMPLEX_POWERS = "squares of magnitudes as complex numbers"
    PAIR = "real and imaginary part in a dimension"
    PAIR_SQUARED = "their squares"
    PARTS = "real and imaginary parts one after the other"
    PARTS_SQUARED = "their squares, one after the other"
    TURNS = "real and imaginary parts in turn"
    TURNS_SQUARED = "their squares, in turn"
    REAL = "real parts"
    REAL_SQUARED = "squares of real parts"
    IMAGINARY = "imaginary parts"
    IMAGINARY_SQUARED = "squares of imaginary parts"
    POWERS = "magnitudes to the power of `exponent`"
    SUMS = "sums of these by `bank`"
    LOGS = "factor * ln(sums) + offset"


_SQUARES = {
    Stage.PAIR: Stage.PAIR_SQUARED,
    Stage.PARTS: Stage.PARTS_SQUARED,
    Stage.TURNS: Stage.TURNS_SQUARED,
    Stage.REAL: Stage.REAL_SQUARED,
    Stage.IMAGINARY: Stage.IMAGINARY_SQUARED,
}
_LINEAR = (Stage.FRAMES, Stage.SPECTRUM, *_SQUARES)
_SQUARED = (*_SQUARES.values(), Stage.COMPLEX_POWERS, Stage.POWERS)


_BOTH = (Stage.REAL, Stage.IMAGINARY)
_BOTH_SQUARED = (Stage.REAL_SQUARED, Stage.IMAGINARY_SQUARED)
PARTS_OF = {
    Stage.PAIR: _BOTH,
    Stage.PAIR_SQUARED: _BOTH_SQUARED,
    Stage.PARTS: _BOTH,
    Stage.PARTS_SQUARED: _BOTH_SQUARED,
    Stage.TURNS: _BOTH,
    Stage.TURNS_SQUARED: _BOTH_SQUARED,
}
"""What real and imaginary part of something are."""


def _none() -> Reals:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Chain:
    """A node's place on the way.

    Attributes:
        source: the sound, [..., samples].
        axes: the name of each dimension: the source's number, FRAME, INNER or PAIR; None of one element.
        gain: of a sound that is not in frames yet; of powers.
        window: with all gains of what is linear.
        bins: the first one, and the one behind the last.
        single: bands are bins, so that a root may still follow.
        under: added to powers before their root.
        least, adds: as in ir/log_mel.py; adds is None as long as there is none.
    """

    source: Node
    axes: tuple[Axis, ...]
    stage: Stage
    start: int = 0
    hop: int = 1
    frames: int = 1
    gain: float = 1.0
    window: Reals = field(default_factory=_none)
    points: int = 0
    bins: tuple[int, int] = (0, 0)
    exponent: int = 2
    bank: Reals = field(default_factory=_none)
    single: bool = False
    under: float = 0.0
    least: float = 0.0
    adds: bool | None = None
    factor: Reals = field(default_factory=_none)
    offset: Reals = field(default_factory=_none)

    @staticmethod
    def of(node: Node, shape: tuple[int, ...]) -> Chain:
        """A sound."""
        names: list[Axis] = [n if size > 1 else None for n, size in enumerate(shape)]
        return Chain(node, (*names[:-1], INNER), Stage.SOUND)

    def having(self, **changes: Any) -> Chain:
        return replace(self, **changes)

    # -- dimensions -------------------------------------------------------------------------------

    def named(self, node: Node, names: tuple[Axis, ...]) -> Chain | None:
        """With the names of all dimensions of the node that have more than one element, in order."""
        shape = node.meta["val"].shape
        left = list(names)
        axes = tuple(left.pop(0) if size > 1 and left else None for size in shape)
        many = sum(size > 1 for size in shape)
        return self.having(axes=axes) if many == len(names) else None

    def fitted(self, node: Node) -> Chain:
        """With the names of dimensions that have one element taken away."""
        shape = node.meta["val"].shape
        names = [None] * (len(shape) - len(self.axes)) + list(self.axes)
        return self.having(
            axes=tuple(n if size > 1 else None for n, size in zip(names, shape, strict=True))
        )

    def named_like(self, node: Node, shape: tuple[int, ...], order: list[int]) -> Chain | None:
        """After a view of a tensor of this shape, whose dimensions were put in another order before."""
        new = tuple(node.meta["val"].shape)
        before = [shape[dim] for dim in order]
        if [n for n in before if n > 1] != [n for n in new if n > 1]:
            return None
        if self.stage is Stage.SOUND and new[-1] != shape[-1]:
            return None
        return self.named(node, tuple(name for name in self.axes if name is not None))

    def without(self, dim: int, keeps: bool) -> Chain:
        dim %= len(self.axes)
        return self.having(
            axes=(*self.axes[:dim], *([None] if keeps else []), *self.axes[dim + 1 :])
        )

    def is_beside(self, other: Chain) -> bool:
        """Whether it is of the same frames, points, bins and dimensions."""
        names = ("source", "axes", "start", "hop", "frames", "points", "bins")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def along_inner(self, values: Reals) -> Reals | None:
        """A constant operand as a row along INNER; None if it is another one."""
        if values.ndim > len(self.axes):
            return None
        names = self.axes[len(self.axes) - values.ndim :]
        fits = all(n == 1 or name == INNER for n, name in zip(values.shape, names, strict=True))
        return values.reshape(-1) if fits else None

    # -- frames -----------------------------------------------------------------------------------

    def framed(self, node: Node, size: int, hop: int, frames: int) -> Chain | None:
        outer = tuple(name for name in self.axes[:-1] if name is not None)
        chain = self.having(
            stage=Stage.FRAMES, hop=hop, frames=frames, window=np.full(size, self.gain), gain=1.0
        )
        return chain.named(node, (*outer, FRAME, INNER) if frames > 1 else (*outer, INNER))

    def as_frame(self, samples: int) -> Chain:
        """A sound as its only frame; frames as they are."""
        if self.stage is Stage.FRAMES:
            return self
        return self.having(stage=Stage.FRAMES, window=np.full(samples, self.gain), gain=1.0)

    def cut(self, dim: int, begin: int, end: int) -> Chain | None:
        """The elements from `begin` to `end` of a dimension."""
        name, linear = self.axes[dim], self.stage in (Stage.SOUND, Stage.FRAMES)
        count = end - begin
        if name == FRAME:
            axes = tuple(None if n == FRAME and count == 1 else n for n in self.axes)
            return self.having(start=self.start + begin * self.hop, frames=count, axes=axes)
        if name != INNER or count < 2:
            return None
        if self.stage is Stage.SOUND:
            return self.as_frame(count).having(start=begin)
        if linear:
            return self.having(start=self.start + begin, window=self.window[begin:end])
        low, high = self.bins
        bins = high - low
        if self.stage in (Stage.TURNS, Stage.TURNS_SQUARED):
            return None
        if self.stage in (Stage.PARTS, Stage.PARTS_SQUARED):
            halves = {(0, bins): 0, (bins, 2 * bins): 1}
            if (begin, end) not in halves:
                return None
            return self.having(stage=PARTS_OF[self.stage][halves[begin, end]])
        if self.stage in (Stage.SUMS, Stage.LOGS):
            return None
        return self.having(bins=(low + begin, low + end))

    def transformed(self, points: int, factor: float) -> Chain:
        return self.having(
            stage=Stage.SPECTRUM, points=points, window=self.window * factor,
            bins=(0, points // 2 + 1),
        )  # fmt: skip

    def trimmed(self) -> tuple[Reals, int]:
        """The window without the zeros at its ends, and where a frame begins then."""
        used = np.flatnonzero(self.window)
        if not len(used):
            return self.window[:1], self.start
        return self.window[used[0] : used[-1] + 1], self.start + int(used[0])

    # -- powers -----------------------------------------------------------------------------------

    def squared(self) -> Chain | None:
        if self.stage in _SQUARES:
            return self.having(stage=_SQUARES[self.stage])
        if self.stage is Stage.POWERS and self.exponent == 1:
            powers = self.having(exponent=2, gain=self.gain**2, under=0.0)
            return powers.plus(self.under * powers.gain) if self.under else powers
        return None

    def rooted(self) -> Chain | None:
        if self.stage is Stage.POWERS and self.exponent == 2:
            return self.having(exponent=1, gain=math.sqrt(self.gain))
        if self.stage is Stage.SUMS and self.single and self.exponent == 2 and self.adds:
            return self.having(
                stage=Stage.POWERS, exponent=1, gain=math.sqrt(self.gain), bank=_none(),
                under=self.least / self.gain, least=0.0, adds=None, single=False,
            )  # fmt: skip
        return None

    def summed(self, rows: Reals | None = None) -> Chain:
        """By a matrix [bands, bins]; each bin alone without one."""
        low, high = self.bins
        single = rows is None
        rows = np.eye(high - low) if rows is None else rows
        bank = np.zeros((len(rows), self.points // 2 + 1))
        bank[:, low:high] = rows * self.gain
        return self.having(stage=Stage.SUMS, bank=bank, single=single)

    # -- sums and logarithms ----------------------------------------------------------------------

    def times(self, factor: Any) -> Chain | None:
        """Times a number, or a row along INNER."""
        is_number = isinstance(factor, float)
        if self.stage is Stage.SOUND and is_number:
            return self.having(gain=self.gain * factor)
        if self.stage is Stage.FRAMES or (self.stage in _LINEAR and is_number):
            return self.having(window=self.window * factor)
        if self.stage is Stage.LOGS:
            return self.having(factor=self.factor * factor, offset=self.offset * factor)
        if not is_number or factor <= 0:
            return None
        if self.stage is Stage.POWERS:
            return self.having(gain=self.gain * factor)
        if self.stage in _SQUARED:
            return self.having(window=self.window * math.sqrt(factor))
        if self.stage is Stage.SUMS:
            return self.having(
                bank=self.bank * factor, least=self.least * factor, gain=self.gain * factor
            )
        return None

    def plus(self, term: Any) -> Chain | None:
        """With a number, or a row along INNER, added."""
        if self.stage is Stage.LOGS:
            return self.having(offset=self.offset + term)
        if not isinstance(term, float) or term < 0:
            return None
        if self.stage is Stage.POWERS:
            return self.summed().plus(term)
        if self.stage is Stage.SUMS and self.adds is not False:
            return self.having(least=self.least + term, adds=True)
        return None

    def at_least(self, bound: float) -> Chain | None:
        if self.stage is Stage.POWERS:
            return self.summed().at_least(bound)
        if self.stage is Stage.SUMS and self.adds is None and bound > 0:
            return self.having(least=bound, adds=False)
        return None

    def logarithm(self, base: float | None) -> Chain:
        factor = 1.0 / math.log(base) if base else 1.0
        if self.stage is Stage.POWERS and self.exponent == 1:  # no roots are needed
            powers = self.squared()
            assert powers is not None
            halves = powers.logarithm(base)
            return halves.having(factor=halves.factor / 2)
        if self.stage is Stage.POWERS:
            return self.summed().logarithm(base)
        count = len(self.bank)
        return self.having(stage=Stage.LOGS, factor=np.full(count, factor), offset=np.zeros(count))
