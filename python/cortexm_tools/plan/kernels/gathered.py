# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one output of eight pixels at a time (kernels/src/conv/conv2d_gathered_mve.inc): the
scratch memory that they need, and how many instructions they take.

Fitted to what `python -m benchmarks.sweep --kinds conv` counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]

SYMBOL = "cortexm_conv2d_gathered_s8_mve"

# Of the instructions of other kernels at most so many, and so many less, so that estimates that are wrong do
# no harm. Whether the code is worth its flash is decided for a whole network: plan/search/gathers.py.
_SHARE = 0.8
_LEAST = 200
# Instructions that take as long as eight gathering loads beside their own, of sixteen elements each or of
# eight: docs/cycles.md.
_GATHER, _GATHER_TWOS = 55, 28
_MOST_SCRATCH = 4096  # bytes; the layers of large images are those whose other kernels are best
_PIXELS = 8
_LANES = 16
_MOST_OF_GROUP = 8  # channels, where there are several groups: vectors have whole pixels of them


@dataclass(frozen=True)
class _Copy:
    """The copy of the image.

    Attributes:
        channels: of a group.
        rows, row: of a group, and the bytes of each.
        chunks: of sixteen inputs of a window.
    """

    channels: int
    rows: int
    row: int
    chunks: int


def _copy(facts: Facts) -> _Copy:
    channels = facts["in_c"] // facts["groups"]
    columns, rows = (
        (facts[f"out_{along}"] - 1) * facts[f"stride_{along}"]
        + (facts[f"kernel_{along}"] - 1) * facts[f"dilation_{along}"]
        + 1
        for along in ("w", "h")
    )
    depth = facts["kernel_h"] * facts["kernel_w"] * channels
    return _Copy(channels, rows, columns * channels, -(-depth // _LANES))


def scratch(facts: Facts) -> int:
    """What is known of each output and of each chunk, the windows of eight pixels, the copy, and what is read
    behind it for pixels that a row does not have."""
    copy = _copy(facts)
    chunk = 20 + _PIXELS * _LANES
    behind = -facts["out_w"] % _PIXELS * facts["stride_w"] * copy.channels
    image = facts["groups"] * copy.rows * copy.row + behind
    return int(12 * facts["out_c"] + chunk * copy.chunks + image)


def fits(facts: Facts) -> bool:
    """Whether bytes have the distances of a chunk's inputs, of all pixels, and halfwords those of results."""
    copy = _copy(facts)
    if facts["groups"] > 1 and copy.channels > _MOST_OF_GROUP:
        return False
    if scratch(facts) > _MOST_SCRATCH or (_PIXELS - 1) * facts["out_pixel_stride"] >= 1 << 16:
        return False
    places = [
        ky * facts["dilation_h"] * copy.row + (kx * facts["dilation_w"]) * copy.channels + c
        for ky in range(facts["kernel_h"])
        for kx in range(facts["kernel_w"])
        for c in range(copy.channels)
    ]
    far = max(
        places[min(first + _LANES, len(places)) - 1] - places[first]
        for first in range(0, len(places), _LANES)
    )
    return bool(far + (_PIXELS - 2) * facts["stride_w"] * copy.channels <= 255)


def instructions(facts: Facts) -> float:
    """Of one image; infinite where it does not fit."""
    if not fits(facts):
        return math.inf
    copy = _copy(facts)
    groups, outputs, taps = facts["groups"], facts["out_c"], facts["kernel_h"] * facts["kernel_w"]
    fixed = 300 + 12 * (outputs + facts["kernel_h"])
    fixed += taps * (6 + (13 if copy.channels % 2 else 7) * copy.channels)
    fixed += groups * copy.rows * copy.row / 8
    pixels = min(facts["in_w"], copy.row // copy.channels)
    if groups == 1:
        filled = 12 + 3 * -(-pixels * copy.channels // 16)
    else:
        filled = groups * (7 + 5 * -(-pixels // (_PIXELS // copy.channels)))
        fixed += 15 * groups
    filled *= min(facts["in_h"], copy.rows)
    each = 35 + groups * (15 + 25 * copy.chunks) + outputs * (26 + 19 * copy.chunks)
    return float(fixed + filled + _strips(facts) * each)


def _strips(facts: Facts) -> int:
    """Eight pixels each, or those of a row that are left."""
    return int(facts["out_h"] * -(-facts["out_w"] // _PIXELS))


def pays(facts: Facts, others: float) -> bool:
    """Whether to take it where another form of the layer takes `others` instructions. Gathering loads take
    more cycles than others."""
    mine = instructions(facts)
    if mine >= _SHARE * others or mine > others - _LEAST:
        return False
    copy = _copy(facts)
    each = _GATHER if copy.channels % 2 else _GATHER_TWOS
    return bool(mine + each * _strips(facts) * facts["groups"] * copy.chunks < others)
