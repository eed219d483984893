# SPDX-License-Identifier: Apache-2.0
"""Strided copies: every transposition, expansion, cut and change of layout is one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import CortexMError
from ...ir import Op, ops
from ...target import Isa
from ..kernels.table import Kernel
from ..types import Arg, Call, ConstantArg, Field, ScratchArg, TensorArg
from .boxes import MAX_RANK
from .context import Selector
from .lanes import Box, Way, vectors_of


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


def cheapest_order(box: Box, kernel: Kernel) -> Box:
    """The dimensions of a box in the order in which the kernel copies them with the fewest instructions:
    the elements of a row, which are the last one, the rows, and the others by the result."""
    return min(_orders(box), key=lambda order: _instructions(order, kernel.isa, kernel.unit))


def _orders(box: Box) -> list[Box]:
    box = sorted(box, key=lambda row: -abs(row[2]))
    pairs = [(i, j) for j in reversed(range(len(box))) for i in reversed(range(len(box))) if i != j]
    orders = [
        [*(row for d, row in enumerate(box) if d not in pair), *(box[d] for d in pair)]
        for pair in pairs
    ]
    return orders or [box]


def copy_instructions(box: Box, isa: Isa, size: int) -> float:
    """Of a copy of elements of `size` bytes, about."""
    return min(
        _instructions(order, isa, size) for order in _orders(merge_dims(*zip(*box, strict=True)))
    )


def _instructions(box: Box, isa: Isa, size: int) -> float:
    if isa is Isa.MVE:
        return _cost_on_vectors(box, size)
    return _cost(box, size, in_words=isa in (Isa.V7M, Isa.DSP))


def _cost(box: Box, size: int, *, in_words: bool) -> float:
    """Instructions of a copy without vectors, about.

    Args:
        in_words: short rows in one piece are words, at any address.
    """
    n, a, b = box[-1]
    rows = math.prod(extent for extent, _, _ in box[:-1])
    between = 15  # from the rows of two dimensions to the next ones
    if a == b == 1 and in_words and size <= 2 and 3 <= n * size < 32:
        row, between = 4.0 + 4 * -(-n * size // 4), 60
    elif a == b == 1 and n * size >= 8:
        row = 45 + 0.6 * n * size
    elif size > 2:
        row = 28 + 4.0 * n
    elif b == 1:
        row = 28 + 21 * (n // 8) + 13 * (n % 8 // 4) + 5 * (n % 4)
    else:
        row = 28 + 13 * (n // 4) + 5 * (n % 4)
    return rows * row + between * rows / (box[-2][0] if len(box) > 1 else 1)


def _cost_on_vectors(box: Box, size: int) -> float:
    """Instructions of a copy by MVE, about, and half of one for each element of a gather or scatter."""
    found = vectors_of(box, size)
    if found.way is Way.IN_ONE_PIECE:
        run = 20.0 + 3 * -(-found.count * size // 16)
    elif found.way is Way.ONE_BY_ONE:
        run = 20.0 + 7 * found.count
    else:
        apart = 2 if found.way in (Way.SCATTERED, Way.SCATTERED_BY_EIGHTS) else 1
        run = 20 + 5 * -(-found.count // len(found.lanes[0])) + 0.5 * apart * found.count
    return math.prod(extent for extent, _, _ in found.outer) * (16 + found.runs[0] * run)


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


_LEAST_SAVED = 250  # instructions, about one for each byte that the kernel has more


def _copy_kernel(select: Selector, op: Op, box: Box, size: int) -> tuple[Kernel, Box]:
    """The kernel of a copy and its dimensions, in the kernel's elements. MVE copies words as halves of them,
    of which its vectors have eight."""
    whole = select.kernel("copy", f"x{8 * size}", op)
    order = cheapest_order(box, whole)
    if select.target.isa is Isa.MVE and size > 2:
        halves = [(extent, a * size // 2, b * size // 2) for extent, a, b in box]
        halves = merge_dims(*zip(*halves, (size // 2, 1, 1), strict=True))
        saved = _instructions(order, whole.isa, size) - copy_instructions(halves, Isa.MVE, 2)
        if len(halves) <= MAX_RANK and saved >= _LEAST_SAVED:
            kernel = select.kernel("copy", "x16", op)
            if kernel.isa is Isa.MVE:
                return kernel, cheapest_order(halves, kernel)
    return whole, order


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
    fields: dict[str, Field] = {
        "rank": len(box),
        "dims": tuple(row[0] for row in box),
        "in_stride": tuple(row[1] for row in box),
        "out_stride": tuple(row[2] for row in box),
    }
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
