# SPDX-License-Identifier: Apache-2.0
"""The forms of constants by the names that `pack` has in kernels.json."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


def same_size(constants: Constants) -> int:
    return constants.weight.size


@dataclass(frozen=True)
class Form:
    """How a kernel wants the constants of a layer.

    Attributes:
        weights: the weights as it reads them.
        size: how many these are, in the element type of the layer's; of codes, bytes.
        tables: the constants per channel as it reads them.
    """

    weights: Callable[[Constants], Array] = lambda constants: constants.weight
    size: Callable[[Constants], int] = same_size
    tables: Callable[[Constants], Tables] = lambda constants: constants.tables


FORMS: dict[str, Form] = {
    "": Form(),
    "column_twos": Form(
        packing_dsp.column_twos, packing_dsp.column_twos_size, packing_dsp.two_tables
    ),
    "depthwise16": Form(packing_mve.depthwise16),
    "depthwise8": Form(packing_mve.depthwise8, packing_mve.depthwise8_size),
    "eights": Form(packing_scalar.eights),
    "float_beside": Form(packing_floats.float_beside),
    "float_channels": Form(packing_floats.float_channels, packing_floats.float_channels_size),
    "float_eights": Form(packing_floats.float_eights),
    "float_fours": Form(packing_floats.float_fours, packing_floats.float_fours_size),
    "float_filled": Form(packing_floats.float_filled, packing_floats.float_filled_size),
    "fours": Form(packing_scalar.fours),
    "gemm4": Form(packing_mve.gemm4, packing_mve.gemm4_size),
    "gemm4_wide": Form(packing_mve.gemm4_wide, packing_mve.gemm4_wide_size),
    "gemm8": Form(packing_mve.gemm8, packing_mve.gemm8_size),
    "nibble_channels": Form(
        nibbles.nibble_channels, nibbles.nibble_channels_size, packing.narrow_plain_bias
    ),
    "nibble_depthwise8": Form(
        nibbles.nibble_depthwise8, nibbles.nibble_depthwise8_size, packing.narrow
    ),
    "nibble_eights": Form(nibbles.nibble_eights, nibbles.nibble_eights_size),
    "nibble_fours": Form(nibbles.nibble_fours, nibbles.nibble_fours_size, packing.narrow),
    "nibble_gemm4": Form(nibbles.nibble_gemm4, nibbles.nibble_gemm4_size, packing.narrow),
    "nibble_gemm4_wide": Form(nibbles.nibble_gemm4_wide, nibbles.nibble_gemm4_wide_size),
    "nibble_gemm8": Form(nibbles.nibble_gemm8, nibbles.nibble_gemm8_size, packing.narrow),
    "nibble_lines": Form(nibbles.nibble_lines, nibbles.nibble_lines_size),
    "nibble_pairs": Form(nibbles.nibble_pairs, nibbles.nibble_pairs_size, packing.narrow),
    "nibble_rows": Form(nibbles.nibble_rows, nibbles.half_size, packing.narrow),
    "nibble_signed_fours": Form(
        nibbles.nibble_signed_fours, nibbles.nibble_fours_size, packing.narrow
    ),
    "nibble_tap_fours": Form(nibbles.nibble_tap_fours, nibbles.half_size, packing.narrow),
    "nibble_twos": Form(nibbles.nibble_twos, nibbles.nibble_twos_size, packing.narrow),
    "nibbles": Form(nibbles.nibbles, nibbles.half_size),
    "nn_channels": Form(tables=packing_cmsis_nn.nn_channels),
    "nn_depthwise": Form(
        packing_cmsis_nn.nn_depthwise, lambda c: c.weight.size + 3, packing_cmsis_nn.nn_channels
    ),
    "nn_nibbles": Form(nibbles.nn_nibbles, nibbles.nn_nibbles_size, packing_cmsis_nn.nn_channels),
    "nn_wide": Form(
        packing_cmsis_nn.nn_eight_more, lambda c: c.weight.size + 8, packing_cmsis_nn.nn_wide
    ),
    "pairs": Form(packing_dsp.pairs, packing_dsp.all_pairs_size),
    "phases_gemm4": Form(
        packing_mve.phases_gemm4, packing_mve.phases_gemm4_size, packing.phase_biases
    ),
    "phases_nibble_gemm4": Form(
        nibbles.phases_nibble_gemm4, nibbles.phases_nibble_gemm4_size, packing.narrow_phases
    ),
    "phases_nibble_pairs": Form(
        nibbles.phases_nibble_pairs, nibbles.phases_nibble_pairs_size, packing.narrow_phases
    ),
    "phases_pairs": Form(
        packing_dsp.phases_pairs, packing_dsp.phases_pairs_size, packing.phase_biases
    ),
    "plain_bias": Form(tables=packing.plain_bias),
    "raised": Form(packing_scalar.raised),
    "row_sixteens": Form(packing_mve.row_sixteens, packing_mve.row_sixteens_size),
    "signed_fours": Form(packing_scalar.signed_fours),
    "signed_split_fours": Form(
        packing_dsp.signed_split_fours, packing_dsp.signed_split_twos_size, packing_dsp.four_tables
    ),
    "signed_split_twos": Form(packing_dsp.signed_split_twos, packing_dsp.signed_split_twos_size),
    "tap_fours": Form(packing_scalar.tap_fours),
    "tap_pairs": Form(packing_dsp.tap_pairs, packing_dsp.tap_pairs_size),
    "sixteens": Form(packing_mve.sixteens, packing_mve.sixteens_size),
    "split_twos": Form(packing_dsp.split_twos, packing_dsp.split_twos_size),
    "tiles": Form(packing_mve.tiles, packing_mve.sixteens_size, packing_mve.tile_tables),
    "twos": Form(packing_dsp.twos, packing_dsp.twos_size),
    "wide_phases_gemm4": Form(packing_mve.wide_phases_gemm4, packing_mve.wide_phases_gemm4_size),
    "wide_phases_pairs": Form(packing_dsp.phases_pairs, packing_dsp.phases_pairs_size),
    "window_rows": Form(packing_dsp.window_rows, lambda c: c.weight.size + 1),
}


@dataclass(frozen=True)
class Weights:
    """The weights of a layer in a form: those that `pack` gives."""

    form: str
    constants: Constants

    @property
    def nbytes(self) -> int:
        return FORMS[self.form].size(self.constants) * self.constants.weight.itemsize

    @property
    def tables(self) -> Tables:
        return FORMS[self.form].tables(self.constants)

    def pack(self) -> Array:
        return FORMS[self.form].weights(self.constants)
