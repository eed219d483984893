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

    @property
    def rows(self) -> Array:
        """The weights of each output, [out_c, depth]."""
        if self.kind == "depthwise_conv2d":
            return self.weight.reshape(-1, self.weight.shape[-1]).T
        return self.weight.reshape(len(self.weight), -1)

    @cached_property
    def constants(self) -> Constants:
        """With the zero point folded into biases: sum w (x - z) + b = sum w x + (b - z sum w)."""
        stride = self.fields["stride_h"], self.fields["stride_w"]
        if self.wide:
            bias = self.bias if self.long else self.bias.astype(np.int32)
            return Constants(
                self.weight, bias, self.rescales, self.groups, stride=stride, wide=True
            )
        zero_point = self.fields["in_zero_point"]
        folded = self.bias - zero_point * self.rows.sum(axis=1, dtype=np.int64)
        biases = [wrap32(bias).astype(np.int32) for bias in (folded, self.bias)]
        return Constants(
            self.weight, biases[0], self.rescales, self.groups, biases[1], stride, zero_point
        )

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
