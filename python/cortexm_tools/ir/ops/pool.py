# SPDX-License-Identifier: Apache-2.0
"""Pools over windows of images, int8 and float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class AvgPool2d(Attrs):
    """x [N,C,H,W] s8 -> s8; padding (top, left, bottom, right) does not count."""

    kind: ClassVar[str] = "avg_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]


@dataclass(frozen=True)
class MaxPool2d(Attrs):
    """x [N,C,H,W] s8 -> s8; padding (top, left, bottom, right) never wins."""

    kind: ClassVar[str] = "max_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    act_min: int
    act_max: int


@dataclass(frozen=True)
class FloatAvgPool2d(Attrs):
    """x [N,C,H,W] f32 -> f32; window sums divided by `divisor`.

    Without a divisor, by the number of pixels in the window: padding counts if `count_padding`,
    what hangs over the padded image never does.
    """

    kind: ClassVar[str] = "float_avg_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    declared_padding: tuple[int, int]
    count_padding: bool
    divisor: int | None


@dataclass(frozen=True)
class FloatMaxPool2d(Attrs):
    """x [N,C,H,W] f32 -> f32; padding never wins."""

    kind: ClassVar[str] = "float_max_pool2d"
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
