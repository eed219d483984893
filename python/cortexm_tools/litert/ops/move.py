# SPDX-License-Identifier: Apache-2.0
"""Movement of elements of any type: shapes, orders, repetitions, padding."""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.types import DType
from ..call import AGAIN, Call, reads


def _same_elements(call: Call) -> None:
    """The result says its shape."""
    call.give(call.operand(0))


reads("RESHAPE", options="ReshapeOptions")(_same_elements)
reads("SQUEEZE", options="SqueezeOptions")(_same_elements)
reads("EXPAND_DIMS", options="ExpandDimsOptions")(_same_elements)


@reads("TRANSPOSE", options="TransposeOptions")
def _transpose(call: Call) -> None:
    rank = len(call.lite(0).shape)
    perm = tuple(call.axis(axis, rank) for axis in call.integers(1))
    call.require(sorted(perm) == list(range(rank)), f"{perm} orders no {rank} dimensions", AGAIN)
    call.give(call.permute(call.operand(0), perm))


@reads("CONCATENATION", options="ConcatenationOptions")
def _concatenation(call: Call) -> None:
    fused = call.choice("fused_activation_function", "ActivationFunctionType")
    call.require(fused == "NONE", f"has the activation {fused}", "put it behind as an operator")
    call.types(*DType)
    call.same_scale(call.result(), *map(call.lite, range(len(call.operator.inputs))))
    call.emit(ops.Concat(call.axis(call.option("axis"), len(call.result().shape))), *call.operands)


@reads("PAD", options="PadOptions")
def _pad(call: Call) -> None:
    kind = call.type(call.lite(0))
    _padded(call, call.zero(call.result()) if kind is DType.S8 else 0)


@reads("PADV2", options="PadV2Options")
def _pad_by(call: Call) -> None:
    value = call.constant(2)
    call.require(value.size == 1, "is padded by several values", AGAIN)
    call.same_scale(call.lite(2), call.result())
    _padded(call, value.reshape(-1)[0].item())


def _padded(call: Call, value: float) -> None:
    rank = len(call.lite(0).shape)
    sides = pads(call, 1, rank)
    x, order = call.origin(call.operand(0))
    order = order or tuple(range(rank))
    places = [order.index(dim) for dim in range(rank)]
    before, after = (tuple(side[place] for place in places) for side in sides)
    shape = tuple(map(sum, zip(call.shape(x), before, after, strict=True)))
    padded = call.add(ops.Pad(before, after, value), x, dtype=call.dtype(x), shape=shape)  # type: ignore[arg-type]
    call.give(call.permute(padded, order))


def pads(call: Call, number: int, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A constant operand with two numbers for each dimension."""
    flat = call.integers(number)
    call.require(
        len(flat) == 2 * rank and min(flat, default=0) >= 0,
        f"cannot pad {rank} dimensions by {flat}",
        AGAIN,
    )
    return flat[::2], flat[1::2]


@reads("MIRROR_PAD", options="MirrorPadOptions")
def _mirror_pad(call: Call) -> None:
    x = call.operand(0)
    before, after = pads(call, 1, len(call.shape(x)))
    mode = "reflect" if call.choice("mode", "MirrorPadMode") == "REFLECT" else "symmetric"
    for axis, (low, high) in enumerate(zip(before, after, strict=True)):
        shape = call.shape(x)
        most = shape[axis] - (mode == "reflect")
        call.require(max(low, high) <= most, f"mirrors more than dimension {axis} has", AGAIN)
        if low or high:
            places = np.pad(np.arange(shape[axis], dtype=np.int32), (low, high), mode)  # type: ignore[call-overload]
            x = take(call, x, axis, places)
    call.give(x)


def take(call: Call, x: int, axis: int, places: np.typing.NDArray[np.int32]) -> int:
    """A tensor with these indices of one dimension."""
    shape = call.shape(x)
    wanted = (*shape[:axis], len(places), *shape[axis + 1 :])
    index = call.number(places)
    return call.add(ops.Index((axis,)), x, index, dtype=call.dtype(x), shape=wanted)


@reads("TILE", options="TileOptions")
def _tile(call: Call) -> None:
    shape, times = call.lite(0).shape, call.integers(1)
    call.require(
        len(times) == len(shape) and min(times, default=1) > 0, f"is repeated {times} times", AGAIN
    )
    made = tuple(n * size for n, size in zip(times, shape, strict=True))
    call.give(call.add(ops.Tile(), call.operand(0), dtype=call.type(call.lite(0)), shape=made))


@reads("BROADCAST_TO", options="BroadcastToOptions")
def _broadcast(call: Call) -> None:
    call.emit(ops.Expand(), call.operand(0))


@reads("FILL", options="FillOptions")
def _fill(call: Call) -> None:
    call.require(call.lite(1).numel == 1, "is filled with several values", AGAIN)
    call.emit(ops.Expand(), call.view(call.operand(1), ()))


@reads("ZEROS_LIKE", options="ZerosLikeOptions")
def _zeros(call: Call) -> None:
    y = call.result()
    call.give(call.number(np.zeros(y.shape, call.type(y).numpy)))


@reads("SHAPE", options="ShapeOptions")
def _shape(call: Call) -> None:
    call.give(call.number(np.array(call.lite(0).shape, call.type(call.result()).numpy)))


@reads("GATHER", options="GatherOptions")
def _gather(call: Call) -> None:
    call.require(call.option("batch_dims") == 0, "has batches of indices", "gather from one batch")
    axis = call.axis(call.option("axis"), len(call.lite(0).shape))
    call.emit(ops.Index((axis,)), *call.operands)


@reads("GATHER_ND", options="GatherNdOptions")
def _gather_nd(call: Call) -> None:
    x, index = call.operand(0), call.operand(1)
    *shape, count = call.shape(index) or (0,)
    call.require(0 < count <= len(call.shape(x)), f"has indices of {count} dimensions", AGAIN)
    indices = []
    for number in range(count):
        begin = (*[0] * len(shape), number)
        part = ops.Slice(begin, (1,) * (len(shape) + 1))
        column = call.add(part, index, dtype=call.dtype(index), shape=(*shape, 1))
        indices.append(call.view(column, tuple(shape)))
    call.emit(ops.Index(tuple(range(count))), x, *indices)
