# SPDX-License-Identifier: Apache-2.0
"""A convolution of codes: what is computed, whatever kernel does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...ir import Array
from ...ir.fixed_point import I64, Rescale, wrap32
from ..kernels.packing import Constants


@dataclass(frozen=True)
class ConvProblem:
    """A convolution of one image.

    Attributes:
        kind: conv2d, depthwise_conv2d or transpose_conv2d.
        fields: the integers of the parameter block: extents, window, places, channels, groups, zero points.
        weight: int8 [out_c, kernel_h, kernel_w, in_c / groups], of depthwise ones [1, kernel_h, kernel_w,
            out_c].
        bias: of each output, without the zero point.
        rescales: one for each output.
        wide: the codes are int16; then `long` if 32 bits do not hold the sums.
    """

    kind: str
    fields: Mapping[str, int]
    weight: Array
    bias: I64
    rescales: tuple[Rescale, ...]
    wide: bool = False
    long: bool = False

    @property
    def groups(self) -> int:
        return self.fields["groups"]

    @cached_property
    def rows(self) -> Array:
        """The weights of each output, int64 [out_c, depth]."""
        wide = self.weight.astype(np.int64)
        if self.kind == "depthwise_conv2d":
            return wide.reshape(-1, wide.shape[-1]).T
        return wide.reshape(len(wide), -1)

    @cached_property
    def constants(self) -> Constants:
        """With the zero point folded into biases: sum w (x - z) + b = sum w x + (b - z sum w)."""
        stride = self.fields["stride_h"], self.fields["stride_w"]
        given = self.weight, self.rescales, self.groups
        if self.wide:
            bias = self.bias if self.long else self.bias.astype(np.int32)
            weight, rescales, groups = given
            return Constants(weight, bias, rescales, groups, stride=stride, wide=True)
        zero_point = self.fields["in_zero_point"]
        folded, plain = (
            wrap32(self.bias - z * self.rows.sum(axis=1)).astype(np.int32) for z in (zero_point, 0)
        )
        weight, rescales, groups = given
        return Constants(weight, folded, rescales, groups, plain, stride, zero_point)

    def with_pixels(self, count: int, weight: Array, **fields: int) -> ConvProblem:
        """With `count` of the model's pixels in one, whose outputs follow each other.

        Args:
            weight: those of all outputs of the first pixel come first.
            fields: that change besides.
        """
        out_c = count * self.fields["out_c"]
        changed = {**self.fields, "out_c": out_c, "out_pixel_stride": out_c, **fields}
        bias, rescales = np.tile(self.bias, count), self.rescales * count
        return replace(self, fields=changed, weight=weight, bias=bias, rescales=rescales)
