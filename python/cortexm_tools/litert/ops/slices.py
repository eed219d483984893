# SPDX-License-Identifier: Apache-2.0
"""Parts of tensors, and tensors of parts."""

from __future__ import annotations

from ...ir import ops
from ..call import AGAIN, Call, reads


def part(
    call: Call, x: int, begin: tuple[int, ...], shape: tuple[int, ...], step: tuple[int, ...] = ()
) -> int:
    """Elements from `begin` on, every `step`-th."""
    attrs = ops.Slice(begin, step or (1,) * len(begin))
    if shape == call.shape(x) and not any(begin) and set(attrs.step) <= {1}:
        return x
    return call.add(attrs, x, dtype=call.dtype(x), shape=shape)


@reads("SLICE", options="SliceOptions")
def _slice(call: Call) -> None:
    x = call.operand(0)
    shape, begin, size = call.shape(x), call.integers(1), call.integers(2)
    call.require(len(begin) == len(size) == len(shape), f"begins at {begin} of {shape}", AGAIN)
    wanted = tuple(
        extent - first if count == -1 else count
        for extent, first, count in zip(shape, begin, size, strict=True)
    )
    call.give(part(call, x, begin, wanted))


@reads("STRIDED_SLICE", options="StridedSliceOptions")
def _strided_slice(call: Call) -> None:
    x = call.operand(0)
    shape = call.shape(x)
    for mask in ("ellipsis_mask", "new_axis_mask", "offset"):
        call.require(
            not call.option(mask), f"has the option {mask}", "write the slice of each dimension"
        )
    firsts, ends, steps = (call.integers(number) for number in (1, 2, 3))
    call.require(
        len(firsts) == len(ends) == len(steps) <= len(shape) and 0 not in steps,
        f"cannot slice {shape} from {firsts} to {ends} by {steps}",
        AGAIN,
    )
    begin_mask, end_mask, shrink = (
        call.option(name) for name in ("begin_mask", "end_mask", "shrink_axis_mask")
    )
    begin, wanted, by = [], [], []
    for axis, extent in enumerate(shape):
        bit, whole = 1 << axis, axis >= len(firsts)
        step = 1 if whole else steps[axis]
        first = None if whole or begin_mask & bit else firsts[axis]
        last = None if whole or end_mask & bit else ends[axis]
        if shrink & bit:
            at = range(extent)[slice(first, None, step)][:1]
        else:
            at = range(extent)[slice(first, last, step)]
        call.require(len(at) > 0, f"leaves nothing of dimension {axis}", AGAIN)
        begin.append(at[0])
        wanted.append(len(at))
        by.append(step)
    call.give(part(call, x, tuple(begin), tuple(wanted), tuple(by)))


@reads("SPLIT", options="SplitOptions")
def _split(call: Call) -> None:
    count = len(call.operator.outputs)
    x = call.operand(1)
    axis = call.one_axis(0, len(call.shape(x)))
    call.require(
        count > 0 and call.shape(x)[axis] % count == 0 and call.option("num_splits") == count,
        f"does not split {call.shape(x)} into {count}",
        AGAIN,
    )
    _parts(call, x, axis, [call.shape(x)[axis] // count] * count)


@reads("SPLIT_V", options="SplitVOptions")
def _split_v(call: Call) -> None:
    x = call.operand(0)
    axis = call.one_axis(2, len(call.shape(x)))
    sizes = list(call.integers(1))
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = call.shape(x)[axis] - sum(sizes) - 1
    fits = sum(sizes) == call.shape(x)[axis] and min(sizes, default=0) > 0
    call.require(
        fits and len(sizes) == len(call.operator.outputs), f"does not split into {sizes}", AGAIN
    )
    _parts(call, x, axis, sizes)


def _parts(call: Call, x: int, axis: int, sizes: list[int]) -> None:
    """All parts of a tensor along one dimension."""
    shape, at = call.shape(x), 0
    for number, size in enumerate(sizes):
        begin = tuple(at if dim == axis else 0 for dim in range(len(shape)))
        wanted = (*shape[:axis], size, *shape[axis + 1 :])
        made = part(call, x, begin, wanted)
        call.give(made, number)
        at += size


@reads("PACK", options="PackOptions")
def _pack(call: Call) -> None:
    shape = call.lite(0).shape
    axis = call.axis(call.option("axis"), len(shape) + 1)
    call.same_scale(call.result(), *map(call.lite, range(len(call.operator.inputs))))
    kind = call.type(call.lite(0))
    parts = [call.view(x, (*shape[:axis], 1, *shape[axis:])) for x in call.operands]
    wanted = (*shape[:axis], len(parts), *shape[axis:])
    call.give(call.add(ops.Concat(axis), *parts, dtype=kind, shape=wanted))


@reads("UNPACK", options="UnpackOptions")
def _unpack(call: Call) -> None:
    x = call.operand(0)
    axis = call.axis(call.option("axis"), len(call.shape(x)))
    count = len(call.operator.outputs)
    call.require(call.shape(x)[axis] == count, f"does not give {count} tensors", AGAIN)
    _parts(call, x, axis, [1] * count)
