# SPDX-License-Identifier: Apache-2.0
"""Constants as the kernels with MVE read them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...ir import Array
from .packing import Constants, Tables, filled_up, in_blocks, phase_depths, phases_with_taps


def in_chunks(blocks: Array, width: int = 16) -> Array:
    """Rows [blocks, count, depth] in chunks along the depth of so many bytes a row, the first one of
    1 … `width`."""
    count, depth = blocks.shape[1:]
    first = depth - width * ((depth - 1) // width)
    head = blocks[:, :, :first].reshape(len(blocks), -1)
    tail = blocks[:, :, first:].reshape(len(blocks), count, -1, width).transpose(0, 2, 1, 3)
    return np.concatenate([head, tail.reshape(len(blocks), -1)], axis=1)


def _gemm4(constants: Constants) -> Array:
    """gemm4 without what may follow."""
    return in_blocks(constants, in_chunks)


def columns_first(constants: Constants) -> Constants:
    """A convolution's weights column by column, as conv2d_mve.h gathers the codes of a window."""
    weight = constants.weight
    if weight.ndim != 4:
        return constants
    return replace(constants, weight=weight.transpose(0, 2, 1, 3))


def whole_chunks(constants: Constants) -> Constants:
    """Columns first; the weights of windows of several pixels are filled up to `whole_depth`."""
    turned = columns_first(constants)
    filled = whole_depth(constants)
    rows = turned.rows
    if filled == rows.shape[1]:
        return turned
    return replace(turned, weight=np.pad(rows, ((0, 0), (0, filled - rows.shape[1]))))


def whole_depth(constants: Constants) -> int:
    """The weights of a channel of `whole_chunks`."""
    shape = constants.weight.shape
    depth: int = math.prod(shape[1:])
    is_window = len(shape) == 4 and shape[1] * shape[2] > 1
    return chunks_filled_up(depth) if is_window else depth


def behind_gemm4(
    constants: Constants, width: int = 16, block: int = 4, depth: int | None = None
) -> int:
    """Bytes that are read behind the last block; of channels of `depth` weights, if that is given."""
    channels = constants.weight.shape[0] // constants.groups
    if depth is None:
        depth = constants.weight.size // constants.weight.shape[0]
    return max(0, width - depth * (1 + channels % block)) if channels >= block else 0


def gemm4(constants: Constants) -> Array:
    """Blocks of four channels, each in chunks along the depth: see kernels/src/common/gemm_mve.h.

    The depth of a convolution is [kernel_w, kernel_h, in_c].
    The first chunk takes 1 … 16 bytes of each channel, so that the others have 16. It is read in
    whole vectors, which may need bytes behind the last block.
    """
    filled = whole_chunks(constants)
    return filled_up([_gemm4(filled)], behind_gemm4(filled))


def gemm8(constants: Constants) -> Array:
    """gemm4 with blocks of eight channels: see kernels/src/linear/linear_s8_mve.inc."""
    return filled_up([in_blocks(constants, in_chunks, size=8)], behind_gemm4(constants, block=8))


def _gemm4_wide(constants: Constants) -> Array:
    """gemm4_wide without what may follow."""
    return in_blocks(constants, lambda blocks: in_chunks(blocks, 8))


def gemm4_wide(constants: Constants) -> Array:
    """gemm4 in chunks of 8: see kernels/src/common/gemm_wide_mve.h."""
    return filled_up([_gemm4_wide(columns_first(constants))], behind_gemm4(constants, 8))


