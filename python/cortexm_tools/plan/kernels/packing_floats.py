# SPDX-License-Identifier: Apache-2.0
"""Weights of floats as kernels read them; sizes are in numbers."""

from __future__ import annotations

import numpy as np

from ...ir import Array
from .packing import Constants


def float_eights(constants: Constants, *, beside: bool = False) -> Array:
    """float32: eight outputs of a group side by side for each input, then four, then those that are left
    as they are."""
    weight, groups = constants.weight, constants.groups
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    eights, fours = rows.shape[1] // 8 * 8, rows.shape[1] // 4 * 4
    parts = []
    for group in rows:
        parts.append(group[:eights].reshape(-1, 8, rows.shape[2]).transpose(0, 2, 1).reshape(-1))
        parts.append(group[eights:fours].T.reshape(-1))
        parts.append((group[fours:].T if beside else group[fours:]).reshape(-1))
    return np.concatenate(parts)


def float_beside(constants: Constants) -> Array:
    """The same with the outputs that are left side by side, too."""
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


def float_fours(constants: Constants) -> Array:
    """float32: four outputs side by side for each term, the last ones may begin among those before them; up
    to three as they are."""
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    if len(rows) < 4:
        return rows.reshape(-1)
    firsts = [min(first, len(rows) - 4) for first in range(0, len(rows), 4)]
    return np.concatenate([rows[first : first + 4].T.reshape(-1) for first in firsts])


def float_filled(constants: Constants) -> Array:
    """float32: eight outputs of a group side by side for each input, then those that are left, up to four or
    eight, filled up with the last one."""
    groups = constants.groups
    rows = constants.weight.reshape(groups, constants.weight.shape[0] // groups, -1)
    filled = np.pad(rows, ((0, 0), (0, filled_outputs(rows.shape[1])), (0, 0)), "edge")
    filled = filled.reshape(-1, *rows.shape[2:])
    return float_eights(Constants(filled, constants.bias, groups=groups))


def filled_outputs(outputs: int) -> int:
    """How many outputs a group has more in float_filled."""
    return -outputs % (4 if outputs % 8 <= 4 else 8)
