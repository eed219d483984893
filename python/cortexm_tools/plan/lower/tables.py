# SPDX-License-Identifier: Apache-2.0
"""Tables of embeddings that are the weights of a layer as well, stored once.

Each kernel of a layer reads its weights in an order of its own, two in a byte perhaps. The embedding's
kernel has a table that says where the codes of a row lie: of a block of rows, as all blocks are alike. It is
not derived from what a form says about itself but found by packing matrices of a few rows, and taken if it
leads to each of the codes of the matrix at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir import Array
from ...ir.fixed_point import I64
from ..kernels.forms import FORMS, Weights
from ..kernels.packing import Constants
from ..types import Call, ConstantArg, Step
from .constants import Source

_BLOCKS = (0, 1, 2, 3)  # shifts
_BYTES = 1 << 14  # above all places in a block


@dataclass(frozen=True)
class Places:
    """Where the codes of a matrix lie in packed weights: see cortexm_embedding_t.

    Attributes:
        table: uint16.
        block_shift, block_size, bits: as there.
    """

    table: Array
    block_shift: int
    block_size: int
    bits: int


def find_places(weights: Weights) -> Places | None:
    """The places of the codes of packed weights; None if no block repeats itself."""
    matrix = weights.constants.rows
    packed = weights.pack().reshape(-1).view(np.uint8)
    bits = 4 if "nibble" in weights.form else 8
    for shift in _BLOCKS:
        found = _places_of(weights, shift, bits)
        if found is not None and np.array_equal(_read(packed, matrix.shape, found), matrix):
            return found
    return None


def _places_of(weights: Weights, shift: int, bits: int) -> Places | None:
    """Those of two blocks and the rows that are left, if what follows repeats them."""
    rows, columns = weights.constants.rows.shape
    block, left = 1 << shift, rows % (1 << shift)
    whole = min(2, rows // block)
    count = whole * block + left
    if whole == 0:
        return None
    numbers = np.arange(1, count * columns + 1).reshape(count, columns)
    nothing = _halves(_packed(weights, np.zeros_like(numbers)), bits)
    found = np.zeros(nothing.shape, np.int64)
    for bit in range(int(numbers.max()).bit_length()):
        differs = _halves(_packed(weights, numbers >> bit & 1), bits) != nothing
        found |= differs.astype(np.int64) << bit
    at = np.full(count * columns + 1, -1, np.int64)
    at[found[::-1]] = np.arange(found.size)[::-1]
    at = at[1:].reshape(count, columns)
    if (at < 0).any():
        return None
    per_byte = 8 // bits
    byte, half, plain = at // per_byte, at % per_byte, nothing[at] == 0
    size = int(byte[block, 0] - byte[0, 0]) if whole == 2 else int(byte[:block].max()) + 1
    kept = np.concatenate([byte[:block], byte[whole * block :] - (whole - 1) * size])
    kept[block:] -= size
    if size < 1 or size >= _BYTES or kept.min() < 0 or kept.max() >= _BYTES:
        return None
    flags = 2 * half + plain
    table = 4 * kept + np.concatenate([flags[:block], flags[whole * block :]])
    return Places(table.astype(np.uint16), shift, size, bits)


def _packed(weights: Weights, codes: Array) -> Array:
    """Rows of such codes in the form."""
    constants = weights.constants
    shaped = codes.astype(np.int8).reshape(len(codes), *constants.weight.shape[1:])
    few = Constants(shaped, np.zeros(len(codes), np.int32), wide=constants.wide)
    return FORMS[weights.form].weights(few).reshape(-1).view(np.uint8)


def _halves(packed: Array, bits: int) -> Array:
    """Bytes, or their lower and upper halves in turn."""
    if bits == 8:
        return packed
    halves: Array = np.stack(np.divmod(packed, 16)[::-1], 1).reshape(-1)
    return halves


def _read(packed: Array, shape: tuple[int, ...], places: Places) -> Array:
    """The matrix that the kernel finds; zeros behind the end."""
    rows, columns = shape
    block = 1 << places.block_shift
    row = np.arange(rows)
    number = row // block
    kind = row % block + np.where(number == rows // block, block, 0)
    place = places.table.reshape(-1, columns)[kind].astype(np.int64)
    byte = number[:, None] * places.block_size + (place >> 2)
    codes: I64 = np.pad(packed, (0, 1))[np.minimum(byte, packed.size)].astype(np.int64)
    middle = 1 << (places.bits - 1)
    codes = codes >> (place & 2) * 2 & 2 * middle - 1
    signed: Array = (codes ^ (place & 1) * middle) - middle
    return signed


def share_tables(
    steps: Sequence[Step], sources: Mapping[str, Source]
) -> tuple[tuple[Step, ...], dict[str, Source]]:
    """The steps of a plan, and what their constants are made from, with the tables of embeddings that are
    the weights of a layer in the form that this layer reads."""
    sources = dict(sources)
    taken = []
    for step in steps:
        calls = tuple(_shared(call, sources) for call in step.calls)
        taken.append(step if calls == step.calls else replace(step, calls=calls))
    return tuple(taken), sources


def _shared(call: Call, sources: dict[str, Source]) -> Call:
    if call.kernel.op != "embedding":
        return call
    table, places = call.args[:2]
    assert isinstance(table, ConstantArg) and isinstance(places, ConstantArg)
    own = sources[table.name].data
    assert isinstance(own, Weights)
    for source in list(sources.values()):
        given = source.data
        if not isinstance(given, Weights) or given.form == own.form:
            continue
        if given.constants.weight.size != own.constants.weight.size:
            continue
        found = None
        if np.array_equal(given.constants.rows, own.constants.rows):
            found = find_places(given)
        if found is not None:
            sources[table.name] = source
            sources[places.name] = replace(sources[places.name], data=found.table)
            fields = dict(call.fields)
            fields |= {
                "block_shift": found.block_shift,
                "block_size": found.block_size,
                "bits": found.bits,
            }
            return replace(call, fields=tuple(fields.items()))
    return call
