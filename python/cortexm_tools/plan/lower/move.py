# SPDX-License-Identifier: Apache-2.0
"""Movement of elements: strided copies, and fills."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...ir import DType, Op, ops
from ...target import Isa
from ..types import Arg, Call, Field, TensorArg
from .boxes import strides
from .broadcast import broadcast_strides
from .context import Selector, lowers
from .copies import copy_call


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
    own = broadcast_strides(x, len(out.shape))
    return [copy_call(select, op, op.inputs[0], op.outputs[0], out.shape, own, strides(out))]


def _fill(select: Selector, op: Op, value: int) -> Call:
    """Every element of the result is `value`: up to 32 bits by a fill with their pattern, else by a
    copy of one element."""
    out = select.tensor(op.outputs[0])
    element = np.full(1, value, out.dtype.numpy)
    result = TensorArg(op.outputs[0])
    pieces = element.view(np.int8)
    if select.target.isa is Isa.MVE and np.all(pieces == pieces[0]):
        fields: dict[str, Field] = {"count": out.numel * out.dtype.size, "value": pieces[0].item()}
        return select.call(select.kernel("fill", "x8", op), fields, [result])
    if out.dtype.size == 8:
        box: dict[str, Field] = {
            "rank": 1, "dims": (out.numel,), "in_stride": (0,), "out_stride": (1,),
        }  # fmt: skip
        source = select.constant("fill", element, needed=0)
        return select.call(select.kernel("copy", "x64", op), box, [source, result])
    pattern = element.view(np.int32).item() if out.dtype is DType.F32 else value
    fields = {"count": out.numel, "value": pattern}
    return select.call(select.kernel("fill", f"x{8 * out.dtype.size}", op), fields, [result])


@lowers(ops.Pad)
def _pad(select: Selector, attrs: ops.Pad, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    begin = sum(before * step for before, step in zip(attrs.before, strides(out), strict=True))
    steps = (strides(x), strides(out))
    inside = copy_call(select, op, op.inputs[0], op.outputs[0], x.shape, *steps, 0, begin)
    return [_fill(select, op, attrs.value), inside]


@lowers(ops.Concat)
def _concat(select: Selector, attrs: ops.Concat, op: Op) -> list[Call]:
    """One copy for each operand, each in its own memory order; or elements of two operands in turn."""
    out = select.tensor(op.outputs[0])
    step = strides(out)[attrs.dim]
    if _take_turns(select, attrs, op):
        kernel = select.kernel("interleave", f"x{8 * out.dtype.size}", op)
        args: list[Arg] = [TensorArg(index) for index in (*op.inputs, op.outputs[0])]
        return [select.call(kernel, {"count": out.numel // 2}, args)]
    calls, begin = [], 0
    for index in op.inputs:
        x = select.tensor(index)
        start = begin * step
        calls.append(
            copy_call(select, op, index, op.outputs[0], x.shape, strides(x), strides(out), 0, start)
        )
        begin += x.shape[attrs.dim]
    return calls


def _take_turns(select: Selector, attrs: ops.Concat, op: Op) -> bool:
    """Whether a kernel takes the elements of two operands in turn, which both need a copy."""
    operands = [select.tensor(index) for index in op.inputs]
    out = select.tensor(op.outputs[0])
    return (
        Isa.V7M in select.target.runs
        and select.target.isa is not Isa.MVE  # which has vectors for copies
        and out.dtype.size <= 2
        and strides(out)[attrs.dim] == 1
        and [x.shape[attrs.dim] for x in operands] == [1, 1]
        and out.numel > 2  # both lie in one piece then
        and all(x.dim_order == out.dim_order and not x.is_constant for x in operands)
        and not any(map(select.may_leave_gaps, op.inputs))
    )


@lowers(ops.Push)
def _push(select: Selector, attrs: ops.Push, op: Op) -> list[Call]:
    """What stays is moved to a lower address, row by row, so that the result may lie over the operand;
    then the new elements."""
    x, new = select.tensor(op.inputs[0]), select.tensor(op.inputs[1])
    out = select.tensor(op.outputs[0])
    dim = attrs.dim
    inner = strides(x)[dim] * x.dtype.size
    row, gone = x.shape[dim] * inner, new.shape[dim] * inner
    turns = x.nbytes // row
    step = row if turns > 1 else 0
    moved = replace(
        select.call(
            select.kernel("move", "x8", op),
            {"count": row - gone},
            [TensorArg(op.inputs[0], gone, step), TensorArg(op.outputs[0], 0, step)],
        ),
        turns=turns,
    )
    begin = (x.shape[dim] - new.shape[dim]) * strides(out)[dim]
    steps = (strides(new), strides(out))
    return [moved, copy_call(select, op, op.inputs[1], op.outputs[0], new.shape, *steps, 0, begin)]


@lowers(ops.Slice)
def _slice(select: Selector, attrs: ops.Slice, op: Op) -> list[Call]:
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    start = sum(begin * step for begin, step in zip(attrs.begin, strides(x), strict=True))
    steps = [a * b for a, b in zip(attrs.step, strides(x), strict=True)]
    step_out = strides(out)
    return [copy_call(select, op, op.inputs[0], op.outputs[0], out.shape, steps, step_out, start)]


@lowers(ops.Tile)
def _tile(select: Selector, attrs: ops.Tile, op: Op) -> list[Call]:
    """Every dimension as two: the repetition, in which the operand stands still, and the rest."""
    x, out = select.tensor(op.inputs[0]), select.tensor(op.outputs[0])
    missing = len(out.shape) - len(x.shape)
    sizes, own = (1,) * missing + x.shape, (0,) * missing + strides(x)
    dims: list[int] = []
    in_strides: list[int] = []
    out_strides: list[int] = []
    for extent, size, step, out_step in zip(out.shape, sizes, own, strides(out), strict=True):
        dims += [extent // size, size]
        in_strides += [0, step]
        out_strides += [size * out_step, out_step]
    return [copy_call(select, op, op.inputs[0], op.outputs[0], dims, in_strides, out_strides)]


@lowers(ops.AsStrided)
def _as_strided(select: Selector, attrs: ops.AsStrided, op: Op) -> list[Call]:
    """The operand is in C order (see assign_layouts)."""
    out = select.tensor(op.outputs[0])
    dims, steps = out.shape, attrs.strides
    whole = (op.inputs[0], op.outputs[0], dims, steps, strides(out), attrs.offset)
    return [copy_call(select, op, *whole)]
