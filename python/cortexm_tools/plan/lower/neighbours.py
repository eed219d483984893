# SPDX-License-Identifier: Apache-2.0
"""Neighbouring pixels of a convolution computed as one pixel of more outputs, with weights of zero.

Kernels compute outputs in blocks. A pixel costs as much as some hundred products before it makes the
first one, and outputs that are left of a block cost most. So where outputs are few, `count` pixels of a
row are one: its window is that of the first one and the columns up to the last one's, and it has the
outputs of each, which lie side by side in memory. Windows one column wide are read as they are, from
`count` pixels as one of more channels. Exact: products with a weight of zero add nothing, to a sum or to
its bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...ir import Array
from ...ir.geometry import Window
from ...target import Isa, Target

NEIGHBOURS = "neighbours"
"""The name under which a plan does without."""


@dataclass(frozen=True)
class _Costs:
    """Instructions, from what `python -m benchmarks.sweep --kinds conv` counts.

    Attributes:
        pixel: of a pixel, and `code` for each of its inputs.
        run: of inputs that lie side by side in a row of a window that is gathered, and `copied` for each; a
            column that windows share is gathered once on MVE.
        block: outputs that are computed together: `together` and `products` for each `chunk` of inputs.
        alone: an output that is left, and `product` for each chunk.
    """

    pixel: float
    code: float
    run: float
    copied: float
    chunk: int
    block: int
    together: float
    products: float
    alone: float
    product: float


# By instruction set, and whether codes are int16.
_COSTS = {
    (Isa.MVE, False): _Costs(25, 0, 8.5, 0.45, 16, 4, 15, 7, 18, 3),
    (Isa.MVE, True): _Costs(36, 0, 8.5, 0.9, 8, 4, 18, 7, 20, 3),
    (Isa.DSP, False): _Costs(100, 1.2, 0, 2.3, 1, 2, 45, 1.42, 45, 1.42),
    (Isa.DSP, True): _Costs(139, 0, 0, 1.5, 1, 2, 21, 2.36, 120, 8),
}
_ROW = 45  # of a window of one row on MVE, which is read as it is inside the image

_MOST_PIXELS = 8
_MOST_OUTPUTS = 16  # of a pixel; more of them have little to gain
_MOST_BYTES = 1024  # of constants that may be added
_PER_CHANNEL = 9  # of them for its bias, multiplier and shift
_SHARE = 0.85  # of the instructions at most, so that estimates that are wrong do no harm
_PER_BYTE = 3  # instructions that an added byte must save


@dataclass(frozen=True)
class Joined:
    """Pixels that are computed as one.

    Attributes:
        weight: [count * out_c, kernel_h, kernel_w, in_c], the outputs of the first pixel first.
        fields: of the parameter block, where they change.
    """

    count: int
    weight: Array
    fields: Mapping[str, int]


def join_neighbours(
    target: Target, weight: Array, fields: Mapping[str, int], wide: bool
) -> Joined | None:
    """How many pixels of a row to compute as one, if that is worth it.

    Args:
        weight: int8 [out_c, kernel_h, kernel_w, in_c] of a convolution of one group.
        fields: extents, window and places of the first window, of one whole image.
        wide: the codes are int16.
    """
    if (target.isa, wide) not in _COSTS or weight.shape[0] > _MOST_OUTPUTS:
        return None
    is_dilated = fields["dilation_w"] > 1 and fields["kernel_w"] > 1
    if target.isa is Isa.MVE and _is_row(fields) and weight.shape[0] % 4 == 0:
        return None  # nothing is left of a block, and little is gathered
    alone = _instructions(target.isa, weight, fields, wide)
    best, found = _SHARE * alone, None
    for joined in _ways(weight, fields, 1 if is_dilated else 2):
        each = _instructions(target.isa, joined.weight, {**fields, **joined.fields}, wide)
        each /= joined.count
        tables = _PER_CHANNEL * (len(joined.weight) - len(weight))
        added = joined.weight.size - weight.size + tables
        saved = fields["out_h"] * fields["out_w"] * (alone - each)
        if each < best and added <= _MOST_BYTES and saved >= _PER_BYTE * added:
            best, found = each, joined
    return found


def _instructions(isa: Isa, weight: Array, fields: Mapping[str, int], wide: bool) -> float:
    """Of one pixel."""
    costs = _COSTS[isa, wide]
    outputs, kernel_h, kernel_w, in_c = weight.shape
    depth = kernel_h * kernel_w * in_c
    chunks = -(-depth // costs.chunk)
    blocks, left = divmod(outputs, costs.block)
    total = costs.pixel + costs.code * depth
    total += blocks * (costs.together + costs.products * chunks)
    total += left * (costs.alone + costs.product * chunks)
    if isa is Isa.MVE and _is_row(fields):
        total += _ROW
    elif (kernel_h, kernel_w) != (1, 1) or min(fields["in_y0"], fields["in_x0"]) < 0:
        columns = _columns(fields, kernel_h * in_c) if isa is Isa.MVE else kernel_w
        total += columns * kernel_h * (costs.run + costs.copied * in_c)
    return float(total)


def _is_row(fields: Mapping[str, int]) -> bool:
    return fields["kernel_h"] == fields["dilation_w"] == 1 < fields["kernel_w"]


def _columns(fields: Mapping[str, int], size: int) -> float:
    """Columns that are gathered for a window: `_columns` of plan/kernels/requirements.py."""
    width, stride = fields["kernel_w"], fields["stride_w"]
    if fields["dilation_w"] > 1 or stride > width:
        return float(width)
    most = max(2 * width, min(7 * stride + width, 512 // size))
    together = max(1, min((most - width) // stride + 1, fields["out_w"]))
    return float(((together - 1) * stride + width) / together)


def _ways(weight: Array, fields: Mapping[str, int], least: int) -> Iterator[Joined]:
    out_c, kernel_h, kernel_w, in_c = weight.shape
    width, stride, dilation = fields["out_w"], fields["stride_w"], fields["dilation_w"]
    reach = (kernel_w - 1) * dilation + 1
    for count in range(least, min(_MOST_PIXELS, width) + 1):
        if width % count:
            continue
        changed = {
            "out_w": width // count,
            "out_c": count * out_c,
            "out_pixel_stride": count * out_c,
            "dilation_w": 1,
        }
        if kernel_w == stride == 1 and fields["in_x0"] == 0 and fields["in_w"] == width:
            wide = np.zeros((count, out_c, kernel_h, 1, count, in_c), weight.dtype)
            for pixel in range(count):
                wide[pixel, :, :, :, pixel] = weight
            changed |= {"in_w": width // count, "in_c": count * in_c}
        else:
            columns = (count - 1) * stride + reach
            wide = np.zeros((count, out_c, kernel_h, columns, in_c), weight.dtype)
            for pixel in range(count):
                wide[pixel, :, :, pixel * stride : pixel * stride + reach : dilation] = weight
            changed |= {"kernel_w": columns, "stride_w": count * stride}
        depth = changed.get("in_c", in_c)
        yield Joined(count, wide.reshape(count * out_c, kernel_h, -1, depth), changed)


def is_dense_best(target: Target, weight: Array, window: Window) -> bool:
    """Whether a depthwise convolution of few channels, for which no kernel has vectors, costs more than
    one of all channels with weights of zero.

    Args:
        weight: int8 [1, kernel_h, kernel_w, channels].
    """
    _, kernel_h, kernel_w, channels = weight.shape
    taps = kernel_h * kernel_w
    if window.dilation != (1, 1):
        return False
    if target.isa is Isa.MVE:
        return channels < 8 and (taps <= 4 or window.stride[1] > 1 and taps <= 9)
    return target.isa is Isa.DSP and channels < 4 and taps <= 3


def dense(weight: Array) -> Array:
    """Weights of a depthwise convolution as of one of all channels: [channels, kernel_h, kernel_w,
    channels]."""
    _, *window, channels = weight.shape
    wide = np.zeros((channels, *window, channels), weight.dtype)
    for channel in range(channels):
        wide[channel, :, :, channel] = weight[0, :, :, channel]
    return wide
