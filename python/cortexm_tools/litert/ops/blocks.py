# SPDX-License-Identifier: Apache-2.0
"""Blocks of images as channels or as batches, and images in another size."""

from __future__ import annotations

import math

import numpy as np

from ...ir import ops
from ...ir.types import DType
from ..call import AGAIN, Call, reads
from .move import pads
from .slices import part

_LARGEST = 2**14
"""Rows and columns of images that are resized."""


def _image(call: Call) -> tuple[int, tuple[int, int, int, int]]:
    x = call.operand(0)
    shape = call.shape(x)
    call.require(len(shape) == 4, f"{call.lite(0)} is no image", AGAIN)
    n, h, w, c = shape
    return x, (n, h, w, c)


def _block(call: Call) -> int:
    size = int(call.option("block_size"))
    call.require(size > 0, f"has blocks of {size}", AGAIN)
    return size


@reads("DEPTH_TO_SPACE", options="DepthToSpaceOptions")
def _depth_to_space(call: Call) -> None:
    x, (n, h, w, c) = _image(call)
    size = _block(call)
    call.require(c % size**2 == 0, f"{c} channels are no blocks of {size}", AGAIN)
    x = call.view(x, (n, h, w, size, size, c // size**2))
    call.give(call.permute(x, (0, 1, 3, 2, 4, 5)))


@reads("SPACE_TO_DEPTH", options="SpaceToDepthOptions")
def _space_to_depth(call: Call) -> None:
    x, (n, h, w, c) = _image(call)
    size = _block(call)
    call.require(h % size == 0 == w % size, f"{h}x{w} are no blocks of {size}", AGAIN)
    x = call.view(x, (n, h // size, size, w // size, size, c))
    call.give(call.permute(x, (0, 1, 3, 2, 4, 5)))


def _blocks(call: Call, rank: int) -> tuple[int, ...]:
    blocks = call.integers(1)
    call.require(
        0 < len(blocks) < rank and min(blocks, default=0) > 0, f"has blocks of {blocks}", AGAIN
    )
    return blocks


@reads("SPACE_TO_BATCH_ND", options="SpaceToBatchNDOptions")
def _space_to_batch(call: Call) -> None:
    x = call.operand(0)
    blocks = _blocks(call, len(call.shape(x)))
    count, rest = len(blocks), len(call.shape(x)) - len(blocks) - 1
    before, after = pads(call, 2, count)
    kind = call.type(call.lite(0))
    value = call.zero(call.result()) if kind is DType.S8 else 0
    around = [(0, *side, *[0] * rest) for side in (before, after)]
    if any(map(any, around)):
        shape = tuple(map(sum, zip(call.shape(x), *around, strict=True)))
        attrs = ops.Pad(tuple(around[0]), tuple(around[1]), value)
        x = call.add(attrs, x, dtype=kind, shape=shape)
    batch, *extents = call.shape(x)
    space, inner = extents[:count], extents[count:]
    fits = all(n % block == 0 for n, block in zip(space, blocks, strict=True))
    call.require(fits, f"{space} are no blocks of {blocks}", AGAIN)
    split = [k for n, block in zip(space, blocks, strict=True) for k in (n // block, block)]
    x = call.view(x, (batch, *split, *inner))
    odd, even = range(2, 2 * count + 1, 2), range(1, 2 * count, 2)
    perm = (*odd, 0, *even, *range(2 * count + 1, 2 * count + 1 + rest))
    call.give(call.permute(x, perm))


@reads("BATCH_TO_SPACE_ND", options="BatchToSpaceNDOptions")
def _batch_to_space(call: Call) -> None:
    x = call.operand(0)
    blocks = _blocks(call, len(call.shape(x)))
    count, rest = len(blocks), len(call.shape(x)) - len(blocks) - 1
    before, after = pads(call, 2, count)
    total, *extents = call.shape(x)
    space, inner = extents[:count], extents[count:]
    batch = total // math.prod(blocks)
    call.require(batch * math.prod(blocks) == total, f"{total} are no blocks of {blocks}", AGAIN)
    x = call.view(x, (*blocks, batch, *space, *inner))
    pairs = [k for n in range(count) for k in (count + 1 + n, n)]
    x = call.permute(x, (count, *pairs, *range(2 * count + 1, 2 * count + 1 + rest)))
    full = [n * block for n, block in zip(space, blocks, strict=True)]
    x = call.view(x, (batch, *full, *inner))
    kept = [n - low - high for n, low, high in zip(full, before, after, strict=True)]
    call.require(min(kept) > 0, f"crops all of {full}", AGAIN)
    call.give(part(call, x, (0, *before, *[0] * rest), (batch, *kept, *inner)))


@reads("RESIZE_NEAREST_NEIGHBOR", options="ResizeNearestNeighborOptions")
def _nearest(call: Call) -> None:
    _, (_, h, w, _) = _image(call)
    aligned, half = call.option("align_corners"), call.option("half_pixel_centers")
    _, out_h, out_w, _ = _size(call)
    rows, cols = (
        _nearest_places(size, out, bool(aligned), bool(half))
        for size, out in ((h, out_h), (w, out_w))
    )
    attrs = ops.UpsampleNearest2d(rows, cols)
    call.give_image(call.image_result(attrs, call.image(call.operand(0))))


def _size(call: Call) -> tuple[int, ...]:
    """The result's shape, which an operand says as well."""
    shape, size = call.result().shape, call.integers(1)
    call.require(
        len(shape) == 4 and shape[1:3] == size, f"the result has shape {shape}, not {size}", AGAIN
    )
    call.require(max(size) <= _LARGEST, f"the image has more than {_LARGEST:,} rows or columns")
    return shape


def _step(size: int, out: int, aligned: bool) -> np.float32:
    if aligned and out > 1:
        size, out = size - 1, out - 1
    return np.float32(size) / np.float32(out)


def _nearest_places(size: int, out: int, aligned: bool, half: bool) -> tuple[int, ...]:
    offset = np.float32(0.5 if half else 0.0)
    places = (np.arange(out, dtype=np.float32) + offset) * _step(size, out, aligned)
    found = np.floor(places + np.float32(0.5)) if aligned else np.floor(places)
    return tuple(int(place) for place in np.clip(found, 0, size - 1))


@reads("RESIZE_BILINEAR", options="ResizeBilinearOptions")
def _bilinear(call: Call) -> None:
    """TFLM rounds the codes once, ties away from 0."""
    kind = call.types(DType.F32, DType.S8, operands=1)
    _, (_, h, w, _) = _image(call)
    aligned, half = bool(call.option("align_corners")), bool(call.option("half_pixel_centers"))
    call.require(not (aligned and half), "aligns both corners and centers of pixels", AGAIN)
    _, out_h, out_w, _ = _size(call)
    call.same_scale(call.lite(0), call.result())
    places = _linear_places if kind is DType.F32 else _code_places
    rows, cols = (places(size, out, aligned, half) for size, out in ((h, out_h), (w, out_w)))
    attrs = ops.UpsampleBilinear2d(rows, cols, away=kind is DType.S8)
    call.give_image(call.image_result(attrs, call.image(call.operand(0))))


def _code_places(size: int, out: int, aligned: bool, half: bool) -> tuple[ops.Between, ...]:
    """Places in units of 2**-10."""
    spans, steps = (size - 1, out - 1) if aligned and out > 1 else (size, out)
    step = ((spans << 10) + steps // 2) // steps
    found = []
    for number in range(out):
        at = max(number * step + (step // 2 - 512 if half else 0), 0)
        low = min(at >> 10, size - 1)
        high = min(low + 1, size - 1)
        found.append(ops.Between(low, high, (at - (low << 10)) / 1024 if low < high else 0.0))
    return tuple(found)


def _linear_places(size: int, out: int, aligned: bool, half: bool) -> tuple[ops.Between, ...]:
    step = _step(size, out, aligned)
    found = []
    for number in range(out):
        at = np.float32(number) * step
        if half:
            at = (np.float32(number) + np.float32(0.5)) * step - np.float32(0.5)
        low = max(int(np.floor(at)), 0)
        high = min(int(np.ceil(at)), size - 1)
        weight = float(np.clip(at - np.float32(low), 0.0, 1.0))
        found.append(ops.Between(min(low, size - 1), high if high >= low else low, weight))
    return tuple(found)
