# SPDX-License-Identifier: Apache-2.0
"""Constants in the form that a kernel variant reads: `pack` in kernels.json names it.

A form has two functions of the constants of a layer: its weights packed, and its tables per channel. How
many weights there are depends on shapes alone, so that kernels are compared without packing each layer's.
Kernels without `pack` read the plain form that kernels.h documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...ir import Array
from ...ir.fixed_point import Rescale, wrap32
from ...ir.wide import reduced


def digest(data: Array) -> bytes:
    """What tells the bytes of an array from others."""
    return hashlib.sha256(data.tobytes()).digest()


@dataclass(frozen=True)
class Constants:
    """The constants of a convolution or a linear layer.

    Attributes:
        weight: int8, channels first ([out_c, …]), or for depthwise [kernel_h, kernel_w, out_c]; of floats
            float32.
        bias: int32 [out_c], zero point folded in; int64 where the sums need it. Floats have none here.
        rescales: one for each channel; none where the layer has one for all.
        groups: of a convolution.
        plain_bias: int32 [out_c], without the zero point; of a convolution.
        stride: of a transposed convolution.
        in_zero_point: of a convolution.
        wide: the codes are int16, whose multipliers are reduced to 16 bits.
    """

    weight: Array
    bias: Array
    rescales: tuple[Rescale, ...] = ()
    groups: int = 1
    plain_bias: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    stride: tuple[int, int] = (1, 1)
    in_zero_point: int = 0
    wide: bool = False

    @cached_property
    def content(self) -> tuple[object, ...]:
        """Equal for weights that are packed to equal bytes in one form."""
        return self.weight.shape, self.groups, self.stride, digest(self.weight)

    @cached_property
    def tables(self) -> Tables:
        """What belongs to each channel, as it is."""
        multipliers = [rescale.multiplier for rescale in self.rescales]
        multiplier = np.array(multipliers, np.int32)
        if self.wide:
            multiplier = np.array([reduced(each) for each in multipliers], np.int16)
        return Tables(
            self.bias, multiplier, np.array([rescale.shift for rescale in self.rescales], np.int8)
        )

    @property
    def input_range(self) -> tuple[int, int]:
        """The lowest and the highest int8 code less the zero point."""
        return -128 - self.in_zero_point, 127 - self.in_zero_point

    @property
    def channels(self) -> int:
        """Output channels."""
        return len(self.bias)

    @property
    def rows(self) -> Array:
        """The weights of every channel: [out_c, depth]."""
        return self.weight.reshape(self.weight.shape[0], -1)


@dataclass(frozen=True)
class Tables:
    """The constants per channel that a kernel reads; without requantizations if there is one for all.

    Attributes:
        bias: int32, or int64.
        multiplier: int32, or int16; shift: int8.
    """

    bias: Array
    multiplier: Array
    shift: Array


def narrow(constants: Constants) -> Tables:
    """Multipliers in 16 bits, as the lower half of each is zero."""
    tables = constants.tables
    if constants.wide:
        return tables
    upper = tables.multiplier.astype(np.int32) >> 16
    return replace(tables, multiplier=upper.astype(np.int16))


def pad_fours(array: Array) -> Array:
    """Zeros after the channels (first axis), up to fours."""
    return np.pad(array, [(0, -array.shape[0] % 4)] + [(0, 0)] * (array.ndim - 1))


def in_blocks(
    constants: Constants,
    block: Callable[[Array], Array],
    rest: Callable[[Array], Array] = lambda rows: rows.reshape(-1),
    size: int = 4,
) -> Array:
    """The weights of each group: blocks of `size` channels, then those that are left.

    Args:
        block: the bytes of weights [blocks, size, depth], blocks first.
        rest: those of the channels [count, depth] that are left; default: as they are.
    """
    weight, groups = constants.weight, constants.groups
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    whole = rows.shape[1] // size * size
    parts: list[Array] = [np.zeros(0, np.int8)]
    for group in rows:
        if whole:
            parts.append(block(group[:whole].reshape(-1, size, rows.shape[2])).reshape(-1))
        parts.append(rest(group[whole:]))
    return np.concatenate(parts)


def filled_up(parts: Sequence[Array], behind: int) -> Array:
    """The parts one after another, and so many zeros, if that is any."""
    return np.pad(np.concatenate(parts), (0, max(0, behind)))


def plain_bias(constants: Constants) -> Tables:
    """Biases without the zero point, for kernels that subtract it from every code."""
    return replace(constants.tables, bias=constants.plain_bias)


def narrow_plain_bias(constants: Constants) -> Tables:
    """The same, with multipliers in 16 bits."""
    return replace(plain_bias(constants), multiplier=narrow(constants).multiplier)


def _phases(constants: Constants) -> Iterator[Constants]:
    """A convolution for each phase of a transposed one: kernels/src/common/taps.h.

    Phase (y, x) has the taps y, y + stride_h, … of x, x + stride_w, … in reverse, maybe none. The
    others meet no input, so its biases contain the zero point times the sum of its own weights only.
    Those of int16 codes, which have none, are the layer's.
    """
    stride_h, stride_w = constants.stride
    for y in range(stride_h):
        for x in range(stride_w):
            weight = constants.weight[:, y::stride_h, x::stride_w][:, ::-1, ::-1]
            if constants.wide:
                yield replace(constants, weight=weight)
                continue
            sums = weight.astype(np.int64).sum(axis=(1, 2, 3))
            bias = wrap32(constants.plain_bias - constants.in_zero_point * sums)
            yield replace(constants, weight=weight, bias=bias.astype(np.int32))


def phase_biases(constants: Constants) -> Tables:
    """The biases of each phase, one after the other."""
    biases = [phase.bias for phase in _phases(constants)]
    return replace(constants.tables, bias=np.concatenate(biases))


def narrow_phases(constants: Constants) -> Tables:
    """The same, with multipliers in 16 bits."""
    return replace(phase_biases(constants), multiplier=narrow(constants).multiplier)


def phases_with_taps(constants: Constants) -> list[Constants]:
    """The phases that have any."""
    return [phase for phase in _phases(constants) if phase.weight.size]


def phase_depths(constants: Constants) -> list[int]:
    """Weights of a channel in each phase that has any, without taking them."""
    _, height, width, in_c = constants.weight.shape
    stride_h, stride_w = constants.stride
    rows = [len(range(y, height, stride_h)) for y in range(stride_h)]
    columns = [len(range(x, width, stride_w)) for x in range(stride_w)]
    return [count * n * in_c for count in rows for n in columns if count * n * in_c]
