# SPDX-License-Identifier: Apache-2.0
"""The forms of weights of 4 bits, codes from -8 to 7: two in a byte, as kernels of s8w4 and s16w4 read
them."""

from __future__ import annotations

import numpy as np

from ...ir import Array
from .packing import Constants, filled_up, in_blocks, phase_depths, phases_with_taps
from .packing_dsp import ends_early
from .packing_mve import (
    behind_gemm4,
    behind_phases_gemm4,
    columns_first,
    depthwise8,
    in_chunks,
    whole_chunks,
)
from .packing_scalar import tap_fours


def halves(low: Array, high: Array) -> Array:
    """Two arrays of 4 bits in each byte; of codes their two's complement."""
    codes = low.astype(np.int32) & 15 | (high.astype(np.int32) & 15) << 4
    return codes.astype(np.uint8).view(np.int8)


def _raised(codes: Array) -> Array:
    """From 0 to 15."""
    raised: Array = codes.astype(np.int32) + 8
    return raised


def _by_inputs(rows: Array, count: int) -> Array:
    """Rows [out, depth] as [out, depth / count, count], filled up with zeros."""
    padded = np.pad(rows, [(0, 0), (0, -rows.shape[1] % count)])
    return padded.reshape(len(rows), padded.shape[1] // count, count)


def nn_nibbles(constants: Constants) -> Array:
    """For CMSIS-NN: in their order, an odd number filled up with a zero, and two bytes more, as on MVE
    four channels are read at once."""
    flat = constants.weight.reshape(-1)
    codes = np.pad(flat, (0, flat.size % 2)).reshape(-1, 2)
    return np.pad(halves(codes[:, 0], codes[:, 1]), (0, 2))


def nibble_twos(constants: Constants) -> Array:
    """Bytes 16 * b + (a + 8) of channels in twos, an odd number filled up with zeros, for the inputs
    k, k + 2, k + 1, k + 3 in a word: see kernels/src/common/products_dsp.h."""
    rows = constants.rows
    quads = _by_inputs(np.pad(rows, [(0, len(rows) % 2), (0, 0)]), 4)[:, :, [0, 2, 1, 3]]
    return halves(_raised(quads[0::2]), quads[1::2]).reshape(-1)


def nibble_channels(constants: Constants) -> Array:
    """Bytes 16 * b + (a + 8) of two channels, an odd number filled up with a zero, in blocks of four
    channels, [input][two]; then those of the channels that are left: see transpose_conv2d_s8.inc."""

    def block(blocks: Array) -> Array:
        packed = halves(_raised(blocks[:, 0::2]), blocks[:, 1::2])
        return packed.transpose(0, 2, 1)

    def rest(rows: Array) -> Array:
        padded = np.pad(rows, [(0, len(rows) % 2), (0, 0)])
        return block(padded[None]).reshape(-1)

    return in_blocks(constants, block, rest)


def _nibble_pairs(rows: Array) -> Array:
    """nibble_pairs without what may follow."""
    whole = len(rows) // 4 * 4
    a, b, c, d = (_by_inputs(rows[i:whole:4], 2) for i in range(4))
    blocks = np.stack([halves(_raised(a), _raised(b)), halves(_raised(c), d)], axis=3)
    # Of a word's halves each has four inputs in its nibbles.
    order = np.array([[0, 2], [4, 6], [1, 3], [5, 7]])
    rest = _by_inputs(_raised(rows[whole:]), 8)[:, :, order]
    return np.concatenate([blocks.reshape(-1), halves(rest[..., 0], rest[..., 1]).reshape(-1)])


def _behind_nibble_pairs(constants: Constants) -> int:
    channels, depth = constants.rows.shape
    needed = 4 if channels >= 4 and ends_early(depth) else 0
    return max(0, needed - int(channels % 4 * 4 * -(-depth // 8)))


def nibble_pairs(constants: Constants) -> Array:
    """Words of four channels at two inputs, then channels that are left, eight inputs in a word: see
    kernels/src/common/products_dsp.h. The last block is read in fours of inputs, as in `pairs`."""
    return filled_up([_nibble_pairs(constants.rows)], _behind_nibble_pairs(constants))


def _behind_phases_nibble_pairs(constants: Constants) -> int:
    early = any(ends_early(depth) for depth in phase_depths(constants))
    return 4 if early and constants.weight.shape[0] >= 4 else 0


def phases_nibble_pairs(constants: Constants) -> Array:
    """nibble_pairs of each phase of a transposed convolution, one after the other."""
    parts = [_nibble_pairs(phase.rows) for phase in phases_with_taps(constants)]
    return filled_up(parts, _behind_phases_nibble_pairs(constants))


def nibble_vectors(codes: Array, width: int = 16) -> Array:
    """Codes in vectors of 32, or twice `width`, two in a byte: those of the first half in the lower
    halves. The last vector has as many bytes as it has codes, at most `width`."""
    whole = codes.size // (2 * width) * 2 * width
    vectors = codes[:whole].reshape(-1, 2, width)
    low, high = codes[whole:][:width], codes[whole:][width:]
    last = halves(low, np.pad(high, (0, low.size - high.size)))
    return np.concatenate([halves(vectors[:, 0], vectors[:, 1]).reshape(-1), last])


def nibble_depthwise8(constants: Constants) -> Array:
    """The codes of depthwise8 as `nibble_vectors`."""
    return nibble_vectors(depthwise8(constants))


def nibble_fours(constants: Constants) -> Array:
    """Blocks of four channels, codes w + 8 of the inputs k and k + 1 in a byte, [k / 2][4]; then rows
    of the channels that are left: see conv2d_s8.inc and linear.inc."""

    def block(blocks: Array) -> Array:
        packed = _input_twos(blocks.reshape(-1, blocks.shape[2]))
        return packed.reshape(len(blocks), 4, -1).transpose(0, 2, 1)

    return in_blocks(constants, block, lambda left: _input_twos(left).reshape(-1))


def nibble_signed_fours(constants: Constants) -> Array:
    """The same with halves that are the weights."""
    signed: Array = np.bitwise_xor(nibble_fours(constants), np.int8(-0x78))  # 8 in either half
    return signed


def _input_twos(rows: Array) -> Array:
    """Rows of codes w + 8 of the inputs k and k + 1 in a byte: [channels, depth / 2]."""
    twos = _raised(_by_inputs(rows, 2))
    return halves(twos[:, :, 0], twos[:, :, 1])


def nibble_eights(constants: Constants) -> Array:
    """Codes w + 8 in blocks of eight channels: a word for each input, with four channels in the lower
    halves of its bytes and the other four in the upper ones; then rows of the channels that are left, two
    inputs in a byte: see linear.inc."""
    rows = constants.rows
    whole = len(rows) // 8 * 8
    blocks = _raised(rows[:whole]).reshape(-1, 2, 4, rows.shape[1]).transpose(0, 3, 1, 2)
    words = halves(blocks[:, :, 0], blocks[:, :, 1])
    return np.concatenate([words.reshape(-1), _input_twos(rows[whole:]).reshape(-1)])


def nibble_lines(constants: Constants) -> Array:
    """Codes w + 8, each channel's in words of eight, the first four in the lower halves of its bytes: see
    conv2d_s16.inc."""
    words = _raised(_by_inputs(constants.rows, 8))
    return halves(words[:, :, :4], words[:, :, 4:]).reshape(-1)


def nibbles(constants: Constants) -> Array:
    """The codes in their order, two in a byte: see kernels/src/common/nibbles.h."""
    return _in_twos(constants.weight.reshape(-1))


def nibble_tap_fours(constants: Constants) -> Array:
    """The codes of tap_fours, two in a byte: see kernels/src/common/nibbles.h."""
    return _in_twos(tap_fours(constants))


def nibble_rows(constants: Constants) -> Array:
    """The codes of window_rows, two in a byte: see kernels/src/common/nibbles.h."""
    return _in_twos(constants.weight.reshape(9, -1).T.reshape(-1))


def _in_twos(codes: Array) -> Array:
    """Codes two in a byte, the last one maybe alone."""
    padded = np.pad(codes, (0, codes.size % 2))
    return halves(padded[0::2], padded[1::2])


def _nibble_gemm4(constants: Constants, block: int = 4) -> Array:
    """nibble_gemm4 without what may follow, in blocks of so many channels."""
    return in_blocks(
        constants,
        lambda blocks: in_chunks(halves(blocks[:, 0::2], blocks[:, 1::2])),
        lambda rows: np.concatenate([np.zeros(0, np.int8), *map(nibble_vectors, rows)]),
        block,
    )


def nibble_gemm4(constants: Constants) -> Array:
    """gemm4 with two channels in a byte; those that are left as `nibble_vectors`."""
    filled = whole_chunks(constants)
    return filled_up([_nibble_gemm4(filled)], behind_gemm4(filled))


def nibble_gemm8(constants: Constants) -> Array:
    """gemm8 with two channels in a byte; those that are left as `nibble_vectors`."""
    return filled_up([_nibble_gemm4(constants, 8)], behind_gemm4(constants, block=8))


def nibble_gemm4_wide(constants: Constants) -> Array:
    """gemm4_wide with two channels in a byte; those that are left as `nibble_vectors` of 16."""
    packed = in_blocks(
        columns_first(constants),
        lambda blocks: in_chunks(halves(blocks[:, 0::2], blocks[:, 1::2]), 8),
        lambda rows: np.concatenate(
            [np.zeros(0, np.int8), *(nibble_vectors(row, 8) for row in rows)]
        ),
    )
    return filled_up([packed], behind_gemm4(constants, 8))


def phases_nibble_gemm4(constants: Constants) -> Array:
    """nibble_gemm4 of each phase of a transposed convolution, one after the other."""
    parts = [_nibble_gemm4(phase) for phase in phases_with_taps(constants)]
    return filled_up(parts, behind_phases_gemm4(constants))
