# SPDX-License-Identifier: Apache-2.0
"""Constants in the form that a kernel variant reads: `pack` in kernels.json names the function.

A function takes and returns the constants of a layer; arrays per channel that it does not change
it returns as they are. Kernels without `pack` read the plain form that kernels.h documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...ir import Array
from ...ir.fixed_point import wrap32


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


def pad_fours(array: Array) -> Array:
    """Zeros after the channels (first axis), up to fours."""
    return np.pad(array, [(0, -array.shape[0] % 4)] + [(0, 0)] * (array.ndim - 1))


def in_blocks(constants: Constants, block: Callable[[Array], Array]) -> Array:
    """The weights of each group: blocks of four channels, then those that are left as they are.

    Args:
        block: the bytes of weights [blocks, 4, depth], blocks first.
    """
    weight, groups = constants.weight, constants.groups
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    whole = rows.shape[1] // 4 * 4
    if whole == 0:
        return weight.reshape(-1)
    blocks = block(rows[:, :whole].reshape(-1, 4, rows.shape[2]))
    rest = rows[:, whole:].reshape(groups, -1)
    packed: Array = np.concatenate([blocks.reshape(groups, -1), rest], axis=1)
    return packed.reshape(-1)


def _gemm4(constants: Constants) -> Array:
    """gemm4 without what may follow."""
    depth = constants.weight.size // constants.weight.shape[0]
    first = depth - 16 * ((depth - 1) // 16)

    def chunks(blocks: Array) -> Array:
        head = blocks[:, :, :first].reshape(len(blocks), -1)
        tail = blocks[:, :, first:].reshape(len(blocks), 4, -1, 16).transpose(0, 2, 1, 3)
        return np.concatenate([head, tail.reshape(len(blocks), -1)], axis=1)

    return in_blocks(constants, chunks)


def _filled_up(parts: Sequence[Array], behind: int) -> Array:
    """The parts one after another, and so many zeros, if that is any."""
    return np.pad(np.concatenate(parts), (0, max(0, behind)))


def gemm4(constants: Constants) -> Constants:
    """Blocks of four channels, each in chunks along the depth: see kernels/src/common/gemm_mve.h.

    The first chunk takes 1 … 16 bytes of each channel, so that the others have 16. It is read in
    whole vectors, which may need bytes behind the last block.
    """
    channels = constants.weight.shape[0] // constants.groups
    depth = constants.weight.size // constants.weight.shape[0]
    behind = 16 - depth * (1 + channels % 4) if channels >= 4 else 0
    return replace(constants, weight=_filled_up([_gemm4(constants)], behind))


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
    parts = list(_phases(constants))
    taps = [phase for phase in parts if phase.weight.size]
    channels = constants.weight.shape[0]
    least = min(phase.weight.size // channels for phase in taps)
    behind = 16 - least if channels >= 4 else 0  # phases without taps read the last one's again
    weight = _filled_up([_gemm4(phase) for phase in taps], behind)
    return replace(constants, weight=weight, bias=np.concatenate([phase.bias for phase in parts]))


def depthwise8(constants: Constants) -> Constants:
    """Weights in chunks of eight channels, [chunk][tap][8].

    Where channels are no multiple of eight the last chunk takes the last eight of them.
    """
    channels = len(constants.bias)
    starts = [min(start, channels - 8) for start in range(0, channels, 8)]
    chunks = np.array([range(start, start + 8) for start in starts])
    taps = constants.weight.reshape(-1, channels)
    weight = np.ascontiguousarray(taps[:, chunks].transpose(1, 0, 2)).reshape(-1)
    return replace(constants, weight=weight)


def fours(constants: Constants) -> Constants:
    """Bytes w + 128, in blocks of four channels [k][4]: see triples.h and quads.h in common/."""
    packed = in_blocks(constants, lambda blocks: blocks.transpose(0, 2, 1))
    raised = packed.view(np.uint8) + np.uint8(128)  # wraps
    return replace(constants, weight=raised.view(np.int8))


def tap_fours(constants: Constants) -> Constants:
    """Depthwise weights [height][width][out] as [out / 4][tap][4], and [tap][rest] of what is left."""
    taps = constants.weight.reshape(-1, constants.weight.shape[-1])
    whole = taps.shape[1] // 4 * 4
    blocks = taps[:, :whole].reshape(len(taps), -1, 4).transpose(1, 0, 2)
    parts = [blocks.reshape(-1), taps[:, whole:].reshape(-1)]
    return replace(constants, weight=np.concatenate(parts))


def _words(rows: Array) -> Array:
    """Rows in twos: 16-bit values 256 * b + (a + 128) [rows / 2, depth], an even number of them."""
    codes = np.pad(rows.astype(np.int32), [(0, extent % 2) for extent in rows.shape])
    return (256 * codes[1::2] + codes[0::2] + 128).astype("<i2")


def twos(constants: Constants) -> Constants:
    """Channels in twos, an odd number filled up with zeros: see kernels/src/common/gemm_dsp.h.

    Inputs are read in fours, so that a word behind the last two channels may be needed.
    """
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    behind = 4 if rows.shape[1] % 4 in (1, 2) else 0
    words = _words(rows).reshape(-1).view(np.int8)
    return replace(constants, weight=_filled_up([words], behind))


def _pairs(rows: Array) -> tuple[Array, Array]:
    """The blocks of `pairs`, and the channels that are left."""
    whole = rows.shape[0] // 4 * 4
    words = _words(rows[:whole])
    turns = words.reshape(whole // 4, 2, words.shape[1] // 2, 2).transpose(0, 2, 1, 3)
    fours = np.pad(rows[whole:], [(0, 0), (0, -rows.shape[1] % 4)]).reshape(-1, 2, 2)
    blocks = np.ascontiguousarray(turns).reshape(-1).view(np.int8)
    return blocks, fours.transpose(0, 2, 1).reshape(-1)


def pairs(constants: Constants) -> Constants:
    """Blocks of two times two channels, whose words take turns: see gemm_dsp.h.

    Channels that are left follow one after another, inputs in fours w0, w2, w1, w3, filled up with
    zeros. The last block is read in fours of inputs, too, and may need words behind it.
    """
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    blocks, rest = _pairs(rows)
    behind = 8 - rest.size if blocks.size and rows.shape[1] % 4 in (1, 2) else 0
    return replace(constants, weight=_filled_up([blocks, rest], behind))


def phases_pairs(constants: Constants) -> Constants:
    """pairs of each phase of a transposed convolution, one after the other."""
    parts = list(_phases(constants))
    channels = constants.weight.shape[0]
    taps = [phase.weight.reshape(channels, -1) for phase in parts if phase.weight.size]
    behind = 8 if channels >= 4 and any(rows.shape[1] % 4 in (1, 2) for rows in taps) else 0
    weight = _filled_up([part for rows in taps for part in _pairs(rows)], behind)
    return replace(constants, weight=weight, bias=np.concatenate([phase.bias for phase in parts]))


def window_rows(constants: Constants) -> Constants:
    """Depthwise weights of 3x3 windows as [out][9], and a byte that is read with the last ones."""
    rows = constants.weight.reshape(9, -1).T.reshape(-1)
    return replace(constants, weight=np.pad(rows, (0, 1)))


def nn_channels(constants: Constants) -> Constants:
    """For CMSIS-NN: plain biases; multipliers and then shifts in 32 bits; all filled up to fours.

    On MVE it reads biases, multipliers and shifts by fours, also the last ones.
    """
    tables = [constants.multiplier, constants.shift.astype(np.int32)]
    return replace(
        constants,
        bias=pad_fours(constants.plain_bias),
        multiplier=np.concatenate([pad_fours(table) for table in tables]),
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
    "twos": twos,
    "window_rows": window_rows,
}
