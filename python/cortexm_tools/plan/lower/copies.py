# SPDX-License-Identifier: Apache-2.0
"""Strided copies: every transposition, expansion, cut and change of layout is one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...errors import CortexMError
from ...ir import Op, ops
from ...target import Core, Isa
from ..kernels.cost import instructions_of
from ..kernels.table import Kernel
from ..types import Arg, Call, ConstantArg, Field, ScratchArg, TensorArg
from .boxes import MAX_RANK
from .context import Selector
from .lanes import PARAMS as LANES
from .lanes import Box, lane_fields


def merge_dims(dims: Sequence[int], in_strides: Sequence[int], out_strides: Sequence[int]) -> Box:
    """The same index box with as few dimensions as possible, outermost (by output) first."""
    box = [
        (extent, a, b)
        for extent, a, b in zip(dims, in_strides, out_strides, strict=True)
        if extent != 1
    ]
    box.sort(key=lambda row: -abs(row[2]))
    merged: Box = []
    for extent, a, b in box:
        if merged and merged[-1][1] == a * extent and merged[-1][2] == b * extent:
            merged[-1] = (merged[-1][0] * extent, a, b)
        else:
            merged.append((extent, a, b))
    return merged or [(1, 1, 1)]


def cheapest_order(box: Box, kernel: Kernel, core: Core) -> Box:
    """The dimensions of a box in the order in which the kernel copies them with the fewest instructions:
    the elements of a row, which are the last one, the rows, and the others by the result."""
    return list(_cheapest_order(tuple(box), kernel, core))


@lru_cache(maxsize=4096)
def _cheapest_order(box: tuple[tuple[int, int, int], ...], kernel: Kernel, core: Core) -> Box:
    def instructions(order: Box) -> float:
        lanes = lane_fields(order, kernel.unit) if kernel.params == LANES else {}
        return instructions_of(kernel, box_fields(order) | lanes, core)

    return min(_orders(list(box)), key=instructions)


def box_fields(box: Box) -> dict[str, Field]:
    """The fields of a copy's parameter block."""
    dims, inner, outer = zip(*box, strict=True)
    return {"rank": len(box), "dims": dims, "in_stride": inner, "out_stride": outer}


def _orders(box: Box) -> list[Box]:
    box = sorted(box, key=lambda row: -abs(row[2]))
    pairs = [(i, j) for j in reversed(range(len(box))) for i in reversed(range(len(box))) if i != j]
    orders = [
        [*(row for d, row in enumerate(box) if d not in pair), *(box[d] for d in pair)]
        for pair in pairs
    ]
    return orders or [box]


def _may_be_moved(select: Selector, op: Op, *starts: int) -> bool:
    """Whether what lies in one piece takes the kernel that moves bytes, not that of copies: where it is there
    already, and moves words, and with MVE, where it has 24 bytes. A concatenation's operands may get gaps
    instead.

    Args:
        starts: bytes in the operand and in the result before the first one.
    """
    if isinstance(op.attrs, ops.Push) and not any(start % 4 for start in starts):
        return True
    is_part = isinstance(op.attrs, ops.Concat) or select.is_joined(op.outputs[0])
    return select.target.isa is Isa.MVE and not is_part


def _copy_kernel(select: Selector, op: Op, box: Box, size: int) -> tuple[Kernel, Box]:
    """The kernel of a copy and its dimensions, in the kernel's elements. MVE copies words, or halves of them,
    of which its vectors have eight."""
    if select.target.isa is Isa.MVE and size > 2:
        halves = [(extent, a * size // 2, b * size // 2) for extent, a, b in box]
        halves = merge_dims(*zip(*halves, (size // 2, 1, 1), strict=True))
        if len(halves) <= MAX_RANK and select.pick_once("halves", (False, True)):
            size, box = 2, halves
    kernel = select.kernel("copy", f"x{8 * size}", op)
    return kernel, cheapest_order(box, kernel, select.target.core)


def copy_call(
    select: Selector,
    op: Op,
    source: int | ScratchArg | ConstantArg,
    result: int,
    dims: Sequence[int],
    in_strides: Sequence[int],
    out_strides: Sequence[int],
    in_start: int = 0,
    out_start: int = 0,
) -> Call:
    """A strided copy of a box of `dims`, of a tensor, of scratch or of a constant; starts and strides are in
    elements."""
    size = select.tensor(result).dtype.size
    box = merge_dims(dims, in_strides, out_strides)
    is_moved = box == [(math.prod(dims), 1, 1)] and _may_be_moved(
        select, op, in_start * size, out_start * size
    )
    if is_moved:
        kernel = select.kernel("move", "x8", op)
    else:
        kernel, box = _copy_kernel(select, op, box, size)
    if len(box) > MAX_RANK:
        raise CortexMError(
            f"{op.kind}: needs {len(box)} dimensions, copies take {MAX_RANK}", where=str(op.layer)
        )
    operand: Arg = TensorArg(source, in_start * size) if isinstance(source, int) else source
    if isinstance(source, int) and select.tensor(source).is_constant:
        unit = size if is_moved else kernel.unit
        operand, box = _constant_box(select, source, box, in_start, unit)
    fields = box_fields(box)
    if is_moved:
        fields = {"count": math.prod(dims) * size}
    args = [operand, TensorArg(result, out_start * size)]
    return select.call(kernel, fields, args)


def _constant_box(
    select: Selector, source: int, box: Box, start: int, unit: int
) -> tuple[Arg, Box]:
    """The elements of a constant that a copy reads, as a constant of their own, and its strides.

    Dimensions along which the copy repeats elements are stored once.

    Args:
        start: element of the constant at which the copy begins.
        unit: bytes of the elements that `box` counts, those of the constant or halves of them.
    """
    tensor = select.tensor(source)
    assert tensor.data is not None
    flat = np.ascontiguousarray(tensor.data.transpose(tensor.dim_order)).reshape(-1)[start:]
    if unit != flat.itemsize:
        flat = flat.view(f"i{unit}")
    shape = [extent if step else 1 for extent, step, _ in box]
    steps = [step * flat.itemsize for _, step, _ in box]
    view = np.lib.stride_tricks.as_strided(flat, shape, steps, writeable=False)
    cut = np.ascontiguousarray(view)
    strides = [stride // cut.itemsize for stride in cut.strides]
    rows = [
        (extent, stride if step else 0, to)
        for (extent, step, to), stride in zip(box, strides, strict=True)
    ]
    return select.constant("c_" + tensor.name, cut, f"{tensor.name} {tensor.shape}"), rows
