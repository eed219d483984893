# SPDX-License-Identifier: Apache-2.0
"""Neighbouring pixels of a convolution computed as one pixel of more outputs, with weights of zero.

Kernels compute outputs in blocks. A pixel costs as much as some hundred products before it makes the
first one, and outputs that are left of a block cost most. So where outputs are few, `count` pixels of a
row are one: its window is that of the first one and the columns up to the last one's, and it has the
outputs of each, which lie side by side in memory. Windows one column wide are read as they are, from
`count` pixels as one of more channels. Exact: products with a weight of zero add nothing, to a sum or to its
bound.

All pixels of a short row may be one. Then its window is all columns of the image, as one pixel of more
channels, and needs no padding: what weights that lie outside would have added, the input's zero point
times their sum, is added to the biases. These pixels follow each other in memory, so that they can be a
column, or a row: the windows of a row are gathered together, and each is one piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...ir import Array
from ...ir.fixed_point import I64
from ...target import Isa, Target
from ..kernels import gemm, planes, triples
from ..kernels.facts import windows_inside
from .groups import in_groups


@dataclass(frozen=True)
class _Costs:
    """Instructions of conv2d on DSP, from what `python -m benchmarks.sweep --kinds conv` counts; of int8
    without a clamp.

    Attributes:
        pixel: of a pixel, and `code` for each of its inputs.
        copied: of each input of a window that is gathered.
        two: of two outputs that are computed together, and `product` for each input.
        alone: of an output that is left, and `product_alone`.
    """

    pixel: float
    code: float
    copied: float
    two: float
    product: float
    alone: float
    product_alone: float


_COSTS_S8 = _Costs(93, 1.2, 2.3, 17, 1.42, 31, 1.42)
_COSTS_S16 = _Costs(112, 2.3, 2.5, 39, 1.59, 42, 1.0)
# Of a row of a window of int8 that is copied first, as pixels are no fours of codes, and of one that leaves
# the image.
_UNEVEN, _OUTSIDE = 38, 70

_MOST_PIXELS = 8
_MOST_OF_ROW = 16  # where they are all
_MOST_ROWS = 32  # that may be a single one; larger images may be computed in bands of rows
_MOST_OUTPUTS = 16  # of a window; more of them have little to gain
_MOST_OF_PIXEL = 12  # the same where windows are pixels, which need not be gathered
_MOST_BYTES = 1024  # of weights that may be added
_PER_CHANNEL = 9  # bytes of constants for its bias, multiplier and shift
# Of the instructions at most, so that estimates that are wrong do no harm.
_SHARE = {Isa.MVE: 0.93, Isa.DSP: 0.91, Isa.V7M: 0.87, Isa.V6M: 0.87}
_PER_BYTE = 1  # instructions that an added byte must save


@dataclass(frozen=True)
class Joined:
    """Pixels that are computed as one.

    Attributes:
        weight: [count * out_c, kernel_h, kernel_w, in_c], the outputs of the first pixel first.
        fields: of the parameter block, where they change.
        outside: for each output the sum of its weights that lie outside the image and were left out.
    """

    count: int
    weight: Array
    fields: dict[str, int]
    outside: I64


def join_neighbours(
    target: Target, weight: Array, fields: Mapping[str, int], wide: bool, *, rows: bool = True
) -> Joined | None:
    """How many pixels of a row to compute as one, if that is worth it.

    Args:
        weight: int8 [out_c, kernel_h, kernel_w, in_c] of a convolution of one group.
        fields: extents, window and places of the first window, of one whole image.
        wide: the codes are int16.
        rows: all pixels of a row may be one, and rows may be.
    """
    is_gathered = weight[0].size > weight.shape[3]
    most = _MOST_OUTPUTS if is_gathered else _MOST_OF_PIXEL
    isa = target.kernels
    if isa not in _SHARE or weight.shape[0] > most or (wide and isa in triples.ISAS):
        return None
    is_dilated = fields["dilation_w"] > 1 and fields["kernel_w"] > 1
    alone = instructions(isa, weight, fields, wide)
    ways = list(_ways(weight, fields, 1 if is_dilated else 2))
    if rows:
        ways += _whole_row(weight, fields)
    best, found = alone, None
    for joined in ways:
        each = instructions(isa, joined.weight, {**fields, **joined.fields}, wide)
        added = joined.weight.size - weight.size
        tables = _PER_CHANNEL * (len(joined.weight) - len(weight))
        cost = each + _PER_BYTE * (added + tables)
        if each < _SHARE[isa] * alone and added <= _MOST_BYTES and cost < best:
            best, found = cost, joined
    return found


def instructions(isa: Isa, weight: Array, fields: Mapping[str, int], wide: bool) -> float:
    """Of one image, by conv2d."""
    outputs, _, _, in_c = weight.shape
    facts = {**fields, "groups": 1, "in_c": in_c, "out_c": outputs}
    return instructions_of(isa, facts, wide)


def instructions_of(isa: Isa, facts: Mapping[str, int], wide: bool) -> float:
    """Of one image, by conv2d for this instruction set."""
    if isa in triples.ISAS:
        return triples.instructions(isa, facts)
    return gemm.instructions(facts, wide) if isa is Isa.MVE else instructions_dsp(facts, wide)


def instructions_dsp(facts: Mapping[str, int], wide: bool) -> float:
    """Of one image on DSP."""
    if facts["groups"] > 1:
        return in_groups(facts)
    if not wide and facts["in_c"] == 1 and planes.pay_dsp(facts):
        return planes.instructions_dsp(facts)
    kernel_h, kernel_w, in_c = facts["kernel_h"], facts["kernel_w"], facts["in_c"]
    costs = _COSTS_S16 if wide else _COSTS_S8
    depth = kernel_h * kernel_w * in_c
    twos, left = divmod(facts["out_c"], 2)
    total = costs.pixel + costs.code * depth
    total += twos * (costs.two + costs.product * depth)
    total += left * (costs.alone + costs.product_alone * depth)
    if not wide and in_c % 4 != 0:
        total += _UNEVEN * kernel_h * (kernel_w if facts["dilation_w"] > 1 else 1)
    if (kernel_h, kernel_w) != (1, 1) or min(facts["in_y0"], facts["in_x0"]) < 0:
        total += costs.copied * depth
    if not wide:
        total += _OUTSIDE * kernel_h * (1 - windows_inside(facts, "h") * windows_inside(facts, "w"))
    clamp = 0.0 if wide else planes.clamp_dsp(facts)
    return float(facts["out_h"] * facts["out_w"] * total + clamp)


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
        outside = np.zeros(count * out_c, np.int64)
        yield Joined(count, wide.reshape(count * out_c, kernel_h, -1, depth), changed, outside)


def _whole_row(weight: Array, fields: Mapping[str, int]) -> Iterator[Joined]:
    out_c, kernel_h, kernel_w, in_c = weight.shape
    width, columns = fields["out_w"], fields["in_w"]
    if width > _MOST_OF_ROW or columns * width * weight[:, :, 0].size > _MOST_BYTES + weight.size:
        return
    wide = np.zeros((width, out_c, kernel_h, columns, in_c), weight.dtype)
    outside = np.zeros((width, out_c), np.int64)
    for pixel, tap in np.ndindex(width, kernel_w):
        column = fields["in_x0"] + pixel * fields["stride_w"] + tap * fields["dilation_w"]
        if 0 <= column < columns:
            wide[pixel, :, :, column] = weight[:, :, tap]
        else:
            outside[pixel] += weight[:, :, tap].sum(axis=(1, 2), dtype=np.int64)
    changed = {"out_w": 1, "out_c": width * out_c, "out_pixel_stride": width * out_c}
    changed |= {"in_w": 1, "in_c": columns * in_c, "in_x0": 0}
    changed |= {"kernel_w": 1, "stride_w": 1, "dilation_w": 1}
    wide = wide.reshape(width * out_c, kernel_h, 1, columns * in_c)
    yield Joined(width, wide, changed, outside.reshape(-1))
    if kernel_h > 1 and max(fields["in_h"], fields["out_h"]) <= _MOST_ROWS:
        rows = {**fields, **changed}
        for name in ("in", "out", "kernel", "stride", "dilation"):
            changed |= {f"{name}_h": 1, f"{name}_w": rows[f"{name}_h"]}
        changed |= {"in_x0": fields["in_y0"], "in_y0": 0}
        changed["in_row_stride"] = fields["in_h"] * columns * in_c
        yield Joined(width, wide.swapaxes(1, 2), changed, outside.reshape(-1))