def tiles(constants: Constants) -> Array:
    """Channels in twos, sixteen weights of either in turns, filled up with zeros: see conv2d_4x2_mve.inc.
    Where windows are 3x3 of channels in sixteens those of the columns of a row stand side by side, with
    windows two columns apart the odd one last."""
    weight = constants.weight
    stride = constants.stride[1]
    if weight.shape[1:3] == (3, 3) and weight.shape[3] % 16 == 0 and stride <= 2:
        order = [0, 1, 2] if stride == 1 else [0, 2, 1]
        rows = weight[:, :, order].reshape(len(weight), 3, 3, -1, 16).transpose(0, 1, 3, 2, 4)
    else:
        rows = np.pad(constants.rows, ((0, 0), (0, -constants.rows.shape[1] % 16)))
    turns = rows.reshape(len(weight) // 2, 2, -1, 16).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(turns).reshape(-1)


def chunks_filled_up(depth: int) -> int:
    """So many inputs of a window, or whole chunks of 16 where at least half of one is there, or a quarter
    behind three: `depth_of` in conv2d_mve.h."""
    return (depth + 15) // 16 * 16 if depth & (8 if depth < 48 else 12) else depth


def are_rows_apart(rows: int, piece: int) -> bool:
    """Whether each of so many rows of a window, of `piece` inputs, is filled up to sixteens: where that is no
    more of them than for the whole window. Inputs of one are near each other then."""
    return rows * (-piece % 16) < 16


def sixteens(constants: Constants) -> Array:
    """The weights of every channel, or of every row of its window, filled up with zeros to sixteens: see
    conv2d_gathered_mve.inc."""
    _, height, width, depth = constants.weight.shape
    if are_rows_apart(height, width * depth):
        return row_sixteens(constants)
    rows = constants.rows
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % 16))).reshape(-1)


def row_sixteens(constants: Constants) -> Array:
    """The same of every row of a window: see conv2d_direct there."""
    channels, height, width, depth = constants.weight.shape
    rows = constants.weight.reshape(channels, height, width * depth)
    return np.pad(rows, ((0, 0), (0, 0), (0, -width * depth % 16))).reshape(-1)


def tile_tables(constants: Constants) -> Tables:
    """In the place of the biases four words of two channels: 256 times the bias and the shift of each, the
    first without its sign, which says whether these are the last two; and the multipliers of both."""
    plain = constants.tables
    first = plain.bias.astype(np.int32) * 256 + (plain.shift.astype(np.int32) & 255)
    words = np.stack([first.reshape(-1, 2), plain.multiplier.reshape(-1, 2)], axis=1).reshape(-1)
    words[0::4] &= 0x7FFFFFFF
    words[-4] |= np.int32(-(1 << 31))
    return Tables(words, np.zeros(0, np.int32), np.zeros(0, np.int8))


def behind_phases_gemm4(constants: Constants, width: int = 16) -> int:
    # Phases without taps read the last one's again.
    return max(0, width - min(phase_depths(constants))) if constants.weight.shape[0] >= 4 else 0


def phases_gemm4(constants: Constants) -> Array:
    """gemm4 of each phase of a transposed convolution, one after the other."""
    parts = [_gemm4(phase) for phase in phases_with_taps(constants)]
    return filled_up(parts, behind_phases_gemm4(constants))


def wide_phases_gemm4(constants: Constants) -> Array:
    """gemm4_wide of each phase of a transposed convolution, one after the other."""
    parts = [_gemm4_wide(phase) for phase in phases_with_taps(constants)]
    return filled_up(parts, behind_phases_gemm4(constants, 8))


def depthwise8(constants: Constants) -> Array:
    """Weights in chunks of eight channels, [chunk][tap][8].

    Where channels are not a multiple of eight the last chunk takes the last eight of them.
    """
    channels = constants.channels
    starts = [min(start, channels - 8) for start in range(0, channels, 8)]
    chunks = np.array([range(start, start + 8) for start in starts])
    taps = constants.weight.reshape(-1, channels)
    return np.ascontiguousarray(taps[:, chunks].transpose(1, 0, 2)).reshape(-1)


def depthwise16(constants: Constants) -> Array:
    """Weights in chunks of sixteen channels, of which there are whole ones, [chunk][tap][16]; or of eight,
    if that is all."""
    channels = constants.channels
    width = min(16, channels)
    taps = constants.weight.reshape(-1, channels // width, width)
    return np.ascontiguousarray(taps.transpose(1, 0, 2)).reshape(-1)
