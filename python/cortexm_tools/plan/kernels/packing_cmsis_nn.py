# SPDX-License-Identifier: Apache-2.0
"""Constants as the adapters of CMSIS-NN read them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...ir import Array
from .packing import Constants, Tables, pad_fours


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
