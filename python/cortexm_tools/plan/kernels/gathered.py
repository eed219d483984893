# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one output of eight pixels at a time (kernels/src/conv/conv2d_gathered_mve.inc): the
scratch memory that they need, and how many instructions they take.

Fitted to what `python -m benchmarks.sweep --kinds conv` counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .facts import Facts
from .packing_mve import are_rows_apart

GATHERED = "cortexm_conv2d_gathered_s8_mve"
DIRECT = "cortexm_conv2d_direct_s8_mve"
SYMBOLS = (DIRECT, GATHERED)

# Of the instructions of other kernels at most so many, and so many less, so that estimates that are wrong do
# no harm. Whether the code is worth its flash is decided for a whole network: plan/search/gathers.py.
_SHARE = {GATHERED: 0.8, DIRECT: 0.9}
_LEAST = 200
# Instructions that take as long as eight gathering loads beside their own, of sixteen elements each or of
# eight: docs/cycles.md.
_GATHER, _GATHER_TWOS = 55, 28
# Bytes; the layers of large images are those whose other kernels are best, but for outputs that are left.
_MOST_SCRATCH, _MOST_SCRATCH_DIRECT = 4096, 8192
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
        direct: they are read from there, row by row.
        twos: two chunks at a time are.
        is_spared: the image itself is read.
    """

    channels: int
    rows: int
    row: int
    chunks: int
    direct: bool
    twos: bool
    is_spared: bool


def _copy(symbol: str, facts: Facts) -> _Copy:
    channels = facts["in_c"] // facts["groups"]
    columns, rows = (
        (facts[f"out_{along}"] - 1) * facts[f"stride_{along}"]
        + (facts[f"kernel_{along}"] - 1) * facts[f"dilation_{along}"]
        + 1
        for along in ("w", "h")
    )
    direct = symbol == DIRECT
    pieces, piece = 1, facts["kernel_w"] * channels
    if direct:
        pieces = facts["kernel_h"]
    else:
        piece *= facts["kernel_h"]
    each = -(-piece // _LANES)
    is_inside = facts["in_x0"] == 0 and 0 <= facts["in_y0"] <= facts["in_h"] - rows
    is_spared = direct and facts["groups"] == 1 and is_inside and piece % _LANES == 0
    is_spared = is_spared and columns * channels == facts["in_row_stride"]
    is_spared = is_spared and facts["out_w"] % _PIXELS == 0
    return _Copy(
        channels, rows, columns * channels, pieces * each, direct, each % 2 == 0, is_spared
    )


def scratch_gathered(facts: Facts) -> int:
    return _scratch(GATHERED, facts)


def scratch_direct(facts: Facts) -> int:
    return _scratch(DIRECT, facts)


def _scratch(symbol: str, facts: Facts) -> int:
    """What is known of each output and of each chunk, the copy, and what is read behind it for pixels that a
    row does not have. The windows of eight pixels too, or what is read behind a window's row."""
    copy = _copy(symbol, facts)
    behind = -facts["out_w"] % _PIXELS * facts["stride_w"] * copy.channels
    if copy.direct:
        behind += -facts["kernel_w"] * copy.channels % _LANES
    chunk = (2 if copy.twos else 4) if copy.direct else 20 + _PIXELS * _LANES
    image = 0 if copy.is_spared else facts["groups"] * copy.rows * copy.row + behind
    return int(12 * facts["out_c"] + chunk * copy.chunks + image)


def fits(symbol: str, facts: Facts) -> bool:
    """Whether halfwords have the distances of results; and, where windows are gathered, bytes those of a
    chunk's inputs, of all pixels, or else the columns of a window are side by side."""
    copy = _copy(symbol, facts)
    if facts["groups"] > 1 and copy.channels > _MOST_OF_GROUP:
        return False
    is_near = (_PIXELS - 1) * facts["out_pixel_stride"] < 1 << 16
    most = _MOST_SCRATCH_DIRECT if copy.direct else _MOST_SCRATCH
    if _scratch(symbol, facts) > most or not is_near:
        return False
    if copy.direct:
        return bool(facts["kernel_w"] == 1 or facts["dilation_w"] == 1)
    piece = [
        kx * facts["dilation_w"] * copy.channels + c
        for kx in range(facts["kernel_w"])
        for c in range(copy.channels)
    ]
    runs = [piece]
    if not are_rows_apart(facts["kernel_h"], len(piece)):
        below = facts["dilation_h"] * copy.row
        runs = [[ky * below + place for ky in range(facts["kernel_h"]) for place in piece]]
    far = max(
        places[min(first + _LANES, len(places)) - 1] - places[first]
        for places in runs
        for first in range(0, len(places), _LANES)
    )
    return bool(far + (_PIXELS - 2) * facts["stride_w"] * copy.channels <= 255)


def instructions(symbol: str, facts: Facts) -> float:
    """Of one image; infinite where it does not fit."""
    if not fits(symbol, facts):
        return math.inf
    copy = _copy(symbol, facts)
    groups, outputs, taps = facts["groups"], facts["out_c"], facts["kernel_h"] * facts["kernel_w"]
    fixed = 265 + 3 * outputs + 12 * facts["kernel_h"]
    if copy.direct:
        fixed += 8 * copy.chunks
    else:
        fixed += taps * (7 + (11 if copy.channels % 2 else 7) * copy.channels)
    each = _strips(facts) * _strip(copy, facts)
    if copy.is_spared:
        return float(fixed + each)
    fixed += groups * copy.rows * copy.row / 8
    pixels = min(facts["in_w"], copy.row // copy.channels)
    if groups == 1:
        filled = 12 + 3 * -(-pixels * copy.channels // 16)
    else:
        together = min(_LANES // copy.channels, (256 - copy.channels) // facts["in_c"] + 1)
        filled = groups * (7 + 5 * -(-pixels // together))
        fixed += 15 * groups
    filled *= min(facts["in_h"], copy.rows)
    return float(fixed + filled + each)


def _strip(copy: _Copy, facts: Facts) -> float:
    groups, outputs = facts["groups"], facts["out_c"]
    if copy.direct:
        chunk = 23 if copy.twos else 29
        return float(5 + 10 * groups + outputs * (41 + chunk * copy.chunks))
    return float(14 + groups * (15 + 25 * copy.chunks) + outputs * (26 + 19 * copy.chunks))


def _strips(facts: Facts) -> int:
    """Eight pixels each, or those of a row that are left."""
    return int(facts["out_h"] * -(-facts["out_w"] // _PIXELS))


def pays(symbol: str, facts: Facts, others: float) -> bool:
    """Whether to take it where another form of the layer takes `others` instructions; loads that gather take
    time beside their own."""
    mine = instructions(symbol, facts)
    if mine >= _SHARE[symbol] * others or mine > others - _LEAST:
        return False
    copy = _copy(symbol, facts)
    if copy.direct:
        return True
    each = _GATHER if copy.channels % 2 else _GATHER_TWOS
    return bool(mine + each * _strips(facts) * facts["groups"] * copy.chunks < others)
