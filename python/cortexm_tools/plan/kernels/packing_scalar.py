# SPDX-License-Identifier: Apache-2.0
"""Constants as the kernels of codes without SIMD read them."""

from __future__ import annotations

import numpy as np

from ...ir import Array
from .packing import Constants, in_blocks


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
