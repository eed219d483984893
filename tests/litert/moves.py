# SPDX-License-Identifier: Apache-2.0
"""Files of an operator that moves elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.litert.draw import Draw, case, options_of, values


@case("PAD", "PADV2", kinds="int8 int16 float32")
def pad(d: Draw) -> None:
    shape = d.shape(4)
    around = d.random.integers(0, 3, (4, 2)).astype(np.int32)
    x = d.x(shape)
    operands = [x, d.file.constant(around)]
    if d.name == "PADV2":
        value = values(d.random, [1], d.file.graphs[0]["tensors"][x]["type"])
        operands.append(d.file.constant(value, **d.like(x)))
    out = tuple(n + int(a.sum()) for n, a in zip(shape, around, strict=True))
    d.op(
        d.name,
        operands,
        [d.y(out, **d.like(x))],
        "PadOptions" if d.name == "PAD" else "PadV2Options",
    )


@case(kinds="int8 float32")
def mirror_pad(d: Draw) -> None:
    shape = tuple(n + 2 for n in d.shape(d.number(2, 4)))
    around = d.random.integers(0, 3, (len(shape), 2)).astype(np.int32)
    x = d.x(shape)
    out = tuple(n + int(a.sum()) for n, a in zip(shape, around, strict=True))
    d.op(
        "MIRROR_PAD",
        [x, d.file.constant(around)],
        [d.y(out, **d.like(x))],
        "MirrorPadOptions",
        mode=d.one(0, 1),
    )


@case("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
def view(d: Draw) -> None:
    shape, name = d.shape(3), d.name
    more = (1, *shape[:2], *shape[2:])
    source, target = (more, shape) if name == "SQUEEZE" else (shape, more)
    x = d.x(source)
    operands = {"SQUEEZE": [], "EXPAND_DIMS": [d.ints(0)], "RESHAPE": [d.ints(*target)]}[name]
    options = (
        {"squeeze_dims": [0]}
        if name == "SQUEEZE"
        else {"new_shape": list(target)}
        if name == "RESHAPE"
        else {}
    )
    d.op(name, [x, *operands], [d.y(target, **d.like(x))], options_of(name), **options)


@case(kinds="int8 float32")
def transpose(d: Draw) -> None:
    shape = d.shape()
    perm = [int(n) for n in d.random.permutation(len(shape))]
    x = d.x(shape)
    y = d.y(tuple(shape[n] for n in perm), **d.like(x))
    d.op("TRANSPOSE", [x, d.ints(*perm)], [y], "TransposeOptions")


@case(kinds="int8 int16 float32")
def concatenation(d: Draw) -> None:
    shape, count = d.shape(3), d.number(2, 4)
    axis = d.number(0, 2)
    sizes = [d.number(1, 4) for _ in range(count)]
    like: dict[str, Any] = {}
    for size in sizes:
        x = d.x((*shape[:axis], size, *shape[axis + 1 :]), **like)
        like = d.like(x)
    y = d.y((*shape[:axis], sum(sizes), *shape[axis + 1 :]), **like)
    d.op("CONCATENATION", list(d.inputs), [y], "ConcatenationOptions", axis=d.one(axis, axis - 3))


@case("SPLIT", "SPLIT_V", kinds="int8 float32")
def split(d: Draw) -> None:
    shape, axis, count = list(d.shape(3)), d.number(0, 2), d.number(1, 3)
    sizes = [d.number(1, 3) for _ in range(count)]
    sizes = sizes if d.name == "SPLIT_V" else [sizes[0]] * count
    shape[axis] = sum(sizes)
    x = d.x(tuple(shape))
    for size in sizes:
        d.y((*shape[:axis], size, *shape[axis + 1 :]), **d.like(x))
    operands = [d.ints(axis), x] if d.name == "SPLIT" else [x, d.ints(*sizes), d.ints(axis)]
    table = "SplitOptions" if d.name == "SPLIT" else "SplitVOptions"
    d.op(d.name, operands, list(d.outputs), table, num_splits=count)


@case(kinds="int8 float32")
def pack(d: Draw) -> None:
    shape, count = d.shape(2), d.number(1, 3)
    axis = d.number(0, 2)
    like: dict[str, Any] = {}
    for _ in range(count):
        like = d.like(d.x(shape, **like))
    y = d.y((*shape[:axis], count, *shape[axis:]), **like)
    d.op("PACK", list(d.inputs), [y], "PackOptions", axis=axis, values_count=count)


@case(kinds="int8 float32")
def unpack(d: Draw) -> None:
    shape, axis = d.shape(3), d.number(0, 2)
    x = d.x(shape)
    for _ in range(shape[axis]):
        d.y(shape[:axis] + shape[axis + 1 :], **d.like(x))
    d.op("UNPACK", [x], list(d.outputs), "UnpackOptions", axis=axis, num=shape[axis])


@case("SLICE", kinds="int8 float32")
def part(d: Draw) -> None:
    shape = d.shape(d.number(1, 4))
    begin = [d.number(0, n - 1) for n in shape]
    size = [d.number(1, n - b) for n, b in zip(shape, begin, strict=True)]
    x = d.x(shape)
    d.op(
        "SLICE", [x, d.ints(*begin), d.ints(*size)], [d.y(tuple(size), **d.like(x))], "SliceOptions"
    )


@case(kinds="int8 float32")
def strided_slice(d: Draw) -> None:
    shape = d.shape(d.number(1, 4))
    steps = [d.one(1, 2, -1) for _ in shape]
    begin = [d.number(0, n - 1) for n in shape]
    end = [
        d.number(b + 1, n) if s > 0 else b - 1 for n, b, s in zip(shape, begin, steps, strict=True)
    ]
    end = [e if e >= 0 else -n - 1 for e, n in zip(end, shape, strict=True)]
    shrink = d.number(0, 2 ** len(shape) - 1) if d.one(0, 1) and min(steps) > 0 else 0
    out = [
        len(range(n)[slice(b, e, s)])
        for a, (n, b, e, s) in enumerate(zip(shape, begin, end, steps, strict=True))
        if not shrink >> a & 1
    ]
    x = d.x(shape)
    operands = [x, d.ints(*begin), d.ints(*end), d.ints(*steps)]
    d.op(
        "STRIDED_SLICE",
        operands,
        [d.y(tuple(out), **d.like(x))],
        "StridedSliceOptions",
        shrink_axis_mask=shrink,
    )


@case(kinds="int8 float32")
def gather(d: Draw) -> None:
    shape, axis, count = d.shape(3), d.number(0, 2), d.number(1, 4)
    x = d.x(shape)
    places = d.ints(*(d.number(0, shape[axis] - 1) for _ in range(count)))
    y = d.y((*shape[:axis], count, *shape[axis + 1 :]), **d.like(x))
    d.op("GATHER", [x, places], [y], "GatherOptions", axis=axis)


@case(kinds="int8 float32")
def gather_nd(d: Draw) -> None:
    shape, count, depth = d.shape(3), d.number(1, 4), d.number(1, 3)
    rows = [[d.number(0, n - 1) for n in shape[:depth]] for _ in range(count)]
    x = d.x(shape)
    index = d.file.constant(np.array(rows, np.int32))
    d.op("GATHER_ND", [x, index], [d.y((count, *shape[depth:]), **d.like(x))], "GatherNdOptions")


@case(kinds="int8 float32")
def broadcast_to(d: Draw) -> None:
    shape = d.shape(3)
    x = d.x(tuple(d.one(n, 1) for n in shape))
    d.op("BROADCAST_TO", [x, d.ints(*shape)], [d.y(shape, **d.like(x))], "BroadcastToOptions")


@case("RESIZE_BILINEAR", kinds="int8 float32")
@case("RESIZE_NEAREST_NEIGHBOR", kinds="int8 float32")
def resize(d: Draw) -> None:
    n, h, w, c = d.shape(4)
    mode = d.one({}, {"half_pixel_centers": 1}, {"align_corners": 1})
    size = d.number(1, 9), d.number(1, 9)
    if d.one(True, False):
        size = d.one(1, 2, 3, 4, 8) * h, d.one(1, 2, 4) * w
    x = d.x((n, h, w, c))
    table = {
        "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
        "RESIZE_BILINEAR": "ResizeBilinearOptions",
    }
    d.op(d.name, [x, d.ints(*size)], [d.y((n, *size, c), **d.like(x))], table[d.name], **mode)


@case("FILL", "ZEROS_LIKE", kinds="int8 float32")
def filled(d: Draw) -> None:
    shape = d.shape(3)
    if d.name == "FILL":
        operands = [d.ints(*shape), d.x(())]
    else:
        operands = [d.x(shape)]
    d.op(d.name, operands, [d.y(shape, **d.like(operands[-1]))], options_of(d.name))


@case("DEPTH_TO_SPACE", "SPACE_TO_DEPTH", kinds="int8 float32")
def blocks(d: Draw) -> None:
    n, h, w, c = d.shape(4)
    k = d.number(1, 3)
    small, large = (n, h, w, c * k * k), (n, h * k, w * k, c)
    source, target = (small, large) if d.name == "DEPTH_TO_SPACE" else (large, small)
    x = d.x(source)
    d.op(d.name, [x], [d.y(target, **d.like(x))], options_of(d.name), block_size=k)


@case("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", kinds="int8 float32")
def batches(d: Draw) -> None:
    n, h, w, c = d.shape(4)
    k = d.number(1, 3), d.number(1, 3)
    # TFLM pads with what lies in memory.
    most = 1 if d.name == "SPACE_TO_BATCH_ND" else 2
    around = d.random.integers(0, most, (2, 2)).astype(np.int32)
    rows, columns = h * k[0] + 3 * k[0], w * k[1] + 3 * k[1]
    apart = (n * math.prod(k), rows // k[0], columns // k[1], c)
    whole = (n, rows - int(around[0].sum()), columns - int(around[1].sum()), c)
    source, target = (whole, apart) if d.name == "SPACE_TO_BATCH_ND" else (apart, whole)
    x = d.x(source)
    operands = [x, d.ints(*k), d.file.constant(around)]
    table = {"S": "SpaceToBatchNDOptions", "B": "BatchToSpaceNDOptions"}[d.name[0]]
    d.op(d.name, operands, [d.y(target, **d.like(x))], table)
