# SPDX-License-Identifier: Apache-2.0
"""How far tensors of the quantized model are from those of the float model.

What a tensor tells is how its values differ, so noise is judged beside their deviation from the mean of their
channel. A level that they share, as the 1013 of a barometer, tells nothing: an output that stood still at it
would be as good as one that is right.

A layer's channels are dimension 1 of an image, else the last one. Of an output they are the one of both by
which its values are told best: with the least sum over channels of n log(variance) and of log(n) for each
number that a channel has of its own (Schwarz' criterion).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from ...pte.noise import Noise
from ...pte.quality import OutputQuality

Tensor = torch.Tensor

_LEAST_VALUES = 16  # of a channel that is judged by itself
_MOST_CHANNELS = 128  # more are places, and the one where least happens says little
_ROUNDING = 1e-13  # of float32, in the square of a value


class Sums:
    """What is summed up over calls, for each channel of a layer or each element of an output: values, their
    squares, the squares of their differences, and how many they are.

    Args:
        ends: beyond them there are no codes.

    Attributes:
        sums: these four, of calls so far.
    """

    def __init__(
        self, ends: tuple[float, float] = (-math.inf, math.inf), of_elements: bool = False
    ) -> None:
        self._ends, self._of_elements = ends, of_elements
        self.sums = torch.zeros(1, 4)
        self._left_out = self._beyond = self._count = 0

    def add(self, want: Tensor, got: Tensor) -> None:
        """The next call, which should have given `want`; nothing if it has another shape."""
        if want.shape != got.shape:
            return
        low, high = self._ends
        if math.isfinite(low):
            self._beyond += int(((want < low) | (want > high)).sum())
            self._count += want.numel()
        real, coded = want.detach().double(), got.detach().double()
        sums = self._of(real, real - coded)
        if not bool(torch.isfinite(sums).all()):
            finite = torch.isfinite(real) & torch.isfinite(coded)
            self._left_out += int(finite.numel() - finite.sum())
            real, coded = (each.where(finite, 0.0) for each in (real, coded))
            sums = self._of(real, real - coded, finite.double())
        self.sums = self.sums + sums

    def _of(self, real: Tensor, error: Tensor, count: Tensor | None = None) -> Tensor:
        parts = [real, real.square(), error.square(), *([] if count is None else [count])]
        if not self._of_elements:
            axis = 1 if real.dim() >= 4 else -1
            parts = [_of_channels(torch.sum, each, axis) for each in parts]
        if count is None:
            parts.append(torch.full_like(parts[0], real.numel() / max(parts[0].numel(), 1)))
        return torch.stack(parts, -1)

    @property
    def beyond(self) -> float:
        """The share of values that are beyond the ends."""
        return self._beyond / max(self._count, 1)

    def noise(self) -> Noise:
        """Beside the deviation; of what does not deviate beside the squares."""
        found, deviation = self.total(), float(_deviations(_with_means(self.sums)).sum())
        return replace(found, signal=deviation) if deviation > 0.0 else found

    def total(self) -> Noise:
        """Beside the squares."""
        _, squares, noise, _ = (float(each.sum()) for each in self.sums.unbind(-1))
        return Noise(squares, noise, self._left_out)


def _of_channels(function: Any, values: Tensor, axis: int) -> Tensor:
    """`function` of the values of each channel along a dimension."""
    others = [d for d in range(values.dim()) if d != axis % values.dim()] if values.dim() else []
    found: Tensor = function(values, others) if others else values.reshape(-1)
    return found


def _with_means(sums: Tensor) -> Tensor:
    """Those of channels that have enough values for means of their own, else of all together."""
    if sums.numel() and float(sums[:, 3].min()) >= _LEAST_VALUES:
        return sums
    return sums.sum(0, keepdim=True)


def _deviations(sums: Tensor) -> Tensor:
    """The sums of squares of what values deviate from their mean; 0 where it is float32's rounding."""
    values, squares, _, count = sums.unbind(-1)
    found = squares - values.square() / count.clamp(min=1.0)
    return found.where(found > _ROUNDING * squares, 0.0)


class OutputNoise:
    """What is known of an output so far."""

    def __init__(self, ends: tuple[float, float] = (-math.inf, math.inf)) -> None:
        """`ends`: beyond them there are no codes."""
        self._sums = Sums(ends, of_elements=True)
        # Of the elements that should have come, of those that came, and of minus these.
        self._least: list[Tensor] = []
        self._equal = self._count = 0
        self._is_float = False

    def add(self, want: Tensor, got: Tensor) -> None:
        """The next call, which should have given `want`."""
        self._count += want.numel()
        self._is_float = want.is_floating_point()
        if not self._is_float:
            self._equal += int((want == got).sum())
            return
        self._sums.add(want, got)
        least = [want, got, -got]
        self._least = [
            torch.minimum(*each) for each in zip(self._least or least, least, strict=True)
        ]

    def quality(self) -> OutputQuality:
        """All calls together."""
        if not self._count:
            return OutputQuality(None)
        if not self._is_float:
            return OutputQuality(None, self._equal / self._count)
        elements = self._sums.sums
        axis, channels = _channels(elements)
        judged = _with_means(channels)
        both = zip(_deviations(judged).tolist(), judged[:, 2].tolist(), strict=True)
        moving = {k: Noise(*each) for k, each in enumerate(both) if each[0] > 0.0}
        found = OutputQuality(self._sums.total(), beyond=self._sums.beyond)
        if not moving:
            return found
        is_each = judged is channels and channels.shape[0] <= _MOST_CHANNELS
        if not is_each or self._are_shares(axis):
            return replace(found, about=sum(moving.values(), Noise()))
        worst = max(moving, key=lambda k: moving[k].share)
        _, low, high = (_of_channels(torch.amin, each, axis) for each in self._least)
        constant = tuple(k for k in moving if low[k] == -high[k])
        if channels.shape[0] == 1:
            return replace(found, about=moving[worst], constant=constant)
        return replace(
            found,
            about=moving[worst],
            place=(axis, worst),
            constant=constant,
            channels=tuple(moving.get(k) for k in range(channels.shape[0])),
        )

    def _are_shares(self, axis: int) -> bool:
        """Whether values along a dimension are parts of one, as those of a softmax: these have one unit."""
        values, *_, count = self._sums.sums.unbind(-1)
        whole = (values / count).sum(axis)
        return bool((self._least[0] >= 0.0).all() and ((whole - 1.0).abs() < 1e-3).all())


def _channels(elements: Tensor) -> tuple[int, Tensor]:
    """The dimension of the channels of an output, and the sums by channel of those `elements`."""
    last = elements.dim() - 2
    found = {}
    for axis in dict.fromkeys((min(1, last), last)):
        parts = [_of_channels(torch.sum, each, axis) for each in elements.unbind(-1)]
        sums, count = torch.stack(parts, -1), parts[3]
        least = 1e-12 * float(parts[1].sum() / count.sum().clamp(min=1.0)) or 1.0
        told = count * (_deviations(sums) / count).clamp(min=least).log() + 2.0 * count.sum().log()
        found[axis] = float(told.sum()), sums
    axis = min(found, key=lambda each: found[each][0])
    return axis, found[axis][1]
