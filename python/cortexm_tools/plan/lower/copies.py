# SPDX-License-Identifier: Apache-2.0
"""Strided copies: every transposition, expansion, cut and change of layout is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import CortexMError
from ...ir import Op
from ..types import Arg, Call, Field, TensorArg
from .boxes import MAX_RANK
from .context import Selector


def merge_dims(
    dims: Sequence[int], in_strides: Sequence[int], out_strides: Sequence[int]
) -> list[tuple[int, int, int]]:
    """The same index box with as few dimensions as possible, outermost (by output) first."""
    box = [
        (extent, a, b)
        for extent, a, b in zip(dims, in_strides, out_strides, strict=True)
        if extent != 1
    ]
    box.sort(key=lambda row: -abs(row[2]))
    merged: list[tuple[int, int, int]] = []
    for extent, a, b in box:
        if merged and merged[-1][1] == a * extent and merged[-1][2] == b * extent:
            merged[-1] = (merged[-1][0] * extent, a, b)
        else:
            merged.append((extent, a, b))
    return merged or [(1, 1, 1)]


# Elements of a row from which on it costs more than what surrounds it.
_LONG_ROW = 8


def _longest_last(box: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """A box of several dimensions with the longest one as rows, if the rows that it has are short."""
    if len(box) < 3 or box[-1][0] >= _LONG_ROW:
        return box
    longest = max(range(len(box)), key=lambda place: (box[place][0], place))
    return [*box[:longest], *box[longest + 1 :], box[longest]]


def copy_call(
    select: Selector,
    op: Op,
    source: int,
    result: int,
    dims: Sequence[int],
    in_strides: Sequence[int],
    out_strides: Sequence[int],
    in_start: int = 0,
    out_start: int = 0,
) -> Call:
    """A strided copy of a box of `dims`; starts and strides are in elements."""
    box = _longest_last(merge_dims(dims, in_strides, out_strides))
    if len(box) > MAX_RANK:
        raise CortexMError(
            f"{op.kind}: needs {len(box)} dimensions, copies take {MAX_RANK}", where=str(op.layer)
        )
    size = select.tensor(result).dtype.size
    operand: Arg = TensorArg(source, in_start * size)
    if select.tensor(source).is_constant:
        operand, box = _constant_box(select, source, box, in_start)
    fields: dict[str, Field] = {
        "rank": len(box),
        "dims": tuple(row[0] for row in box),
        "in_stride": tuple(row[1] for row in box),
        "out_stride": tuple(row[2] for row in box),
    }
    args = [operand, TensorArg(result, out_start * size)]
    return select.call(select.kernel("copy", f"x{8 * size}", op), fields, args)


def _constant_box(
    select: Selector, source: int, box: list[tuple[int, int, int]], start: int
) -> tuple[Arg, list[tuple[int, int, int]]]:
    """The elements of a constant that a copy reads, as a constant of their own, and its strides.

    Dimensions along which the copy repeats elements are stored once.
    """
    tensor = select.tensor(source)
    assert tensor.data is not None
    flat = tensor.data.transpose(tensor.dim_order).reshape(-1)
    shape = [extent if step else 1 for extent, step, _ in box]
    steps = [step * flat.itemsize for _, step, _ in box]
    view = np.lib.stride_tricks.as_strided(flat[start:], shape, steps, writeable=False)
    cut = np.ascontiguousarray(view)
    strides = [stride // cut.itemsize for stride in cut.strides]
    rows = [
        (extent, stride if step else 0, to)
        for (extent, step, to), stride in zip(box, strides, strict=True)
    ]
    return select.constant("c_" + tensor.name, cut, f"{tensor.name} {tensor.shape}"), rows
