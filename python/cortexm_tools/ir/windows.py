# SPDX-License-Identifier: Apache-2.0
"""The windows of adaptive pools as pools of equal windows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """Neighbouring outputs whose windows are of one size, at one distance.

    Attributes:
        start: where the first window begins.
        size: of each window.
        stride: from one window to the next.
        count: how many there are.
    """

    start: int
    size: int
    stride: int
    count: int

    @property
    def length(self) -> int:
        """From the beginning of the first window to the end of the last."""
        return (self.count - 1) * self.stride + self.size


def runs_of(size: int, outputs: int) -> tuple[Run, ...]:
    """The runs of an adaptive pool from `size` elements to `outputs`.

    Output i is the pool of the elements floor(i size / outputs) to ceil((i + 1) size / outputs),
    the last one excluded (ATen's adaptive pools).
    """
    windows = [(i * size // outputs, -(-(i + 1) * size // outputs)) for i in range(outputs)]
    runs: list[Run] = []
    for begin, end in windows:
        last = runs[-1] if runs else None
        if last is not None and end - begin == last.size:
            step = begin - last.start - (last.count - 1) * last.stride
            if step > 0 and (last.count == 1 or step == last.stride):
                runs[-1] = Run(last.start, last.size, step, last.count + 1)
                continue
        runs.append(Run(begin, end - begin, 1, 1))
    return tuple(runs)
