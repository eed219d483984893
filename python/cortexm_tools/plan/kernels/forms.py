# SPDX-License-Identifier: Apache-2.0
"""The forms of constants by the names that `pack` has in kernels.json."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...ir import Array
from . import (
    nibbles,
    packing,
    packing_cmsis_nn,
    packing_dsp,
    packing_floats,
    packing_mve,
    packing_scalar,
)
from .packing import Constants, Tables


@dataclass(frozen=True)
class Form:
    """How a kernel wants the constants of a layer.

    Attributes:
        weights: the weights as it reads them.
        tables: the constants per channel as it reads them.
    """

    weights: Callable[[Constants], Array] = lambda constants: constants.weight
    tables: Callable[[Constants], Tables] = lambda constants: constants.tables


FORMS: dict[str, Form] = {
    "": Form(),
    "column_twos": Form(packing_dsp.column_twos, packing_dsp.two_tables),
    "depthwise16": Form(packing_mve.depthwise16),
    "depthwise8": Form(packing_mve.depthwise8),
    "eights": Form(packing_scalar.eights),
    "float_beside": Form(packing_floats.float_beside),
    "float_channels": Form(packing_floats.float_channels),
    "float_eights": Form(packing_floats.float_eights),
    "float_fours": Form(packing_floats.float_fours),
    "float_filled": Form(packing_floats.float_filled),
    "fours": Form(packing_scalar.fours),
    "gemm4": Form(packing_mve.gemm4),
    "gemm4_wide": Form(packing_mve.gemm4_wide),
    "gemm8": Form(packing_mve.gemm8),
    "nibble_channels": Form(nibbles.nibble_channels, packing.narrow_plain_bias),
    "nibble_depthwise8": Form(nibbles.nibble_depthwise8, packing.narrow),
    "nibble_eights": Form(nibbles.nibble_eights),
    "nibble_fours": Form(nibbles.nibble_fours, packing.narrow),
    "nibble_gemm4": Form(nibbles.nibble_gemm4, packing.narrow),
    "nibble_gemm4_wide": Form(nibbles.nibble_gemm4_wide),
    "nibble_gemm8": Form(nibbles.nibble_gemm8, packing.narrow),
    "nibble_lines": Form(nibbles.nibble_lines),
    "nibble_pairs": Form(nibbles.nibble_pairs, packing.narrow),
    "nibble_rows": Form(nibbles.nibble_rows, packing.narrow),
    "nibble_signed_fours": Form(nibbles.nibble_signed_fours, packing.narrow),
    "nibble_tap_fours": Form(nibbles.nibble_tap_fours, packing.narrow),
    "nibble_twos": Form(nibbles.nibble_twos, packing.narrow),
    "nibbles": Form(nibbles.nibbles),
    "nn_channels": Form(tables=packing_cmsis_nn.nn_channels),
    "nn_depthwise": Form(packing_cmsis_nn.nn_depthwise, packing_cmsis_nn.nn_channels),
    "nn_nibbles": Form(nibbles.nn_nibbles, packing_cmsis_nn.nn_channels),
    "nn_wide": Form(packing_cmsis_nn.nn_eight_more, packing_cmsis_nn.nn_wide),
    "pairs": Form(packing_dsp.pairs),
    "phases_gemm4": Form(packing_mve.phases_gemm4, packing.phase_biases),
    "phases_nibble_gemm4": Form(nibbles.phases_nibble_gemm4, packing.narrow_phases),
    "phases_nibble_pairs": Form(nibbles.phases_nibble_pairs, packing.narrow_phases),
    "phases_pairs": Form(packing_dsp.phases_pairs, packing.phase_biases),
    "plain_bias": Form(tables=packing.plain_bias),
    "raised": Form(packing_scalar.raised),
    "row_sixteens": Form(packing_mve.row_sixteens),
    "signed_fours": Form(packing_scalar.signed_fours),
    "signed_split_fours": Form(packing_dsp.signed_split_fours, packing_dsp.four_tables),
    "signed_split_twos": Form(packing_dsp.signed_split_twos),
    "tap_fours": Form(packing_scalar.tap_fours),
    "tap_pairs": Form(packing_dsp.tap_pairs),
    "sixteens": Form(packing_mve.sixteens),
    "split_twos": Form(packing_dsp.split_twos),
    "tiles": Form(packing_mve.tiles, packing_mve.tile_tables),
    "twos": Form(packing_dsp.twos),
    "wide_phases_gemm4": Form(packing_mve.wide_phases_gemm4),
    "wide_phases_pairs": Form(packing_dsp.phases_pairs),
    "window_rows": Form(packing_dsp.window_rows),
}


@dataclass(frozen=True)
class Weights:
    """The weights of a layer in a form: those that `pack` gives."""

    form: str
    constants: Constants

    @property
    def nbytes(self) -> int:
        of = self.constants
        size = _size(self.form, of.weight.shape, of.channels, of.groups, of.stride, of.wide)
        return size * of.weight.itemsize

    @property
    def tables(self) -> Tables:
        return FORMS[self.form].tables(self.constants)

    def pack(self) -> Array:
        return FORMS[self.form].weights(self.constants)


@lru_cache(maxsize=4096)
def _size(
    form: str,
    shape: tuple[int, ...],
    channels: int,
    groups: int,
    stride: tuple[int, int],
    wide: bool,
) -> int:
    """How many weights a form has: as many whatever they are."""
    biases = np.zeros(channels, np.int32)
    nothing = Constants(
        np.zeros(shape, np.int8), biases, (), groups, biases, stride=stride, wide=wide
    )
    return FORMS[form].weights(nothing).size
