# SPDX-License-Identifier: Apache-2.0
"""Constants as the kernels with DSP instructions read them."""

from __future__ import annotations

import numpy as np

from ...ir import Array
from .packing import (
    Constants,
    Tables,
    filled_up,
    pad_fours,
    phase_depths,
    phases_with_taps,
)


def tap_pairs(constants: Constants) -> Array:
    """Weights in chunks of four channels and two taps, [chunk][two taps][8]: of the first two channels at
    both taps, then of the others. An odd tap has zeros beside it.

    Where channels are not a multiple of four the last chunk takes the last four of them.
    """
    channels = constants.channels
    starts = [min(start, channels - 4) for start in range(0, channels, 4)]
    chunks = np.array([range(start, start + 4) for start in starts])
    taps = constants.weight.reshape(-1, channels)
    taps = np.pad(taps, ((0, len(taps) % 2), (0, 0)))
    twos = taps[:, chunks].reshape(-1, 2, len(chunks), 2, 2)
    return np.ascontiguousarray(twos.transpose(2, 0, 3, 1, 4)).reshape(-1)


def _words(rows: Array) -> Array:
    """Rows in twos: 16-bit values 256 * b + (a + 128) [rows / 2, depth], an even number of them."""
    codes = np.pad(rows.astype(np.int32), [(0, extent % 2) for extent in rows.shape])
    return (256 * codes[1::2] + codes[0::2] + 128).astype("<i2")


def ends_early(depth: int) -> bool:
    """Whether inputs that are read in fours go on behind the words of a row."""
    return depth % 4 in (1, 2)


def twos(constants: Constants) -> Array:
    """Channels in twos, an odd number filled up with zeros: see kernels/src/common/dsp.h.

    Inputs are read in fours, so that a word behind the last two channels may be needed.
    """
    rows = constants.rows
    words = _words(rows).reshape(-1).view(np.int8)
    return filled_up([words], 4 if ends_early(rows.shape[1]) else 0)


def split_twos(constants: Constants) -> Array:
    """The same, with the inputs of each four in the order 0, 2, 1, 3, which their bytes are extended in:
    see kernels/src/conv/widen_dsp.h. Both words of a four are there unless it is a single input."""
    rows = constants.rows
    channels, depth = rows.shape
    fours = np.pad(rows, [(0, channels % 2), (0, -depth % 4)]).reshape(
        channels + channels % 2, -1, 4
    )
    turns = fours[:, :, [0, 2, 1, 3]].reshape(len(fours), -1)[:, : 2 * _split_words(depth)]
    words = _words(turns).reshape(-1).view(np.int8)
    return filled_up([words], 4 if depth % 4 == 1 else 0)


def _signed_words(constants: Constants) -> Array:
    """Halves 256 * b + a [pair, half], of split_twos' inputs filled up to fours."""
    rows = constants.rows
    channels, depth = rows.shape
    fours = np.pad(rows.astype(np.int32), [(0, channels % 2), (0, -depth % 4)]).reshape(
        channels + channels % 2, -1, 4
    )
    turns = fours[:, :, [0, 2, 1, 3]].reshape(len(fours), -1)
    words: Array = (256 * turns[1::2] + turns[0::2]).astype("<i2")
    return words


def signed_split_twos(constants: Constants) -> Array:
    """The same of weights from -127 on, as 256 * b + a, whose inputs are filled up to fours."""
    return _signed_words(constants).reshape(-1).view(np.int8)


