# SPDX-License-Identifier: Apache-2.0
"""Constants in the form that a kernel variant reads: `pack` in kernels.json names the function.

A function takes and returns the constants of a layer; arrays per channel that it does not change
it returns as they are. Kernels without `pack` read the plain form that kernels.h documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ..ir import Array
from ..ir.arithmetic import wrap32


@dataclass(frozen=True)
class Constants:
    """The constants of a convolution or a linear layer.

    Attributes:
        weight: int8, channels first ([out_c, …]), or for depthwise [kernel_h, kernel_w, out_c].
        bias: int32 [out_c], zero point folded in.
        multiplier: int32 [out_c]; empty where the layer has one for all.
        shift: int8 [out_c], likewise.
        groups: of a convolution.
        plain_bias: int32 [out_c], without the zero point; of a convolution.
        stride, in_zero_point: of a transposed convolution.
    """

    weight: Array
    bias: Array
    multiplier: Array
    shift: Array
    groups: int = 1
    plain_bias: Array = field(default_factory=lambda: np.zeros(0, np.int32))
    stride: tuple[int, int] = (1, 1)
    in_zero_point: int = 0


def pad_channels(array: Array, block: int, groups: int = 1) -> Array:
    """Zeros after the channels (first axis) of every group, up to whole blocks."""
    if array.size == 0:
        return array
    rows = array.reshape(groups, array.shape[0] // groups, *array.shape[1:])
    missing = -rows.shape[1] % block
    padded = np.pad(rows, [(0, 0), (0, missing)] + [(0, 0)] * (rows.ndim - 2))
    return padded.reshape(-1, *array.shape[1:])


def pad_arrays(constants: Constants, block: int) -> Constants:
    """The arrays per channel, but for the weights, padded to whole blocks of each group."""
    groups = constants.groups
    return replace(
        constants,
        bias=pad_channels(constants.bias, block, groups),
        multiplier=pad_channels(constants.multiplier, block, groups),
        shift=pad_channels(constants.shift, block, groups),
    )


GEMM4_PAD = 15  # CORTEXM_GEMM_PAD of gemm_mve.h


def gemm4(constants: Constants) -> Constants:
    """Blocks of four channels, each in chunks along the depth: see kernels/src/common/gemm_mve.h.

    The first chunk takes 1 … 16 bytes of each channel, so that the others have 16.
    """
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    depth = rows.shape[1]
    blocks = pad_channels(rows, 4, constants.groups).reshape(-1, 4, depth)
    first = depth - 16 * ((depth - 1) // 16)
    head = blocks[:, :, :first].reshape(len(blocks), -1)
    tail = blocks[:, :, first:].reshape(len(blocks), 4, -1, 16).transpose(0, 2, 1, 3)
    packed = np.concatenate([head, tail.reshape(len(blocks), -1)], axis=1).reshape(-1)
    return replace(pad_arrays(constants, 4), weight=np.pad(packed, (0, GEMM4_PAD)))


def plain_bias(constants: Constants) -> Constants:
    """Biases without the zero point, for kernels that subtract it from every code."""
    return replace(constants, bias=constants.plain_bias)


def _phases(constants: Constants) -> Iterator[Constants]:
    """A convolution for each phase of a transposed one: kernels/src/common/phases.h.

    Phase (y, x) has the taps y, y + stride_h, … of x, x + stride_w, … in reverse, maybe none. The
    others meet no input, so its biases contain the zero point times the sum of its own weights only.
    """
    stride_h, stride_w = constants.stride
    for y in range(stride_h):
        for x in range(stride_w):
            weight = constants.weight[:, y::stride_h, x::stride_w][:, ::-1, ::-1]
            sums = weight.astype(np.int64).sum(axis=(1, 2, 3))
            bias = wrap32(constants.plain_bias - constants.in_zero_point * sums)
            yield replace(constants, weight=weight, bias=bias.astype(np.int32))


def phases_gemm4(constants: Constants) -> Constants:
    """gemm4 of each phase of a transposed convolution, one after the other."""
    weights, biases = [], []
    for phase in _phases(constants):
        biases.append(pad_channels(phase.bias, 4))
        if phase.weight.size:
            weights.append(gemm4(phase).weight[:-GEMM4_PAD])
    packed = np.pad(np.concatenate(weights), (0, GEMM4_PAD))
    return replace(pad_arrays(constants, 4), weight=packed, bias=np.concatenate(biases))


def depthwise8(constants: Constants) -> Constants:
    """Chunks of eight channels: weights [chunk][tap][8], arrays with even channels before odd ones.

    Where channels are no multiple of eight the last chunk takes the last eight of them.
    """
    channels = len(constants.bias)
    starts = [min(start, channels - 8) for start in range(0, channels, 8)]
    chunks = np.array([range(start, start + 8) for start in starts])
    halves = chunks[:, [0, 2, 4, 6, 1, 3, 5, 7]].reshape(-1)
    taps = constants.weight.reshape(-1, channels)
    return replace(
        constants,
        weight=np.ascontiguousarray(taps[:, chunks].transpose(1, 0, 2)).reshape(-1),
        bias=constants.bias[halves],
        multiplier=constants.multiplier[halves],
        shift=constants.shift[halves],
    )


def fours(constants: Constants) -> Constants:
    """Weights [out][...] as [group][out / 4][k][4] bytes w + 128: see triples.h and quads.h

    The outputs of each group are filled up to fours with w = 0.
    """
    weight, groups = constants.weight, constants.groups
    rows = pad_channels(weight.reshape(weight.shape[0], -1), 4, groups).astype(np.int32)
    blocks = rows.reshape(-1, 4, rows.shape[1]).transpose(0, 2, 1) + 128
    return replace(constants, weight=blocks.astype(np.uint8).reshape(-1).view(np.int8))


def tap_fours(constants: Constants) -> Constants:
    """Depthwise weights [height][width][out] as [out / 4][tap][4], filled up with zeros."""
    weight = constants.weight
    rows = weight.reshape(-1, weight.shape[-1])
    rows = np.pad(rows, [(0, 0), (0, -rows.shape[1] % 4)])
    blocks = rows.reshape(rows.shape[0], -1, 4).transpose(1, 0, 2)
    return replace(constants, weight=np.ascontiguousarray(blocks).reshape(-1))


def pairs(constants: Constants) -> Constants:
    """Weights [out][...] as [out / 4][k / 2][2][2][2] bytes: kernels/src/common/gemm_dsp.h.

    A step of two inputs has two words; word j holds outputs a = 2j and b = 2j + 1 at both inputs as
    two 16-bit values 256 * b + (a + 128). Outputs and inputs are filled up to fours with zeros.
    """
    weight = constants.weight
    rows = weight.reshape(weight.shape[0], -1).astype(np.int32)
    rows = np.pad(rows, [(0, -extent % 4) for extent in rows.shape])
    both = (256 * rows[1::2] + rows[0::2] + 128).astype("<i2")
    steps = both.reshape(-1, 2, rows.shape[1] // 2, 2).transpose(0, 2, 1, 3)
    return replace(constants, weight=np.ascontiguousarray(steps).reshape(-1).view(np.int8))


def phases_pairs(constants: Constants) -> Constants:
    """pairs of each phase of a transposed convolution, one after the other."""
    parts = list(_phases(constants))
    weights = [pairs(phase).weight for phase in parts if phase.weight.size]
    bias = np.concatenate([phase.bias for phase in parts])
    return replace(constants, weight=np.concatenate(weights), bias=bias)


def window_rows(constants: Constants) -> Constants:
    """Depthwise weights of 3x3 windows as [out][3][4]: the taps w0, w1, w1, w2 of each row."""
    rows = constants.weight.reshape(3, 3, -1).transpose(2, 0, 1)
    return replace(constants, weight=np.ascontiguousarray(rows[:, :, [0, 1, 1, 2]]).reshape(-1))


def nn_channels(constants: Constants) -> Constants:
    """For CMSIS-NN: plain biases; multipliers and then shifts in 32 bits; all filled up to fours.

    On MVE it reads biases, multipliers and shifts by fours, also the last ones.
    """
    tables = [constants.multiplier, constants.shift.astype(np.int32)]
    return replace(
        constants,
        bias=pad_channels(constants.plain_bias, 4),
        multiplier=np.concatenate([pad_channels(table, 4) for table in tables]),
        shift=np.zeros(0, np.int8),
    )


def nn_depthwise(constants: Constants) -> Constants:
    """The same, and three more weights, as the last ones are read by fours, too."""
    weight = np.pad(constants.weight.reshape(-1), (0, 3))
    return replace(nn_channels(constants), weight=weight)


PACKERS: dict[str, Callable[[Constants], Constants]] = {
    "": lambda constants: constants,
    "depthwise8": depthwise8,
    "fours": fours,
    "gemm4": gemm4,
    "nn_channels": nn_channels,
    "nn_depthwise": nn_depthwise,
    "pairs": pairs,
    "phases_gemm4": phases_gemm4,
    "phases_pairs": phases_pairs,
    "plain_bias": plain_bias,
    "tap_fours": tap_fours,
    "window_rows": window_rows,
}
