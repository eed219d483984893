# SPDX-License-Identifier: Apache-2.0
"""Constants in the form that a kernel variant reads: `pack` in kernels.json names it.

A form has three functions of the constants of a layer: its weights packed, the bytes that they take,
and its tables per channel, which are small. So kernels can be compared without packing any weights.
Kernels without `pack` read the plain form that kernels.h documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...ir import Array
from ...ir.fixed_point import Rescale, wrap32
from ...ir.wide import reduced
from .facts import chunks_filled_up


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
        weight = np.ascontiguousarray(self.weight)
        return weight.shape, self.groups, self.stride, weight.tobytes()

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
    """A convolution's weights column by column, as conv2d_mve.inc gathers the codes of a window."""
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


def filled_up(parts: Sequence[Array], behind: int) -> Array:
    """The parts one after another, and so many zeros, if that is any."""
    return np.pad(np.concatenate(parts), (0, max(0, behind)))


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


def gemm4_size(constants: Constants) -> int:
    depth = whole_depth(constants)
    return int(constants.weight.shape[0]) * depth + behind_gemm4(constants, depth=depth)


def gemm8(constants: Constants) -> Array:
    """gemm4 with blocks of eight channels: see kernels/src/linear/linear_mve.inc."""
    return filled_up([in_blocks(constants, in_chunks, size=8)], behind_gemm4(constants, block=8))


def gemm8_size(constants: Constants) -> int:
    return constants.weight.size + behind_gemm4(constants, block=8)


def _gemm4_wide(constants: Constants) -> Array:
    """gemm4_wide without what may follow."""
    return in_blocks(constants, lambda blocks: in_chunks(blocks, 8))


def gemm4_wide(constants: Constants) -> Array:
    """gemm4 in chunks of 8: see kernels/src/common/gemm_wide_mve.h."""
    return filled_up([_gemm4_wide(columns_first(constants))], behind_gemm4(constants, 8))


def gemm4_wide_size(constants: Constants) -> int:
    return constants.weight.size + behind_gemm4(constants, 8)