def signed_split_fours(constants: Constants) -> Array:
    """The same where of every four channels the words of both pairs take turns."""
    words = _signed_words(constants)
    pairs = words.reshape(len(words), words.shape[1] // 2, 2)
    whole = len(constants.rows) // 4 * 2
    turns = pairs[:whole].reshape(whole // 2, 2, *pairs.shape[1:]).transpose(0, 2, 1, 3)
    packed: Array = np.concatenate([turns.reshape(-1), pairs[whole:].reshape(-1)])
    return packed.view(np.int8)


def four_tables(constants: Constants) -> Tables:
    """In the place of the biases, for every four channels and for those that are left: twice their biases,
    four bytes -1 - shift, and their multipliers."""
    plain = constants.tables
    biases, shifts = 2 * plain.bias.astype(np.int32), -1 - plain.shift.astype(np.int8)
    parts: list[Array] = []
    for first in range(0, constants.channels, 4):
        four = slice(first, first + 4)
        parts += [biases[four], pad_fours(shifts[four]).view("<i4"), plain.multiplier[four]]
    return Tables(np.concatenate(parts), np.zeros(0, np.int32), np.zeros(0, np.int8))


def column_twos(constants: Constants) -> Array:
    """Halves 256 * b + a of weights from -127 on, words [pair, row, half a four, column] with inputs 0 and 2
    of a four, or 1 and 3, and zeros where these are three: see kernels/src/conv/widen_dsp.h."""
    inputs = constants.weight.shape[3]
    weight = np.pad(constants.weight.astype(np.int32), [(0, 0)] * 3 + [(0, -inputs % 4)])
    halves = (256 * weight[1::2] + weight[0::2]).astype("<i2")
    pairs, high, wide, depth = halves.shape
    words = halves.reshape(pairs, high, wide, depth // 4, 2, 2).transpose(0, 1, 3, 5, 2, 4)
    return np.ascontiguousarray(words).reshape(-1).view(np.int8)


def two_tables(constants: Constants) -> Tables:
    """In the place of the biases, for every two channels: twice their plain biases, their multipliers, and a
    word whose first two bytes are -1 - shift. Its third byte is 1 where inputs, less their zero point, can
    give the second channel of any two a sum beyond 24 bits."""
    plain = constants.tables
    twos = (2 * constants.plain_bias.astype(np.int32), plain.multiplier)
    shifts = np.pad((-1 - plain.shift.astype(np.int8)).reshape(-1, 2), ((0, 0), (0, 2)))
    second = constants.rows[1::2].astype(np.int64)
    products = np.stack([second * code for code in constants.input_range])
    largest = max(-products.min(axis=0).sum(axis=1).min(), products.max(axis=0).sum(axis=1).max())
    shifts[:, 2] = largest >= 2**23
    table = np.hstack([*(each.reshape(-1, 2) for each in twos), shifts.view("<i4")])
    return Tables(table.reshape(-1), np.zeros(0, np.int32), np.zeros(0, np.int8))


def _split_words(depth: int) -> int:
    return 2 * (depth // 4) + min(depth % 4, 2)


def _pairs(rows: Array) -> tuple[Array, Array]:
    """The blocks of `pairs`, and the channels that are left."""
    whole = rows.shape[0] // 4 * 4
    words = _words(rows[:whole])
    turns = words.reshape(whole // 4, 2, words.shape[1] // 2, 2).transpose(0, 2, 1, 3)
    fours = np.pad(rows[whole:], [(0, 0), (0, -rows.shape[1] % 4)]).reshape(-1, 2, 2)
    blocks = np.ascontiguousarray(turns).reshape(-1).view(np.int8)
    return blocks, fours.transpose(0, 2, 1).reshape(-1)


def _behind_pairs(constants: Constants) -> int:
    """Bytes that are read behind the last block, less those of the channels that are left."""
    channels, depth = constants.rows.shape
    needed = 8 if channels >= 4 and ends_early(depth) else 0
    return max(0, needed - int(channels % 4 * 4 * -(-depth // 4)))


def pairs(constants: Constants) -> Array:
    """Blocks of two times two channels, whose words take turns: see common/dsp.h.

    Channels that are left follow one after another, inputs in fours w0, w2, w1, w3, filled up with
    zeros. The last block is read in fours of inputs, too, and may need words behind it.
    """
    return filled_up(_pairs(constants.rows), _behind_pairs(constants))


def _behind_phases_pairs(constants: Constants) -> int:
    early = any(ends_early(depth) for depth in phase_depths(constants))
    return 8 if early and constants.weight.shape[0] >= 4 else 0


def phases_pairs(constants: Constants) -> Array:
    """pairs of each phase of a transposed convolution, one after the other."""
    parts = [part for phase in phases_with_taps(constants) for part in _pairs(phase.rows)]
    return filled_up(parts, _behind_phases_pairs(constants))


def window_rows(constants: Constants) -> Array:
    """Depthwise weights of 3x3 windows as [out][9], and a byte that is read with the last ones."""
    return np.pad(constants.weight.reshape(9, -1).T.reshape(-1), (0, 1))
