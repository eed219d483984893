# SPDX-License-Identifier: Apache-2.0
"""Transposed convolutions of floats, whose sums have an order, as a convolution for each phase of the stride.

Each has every stride-th weight. Output r + stride * q of the full result meets with tap r + stride * t the
input q - t. So inputs and outputs are walked from the last one to the first, with negative strides: then a
later tap has a later input, as a convolution has it, and the terms keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.geometry import Window


@dataclass(frozen=True)
class AxisPhase:
    """Along an axis, the outputs from `first` on that are a stride apart, and the taps from `tap` on that
    they meet.

    Attributes:
        inputs: the first ones, which they meet.
        pad: places beyond them that the last output's window has.
    """

    tap: int
    taps: int
    first: int
    count: int
    inputs: int
    pad: int


def float_phases(
    window: Window, ins: tuple[int, ...], outs: tuple[int, ...], most: int
) -> list[tuple[AxisPhase, AxisPhase]]:
    """The phases, of rows and of columns, of a transposed convolution of floats between images of these
    sides; none where there are more than `most`, or some meet no tap or no input."""
    axes = []
    for axis, (extent, out) in enumerate(zip(ins, outs, strict=True)):
        kernel, stride, pad = (
            each[axis] for each in (window.kernel, window.stride, window.padding[:2])
        )
        phases = []
        for tap in range(stride):
            begin = -((tap - pad) // stride)  # of the first output in the full result, in strides
            first = tap + stride * begin - pad
            count = len(range(first, out, stride))
            taps = len(range(tap, kernel, stride))
            if count:
                end = begin + count
                phases.append(
                    AxisPhase(tap, taps, first, count, min(end, extent), max(0, end - extent))
                )
        axes.append(phases)
    pairs = [(row, column) for row in axes[0] for column in axes[1]]
    is_met = all(min(phase.taps, phase.inputs) > 0 for pair in pairs for phase in pair)
    is_plain = all(d == 1 or k == 1 for d, k in zip(window.dilation, window.kernel, strict=True))
    return pairs if is_met and is_plain and len(pairs) <= most else []
