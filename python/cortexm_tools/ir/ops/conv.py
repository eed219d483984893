# SPDX-License-Identifier: Apache-2.0
"""Convolutions, int8 and float32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..attrs import Attrs


@dataclass(frozen=True)
class ConvAttrs(Attrs):
    """What all int8 convolutions share. Pairs are (height, width).

    `padding` is (top, left, bottom, right), in input pixels of value `in_zero_point`.
    `multipliers` and `shifts` hold one entry per output channel.
    """

    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    in_zero_point: int
    out_zero_point: int
    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]
    act_min: int
    act_max: int


@dataclass(frozen=True)
class Conv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [O,KH,KW,C/groups] s8, [bias [O] s32] -> [N,O,H',W'] s8."""

    kind: ClassVar[str] = "conv2d"
    groups: int = 1


@dataclass(frozen=True)
class DepthwiseConv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [1,KH,KW,O] s8, [bias [O] s32] -> [N,O,H',W'] s8.

    Output channel o reads input channel o // (O // C).
    """

    kind: ClassVar[str] = "depthwise_conv2d"


@dataclass(frozen=True)
class TransposeConv2d(ConvAttrs):
    """x [N,C,H,W] s8, weight [O,KH,KW,C] s8, [bias [O] s32] -> [N,O,H',W'] s8.

    Here `padding` cuts rows and columns off the full result, as in PyTorch; what output_padding
    adds at the bottom and right is in the output's shape.
    """

    kind: ClassVar[str] = "transpose_conv2d"


@dataclass(frozen=True)
class FloatConv2d(Attrs):
    """x [N,C,H,W] f32, weight [O,C/groups,KH,KW] f32, [bias [O] f32] -> [N,O,H',W'] f32.

    `padding` is (top, left, bottom, right), with zeros.
    """

    kind: ClassVar[str] = "float_conv2d"
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    groups: int


@dataclass(frozen=True)
class FloatTransposeConv2d(Attrs):
    """x [N,C,H,W] f32, weight [C,O/groups,KH,KW] f32, [bias [O] f32] -> [N,O,H',W'] f32.

    `padding` as in TransposeConv2d: it cuts off the full result.
    """

    kind: ClassVar[str] = "float_transpose_conv2d"
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    groups: int
