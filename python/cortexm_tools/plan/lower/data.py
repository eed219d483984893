# SPDX-License-Identifier: Apache-2.0
"""Data movement: every transposition, pad, expansion and change of layout is a strided copy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import CortexMError
from ...ir import DType, Op, Tensor, ops
from ..types import Arg, Call, Field, TensorArg
from .context import Selector, lowers

MAX_RANK = 8  # CORTEXM_COPY_MAX_RANK


def strides(tensor: Tensor) -> tuple[int, ...]:
    """Elements between neighbours along each logical dimension, in the tensor's memory order."""
    result = [0] * len(tensor.shape)
    step = 1
    for dim in reversed(tensor.dim_order):
        result[dim] = step
        step *= tensor.shape[dim]
    return tuple(result)


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
    box = merge_dims(dims, in_strides, out_strides)
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


@lowers(ops.Clone)
def _clone(select: Selector, attrs: ops.Clone, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    return [copy_call(select, op, op.inputs[0], op.outputs[0], x.shape, strides(x), strides(out))]


@lowers(ops.View)
def _view(select: Selector, attrs: ops.View, op: Op) -> list[Call]:
    """Operand and result are in C order (see assign_layouts): a plain copy of all elements."""
    numel = select.tensor(op.outputs[0]).numel
    return [copy_call(select, op, op.inputs[0], op.outputs[0], (numel,), (1,), (1,))]


@lowers(ops.Transpose)
def _transpose(select: Selector, attrs: ops.Transpose, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    moved = [strides(x)[dim] for dim in attrs.perm]
    return [copy_call(select, op, op.inputs[0], op.outputs[0], out.shape, moved, strides(out))]


@lowers(ops.Expand)
def _expand(select: Selector, attrs: ops.Expand, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    missing = len(out.shape) - len(x.shape)
    own = [0] * missing + [
        0 if extent == 1 else step for extent, step in zip(x.shape, strides(x), strict=True)
    ]
    return [copy_call(select, op, op.inputs[0], op.outputs[0], out.shape, own, strides(out))]


def _fill(select: Selector, op: Op, value: int) -> Call:
    """Every element of the result is `value`: up to 32 bits by a fill with their pattern, else by a
    copy of one element."""
    out = select.tensor(op.outputs[0])
    element = np.full(1, value, out.dtype.numpy)
    result = TensorArg(op.outputs[0])
    if out.dtype.size == 8:
        box: dict[str, Field] = {
            "rank": 1, "dims": (out.numel,), "in_stride": (0,), "out_stride": (1,),
        }  # fmt: skip
        source = select.constant("fill", element, needed=0)
        return select.call(select.kernel("copy", "x64", op), box, [source, result])
    pattern = element.view(np.int32).item() if out.dtype is DType.F32 else value
    fields: dict[str, Field] = {"count": out.numel, "value": pattern}
    return select.call(select.kernel("fill", f"x{8 * out.dtype.size}", op), fields, [result])


@lowers(ops.Pad)
def _pad(select: Selector, attrs: ops.Pad, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    begin = sum(before * step for before, step in zip(attrs.before, strides(out), strict=True))
    steps = (strides(x), strides(out))
    inside = copy_call(select, op, op.inputs[0], op.outputs[0], x.shape, *steps, 0, begin)
    return [_fill(select, op, attrs.value), inside]