def tiles(constants: Constants) -> Array:
    """Channels in twos, sixteen weights of either in turns, filled up with zeros: see conv2d_tiles_mve.inc.
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


def sixteens_size(constants: Constants) -> int:
    channels, depth = constants.rows.shape
    return int(channels * (depth + -depth % 16))


def row_sixteens(constants: Constants) -> Array:
    """The same of every row of a window: see conv2d_direct there."""
    channels, height, width, depth = constants.weight.shape
    rows = constants.weight.reshape(channels, height, width * depth)
    return np.pad(rows, ((0, 0), (0, 0), (0, -width * depth % 16))).reshape(-1)


def row_sixteens_size(constants: Constants) -> int:
    channels, height, width, depth = constants.weight.shape
    return int(channels * height * (width * depth + -width * depth % 16))


def widened_pairs(constants: Constants) -> Array:
    """Two weights at a time as SMLAD multiplies them, for each output and each tap: of channels 0 and 2, 1
    and 3 of every four, or of two neighbours, with 0 for the channel before a last one that is odd; of a
    single channel those of two rows. See conv2d_widened_dsp.inc."""
    weight = constants.weight
    channels, rows, columns, depth = weight.shape
    if depth == 1:
        even = np.pad(weight[..., 0], ((0, 0), (0, rows % 2), (0, 0)))
        pairs = even.reshape(channels, -1, 2, columns).swapaxes(2, 3)
    elif depth % 4 == 0:
        pairs = weight.reshape(-1, 2, 2).swapaxes(1, 2)
    elif depth % 2 != 0:
        pairs = np.insert(weight, depth - 1, 0, axis=3)
    else:
        pairs = weight
    return np.ascontiguousarray(pairs).reshape(-1)


def widened_pairs_size(constants: Constants) -> int:
    channels, rows, columns, depth = constants.weight.shape
    inputs = (rows + rows % 2) * columns if depth == 1 else rows * columns * (depth + depth % 2)
    return int(channels * inputs)


def tile_tables(constants: Constants) -> Tables:
    """In the place of the biases four words of two channels: 256 times the bias and the shift of each, the
    first without its sign, which says whether these are the last two; and the multipliers of both."""
    plain = constants.tables
    first = plain.bias.astype(np.int32) * 256 + (plain.shift.astype(np.int32) & 255)
    words = np.stack([first.reshape(-1, 2), plain.multiplier.reshape(-1, 2)], axis=1).reshape(-1)
    words[0::4] &= 0x7FFFFFFF
    words[-4] |= np.int32(-(1 << 31))
    return Tables(words, np.zeros(0, np.int32), np.zeros(0, np.int8))


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


def behind_phases_gemm4(constants: Constants, width: int = 16) -> int:
    # Phases without taps read the last one's again.
    return max(0, width - min(phase_depths(constants))) if constants.weight.shape[0] >= 4 else 0


def phases_gemm4(constants: Constants) -> Array:
    """gemm4 of each phase of a transposed convolution, one after the other."""
    parts = [_gemm4(phase) for phase in phases_with_taps(constants)]
    return filled_up(parts, behind_phases_gemm4(constants))


def phases_gemm4_size(constants: Constants) -> int:
    return constants.weight.size + behind_phases_gemm4(constants)


def wide_phases_gemm4(constants: Constants) -> Array:
    """gemm4_wide of each phase of a transposed convolution, one after the other."""
    parts = [_gemm4_wide(phase) for phase in phases_with_taps(constants)]
    return filled_up(parts, behind_phases_gemm4(constants, 8))


def wide_phases_gemm4_size(constants: Constants) -> int:
    return constants.weight.size + behind_phases_gemm4(constants, 8)


def depthwise8(constants: Constants) -> Array:
    """Weights in chunks of eight channels, [chunk][tap][8].

    Where channels are not a multiple of eight the last chunk takes the last eight of them.
    """
    channels = constants.channels
    starts = [min(start, channels - 8) for start in range(0, channels, 8)]
    chunks = np.array([range(start, start + 8) for start in starts])
    taps = constants.weight.reshape(-1, channels)
    return np.ascontiguousarray(taps[:, chunks].transpose(1, 0, 2)).reshape(-1)


def depthwise8_size(constants: Constants) -> int:
    channels = constants.channels
    return int(constants.weight.size // channels * 8 * -(-channels // 8))


def depthwise16(constants: Constants) -> Array:
    """Weights in chunks of sixteen channels, of which there are whole ones, [chunk][tap][16]; or of eight,
    if that is all."""
    channels = constants.channels
    width = min(16, channels)
    taps = constants.weight.reshape(-1, channels // width, width)
    return np.ascontiguousarray(taps.transpose(1, 0, 2)).reshape(-1)


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


def tap_pairs_size(constants: Constants) -> int:
    channels = constants.channels
    taps = constants.weight.size // channels
    return int((taps + taps % 2) * 4 * -(-channels // 4))


def _raised(weights: Array) -> Array:
    raised = np.ascontiguousarray(weights).view(np.uint8) + np.uint8(128)  # wraps
    return raised.view(np.int8)


def raised(constants: Constants) -> Array:
    """Bytes w + 128, channels as they are: see conv2d_s16.inc."""
    return _raised(constants.rows)


def fours(constants: Constants) -> Array:
    """Bytes w + 128, in blocks of four channels [k][4]: see conv2d_s8.inc and linear.inc."""
    return _raised(signed_fours(constants))


def signed_fours(constants: Constants) -> Array:
    """The same of weights as they are."""
    return in_blocks(constants, lambda blocks: blocks.transpose(0, 2, 1))


def eights(constants: Constants) -> Array:
    """Bytes w + 128, in blocks of eight channels [k][8], then those that are left: see linear.inc."""
    rows = constants.rows
    whole = len(rows) // 8 * 8
    blocks = rows[:whole].reshape(-1, 8, rows.shape[1]).transpose(0, 2, 1)
    return _raised(np.concatenate([blocks.reshape(-1), rows[whole:].reshape(-1)]))


def tap_fours(constants: Constants) -> Array:
    """Depthwise weights [height][width][out] as [out / 4][tap][4], and [tap][rest] of what is left."""
    taps = constants.weight.reshape(-1, constants.weight.shape[-1])
    whole = taps.shape[1] // 4 * 4
    blocks = taps[:, :whole].reshape(len(taps), -1, 4).transpose(1, 0, 2)
    return np.concatenate([blocks.reshape(-1), taps[:, whole:].reshape(-1)])


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


def twos_size(constants: Constants) -> int:
    channels, depth = constants.rows.shape
    size = 4 * -(-channels // 2) * -(-depth // 2) + (4 if ends_early(depth) else 0)
    return int(size)


def split_twos(constants: Constants) -> Array:
    """The same, with the inputs of each four in the order 0, 2, 1, 3, which their bytes are extended in:
    see kernels/src/conv/conv2d_dsp.inc. Both words of a four are there unless it is a single input."""
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
    of a four, or 1 and 3, and zeros where these are three: see kernels/src/conv/conv2d_dsp.inc."""
    inputs = constants.weight.shape[3]
    weight = np.pad(constants.weight.astype(np.int32), [(0, 0)] * 3 + [(0, -inputs % 4)])
    halves = (256 * weight[1::2] + weight[0::2]).astype("<i2")
    pairs, high, wide, depth = halves.shape
    words = halves.reshape(pairs, high, wide, depth // 4, 2, 2).transpose(0, 1, 3, 5, 2, 4)
    return np.ascontiguousarray(words).reshape(-1).view(np.int8)


def column_twos_size(constants: Constants) -> int:
    inputs = constants.weight.shape[3]
    return int(constants.weight.size // inputs * (inputs + -inputs % 4))


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


def signed_split_twos_size(constants: Constants) -> int:
    channels, depth = constants.rows.shape
    return int(2 * -(-channels // 2) * (depth + -depth % 4))


def _split_words(depth: int) -> int:
    return 2 * (depth // 4) + min(depth % 4, 2)


def split_twos_size(constants: Constants) -> int:
    channels, depth = constants.rows.shape
    return int(4 * -(-channels // 2) * _split_words(depth) + (4 if depth % 4 == 1 else 0))


def _pairs(rows: Array) -> tuple[Array, Array]:
    """The blocks of `pairs`, and the channels that are left."""
    whole = rows.shape[0] // 4 * 4
    words = _words(rows[:whole])
    turns = words.reshape(whole // 4, 2, words.shape[1] // 2, 2).transpose(0, 2, 1, 3)
    fours = np.pad(rows[whole:], [(0, 0), (0, -rows.shape[1] % 4)]).reshape(-1, 2, 2)
    blocks = np.ascontiguousarray(turns).reshape(-1).view(np.int8)
    return blocks, fours.transpose(0, 2, 1).reshape(-1)


def _pairs_sizes(channels: int, depth: int) -> tuple[int, int]:
    """The bytes of both."""
    return channels // 4 * 4 * 2 * -(-depth // 2), channels % 4 * 4 * -(-depth // 4)


def _behind_pairs(constants: Constants) -> int:
    """Bytes that are read behind the last block, less those of the channels that are left."""
    channels, depth = constants.rows.shape
    needed = 8 if channels >= 4 and ends_early(depth) else 0
    return max(0, needed - _pairs_sizes(channels, depth)[1])


def pairs(constants: Constants) -> Array:
    """Blocks of two times two channels, whose words take turns: see common/dsp.h.

    Channels that are left follow one after another, inputs in fours w0, w2, w1, w3, filled up with
    zeros. The last block is read in fours of inputs, too, and may need words behind it.
    """
    return filled_up(_pairs(constants.rows), _behind_pairs(constants))


def all_pairs_size(constants: Constants) -> int:
    return sum(_pairs_sizes(*constants.rows.shape)) + _behind_pairs(constants)


def _behind_phases_pairs(constants: Constants) -> int:
    early = any(ends_early(depth) for depth in phase_depths(constants))
    return 8 if early and constants.weight.shape[0] >= 4 else 0


def phases_pairs(constants: Constants) -> Array:
    """pairs of each phase of a transposed convolution, one after the other."""
    parts = [part for phase in phases_with_taps(constants) for part in _pairs(phase.rows)]
    return filled_up(parts, _behind_phases_pairs(constants))


def phases_pairs_size(constants: Constants) -> int:
    channels = constants.weight.shape[0]
    sizes = (sum(_pairs_sizes(channels, depth)) for depth in phase_depths(constants))
    return sum(sizes) + _behind_phases_pairs(constants)


def window_rows(constants: Constants) -> Array:
    """Depthwise weights of 3x3 windows as [out][9], and a byte that is read with the last ones."""
    return np.pad(constants.weight.reshape(9, -1).T.reshape(-1), (0, 1))


def nn_channels(constants: Constants) -> Tables:
    """For CMSIS-NN: plain biases; multipliers and then shifts in 32 bits; all filled up to fours.

    On MVE it reads biases, multipliers and shifts by fours, also the last ones.
    """
    plain = constants.tables
    both = [pad_fours(plain.multiplier), pad_fours(plain.shift.astype(np.int32))]
    bias = pad_fours(constants.plain_bias)
    return Tables(bias, np.concatenate(both), np.zeros(0, np.int8))


def nn_wide(constants: Constants) -> Tables:
    """For CMSIS-NN, of int16 codes: biases of 64 bits, filled up to fours."""
    return replace(constants.tables, bias=pad_fours(constants.bias.astype(np.int64)))


def nn_eight_more(constants: Constants) -> Array:
    """Eight more weights, as on MVE those behind the ones in use are read, too."""
    return np.pad(constants.weight.reshape(-1), (0, 8))


def nn_depthwise(constants: Constants) -> Array:
    """Three more weights, as the last ones are read by fours, too."""
    return np.pad(constants.weight.reshape(-1), (0, 3))


def float_eights(constants: Constants, *, beside: bool = False) -> Array:
    """float32: eight outputs of a group side by side for each input, then four, then those that are left
    as they are. If groups are single channels of one output, four of them side by side; the last four
    may begin among those before them."""
    weight, groups = constants.weight, constants.groups
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    if not beside and are_float_channels(weight.shape, groups):
        firsts = [min(first, groups - 4) for first in range(0, groups, 4)]
        return np.concatenate([rows[first : first + 4, 0].T.reshape(-1) for first in firsts])
    eights, fours = rows.shape[1] // 8 * 8, rows.shape[1] // 4 * 4
    parts = []
    for group in rows:
        parts.append(group[:eights].reshape(-1, 8, rows.shape[2]).transpose(0, 2, 1).reshape(-1))
        parts.append(group[eights:fours].T.reshape(-1))
        parts.append((group[fours:].T if beside else group[fours:]).reshape(-1))
    return np.concatenate(parts)


def float_beside(constants: Constants) -> Array:
    """The same with the outputs that are left side by side, too, and no channels of their own."""
    return float_eights(constants, beside=True)


def float_channels(constants: Constants) -> Array:
    """float32, of groups of one channel and one output: four side by side for each tap; one or two that are
    left as they are, of three the last four."""
    rows = constants.weight.reshape(constants.groups, -1)
    if constants.groups < 4:
        return rows.reshape(-1)
    fours = (constants.groups + 1) // 4 * 4
    firsts = [min(first, constants.groups - 4) for first in range(0, fours, 4)]
    parts = [rows[first : first + 4].T.reshape(-1) for first in firsts]
    return np.concatenate([*parts, rows[fours:].reshape(-1)])


def float_channels_size(constants: Constants) -> int:
    """The weights of float_channels, by number."""
    weight, groups = constants.weight, constants.groups
    return weight.size + (groups > 3 and groups % 4 == 3) * (weight.size // groups)


def float_filled(constants: Constants) -> Array:
    """float32: eight outputs of a group side by side for each input, then those that are left, up to four or
    eight, filled up with the last one."""
    groups = constants.groups
    rows = constants.weight.reshape(groups, constants.weight.shape[0] // groups, -1)
    filled = np.pad(rows, ((0, 0), (0, filled_outputs(rows.shape[1])), (0, 0)), "edge")
    filled = filled.reshape(-1, *rows.shape[2:])
    return float_eights(Constants(filled, constants.bias, groups=groups))


def float_filled_size(constants: Constants) -> int:
    """The weights of float_filled, by number."""
    channels, groups = constants.weight.shape[0], constants.groups
    depth = constants.weight.size // channels
    return int(constants.weight.size + filled_outputs(channels // groups) * groups * depth)


def filled_outputs(outputs: int) -> int:
    """How many outputs a group has more in float_filled."""
    return -outputs % (4 if outputs % 8 <= 4 else 8)


def float_eights_size(constants: Constants) -> int:
    """The weights of float_eights, by number."""
    weight, groups = constants.weight, constants.groups
    more = -groups % 4 if are_float_channels(weight.shape, groups) else 0
    return weight.size + more * (weight.size // groups)


def are_float_channels(shape: tuple[int, ...], groups: int) -> bool:
    """Whether weights [outputs, inputs of a group, ...] are of four or more groups of one channel and
    one output."""
    return shape[0] == groups and shape[1] == 1 and groups >= 4
