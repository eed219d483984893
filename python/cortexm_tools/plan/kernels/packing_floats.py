# SPDX-License-Identifier: Apache-2.0
"""Weights of floats as kernels read them; sizes are in numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...ir import Array
from .packing import Constants


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


def float_panels(constants: Constants) -> Array:
    """float32: three outputs side by side for each input, one panel behind the other, or four of the first
    ones so that none is left; two of two or five."""
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    parts = []
    first = 0
    for columns in panels(len(rows)):
        parts.append(rows[first : first + columns].T.reshape(-1))
        first += columns
    return np.concatenate(parts)


def panels(outputs: int) -> list[int]:
    """How many outputs each panel of float_panels has."""
    if outputs in (1, 2, 5):
        return {1: [1], 2: [2], 5: [3, 2]}[outputs]
    fours = outputs % 3
    return [4] * fours + [3] * ((outputs - 4 * fours) // 3)


def float_row(constants: Constants) -> Array:
    """float32, of which the first one of an output is its bias: sixteen outputs side by side for each input,
    then eight, four and those that are left, whose vectors reach behind the last one."""
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    parts = []
    first = 0
    while first < len(rows):
        columns = next(each for each in (16, 8, 4, 3, 2, 1) if each <= len(rows) - first)
        parts.append(rows[first : first + columns].T.reshape(-1))
        first += columns
    return np.concatenate([*parts, np.zeros(-len(rows) % 4, rows.dtype)])


def float_row_size(constants: Constants) -> int:
    """The weights of float_row, by number."""
    return int(constants.weight.size + -constants.weight.shape[0] % 4)


def float_pairs(constants: Constants) -> Array:
    """float32, of which the first one of an output is its bias: eight outputs side by side for each input. Of
    the last ten the first eight for half of the inputs, and the last eight for the others. Between these are
    the last two for the first half beside the first two for the second; of every second input crossed, one
    of them negated, as a complex product takes them."""
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    whole = len(rows) - 10
    eights = rows[:whole].reshape(-1, 8, rows.shape[1]).transpose(0, 2, 1)
    biases, of_inputs = rows[whole:, 0], rows[whole:, 1:]
    half = of_inputs.shape[1] // 2
    beside = np.concatenate([of_inputs[8:, :half], of_inputs[:2, half:]]).T.copy()
    beside[1::2] = beside[1::2][:, [1, 0, 3, 2]] * np.array([1, -1, 1, -1], rows.dtype)
    parts = [eights, biases[:8], of_inputs[:8, :half].T, biases[8:], beside, of_inputs[2:, half:].T]
    return np.concatenate([part.reshape(-1) for part in parts])


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


def float_fours(constants: Constants) -> Array:
    """float32: four outputs side by side for each term, the last ones may begin among those before them; up
    to three as they are. As "float_channel_fours" of groups of one channel and one output."""
    return _beside(constants, 4)


def float_fours_size(constants: Constants) -> int:
    """The weights of float_fours, by number."""
    return _size_beside(constants, 4)


def float_channel_eights(constants: Constants) -> Array:
    """The same of eight channels that are groups of one output."""
    return _beside(constants, 8)


def float_channel_eights_size(constants: Constants) -> int:
    """The weights of float_channel_eights, by number."""
    return _size_beside(constants, 8)


def float_channel_rest(constants: Constants) -> Array:
    """The same, and up to four that are left as four."""
    weight = constants.weight
    eights = (len(weight) + 3) // 8 * 8
    parts = [(weight[:eights], 8)] * (eights > 0) + [(weight[-4:], 4)] * (eights < len(weight))
    return np.concatenate([_beside(replace(constants, weight=w), size) for w, size in parts])


def float_channel_rest_size(constants: Constants) -> int:
    """The weights of float_channel_rest, by number."""
    return _size_beside(constants, 4 if 1 <= len(constants.weight) % 8 <= 4 else 8)


def _beside(constants: Constants, outputs: int) -> Array:
    """float32: so many outputs side by side for each term, the last ones may begin among those before them;
    fewer as they are."""
    rows = constants.weight.reshape(constants.weight.shape[0], -1)
    if len(rows) < outputs:
        return rows.reshape(-1)
    firsts = [min(first, len(rows) - outputs) for first in range(0, len(rows), outputs)]
    return np.concatenate([rows[first : first + outputs].T.reshape(-1) for first in firsts])


def _size_beside(constants: Constants, outputs: int) -> int:
    count, size = constants.weight.shape[0], constants.weight.size
    return int(size + (count >= outputs) * (-count % outputs) * (size // count))


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
