# SPDX-License-Identifier: Apache-2.0
"""Constants in the form that a kernel variant reads: `pack` in kernels.json names the function.

A function takes and returns the constants of a layer; arrays per channel that it does not change
it returns as they are. Kernels without `pack` read the plain form that kernels.h documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..ir import Array


@dataclass(frozen=True)
class Constants:
    """The constants of a convolution or a linear layer.

    Attributes:
        weight: int8, channels first ([out_c, …]), or for depthwise [kernel_h, kernel_w, out_c].
        bias: int32 [out_c], zero point folded in.
        multiplier: int32 [out_c]; empty where the layer has one for all.
        shift: int8 [out_c], likewise.
        groups: of a convolution.
    """

    weight: Array
    bias: Array
    multiplier: Array
    shift: Array
    groups: int = 1


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


PACKERS: dict[str, Callable[[Constants], Constants]] = {
    "": lambda constants: constants,
    "gemm4": gemm4,
}
