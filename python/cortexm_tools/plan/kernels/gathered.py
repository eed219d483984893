# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one output of eight pixels at a time (kernels/src/conv/conv2d_gathered_mve.inc): how
many instructions they take.

Fitted to what `python -m benchmarks.sweep --kinds conv` counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .contract import named
from .facts import Facts, reach

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
    is_spared = direct and bool(named()["copy_spared"](facts))
    return _Copy(
        channels, rows, columns * channels, pieces * each, direct, each % 2 == 0, is_spared
    )


def fits(symbol: str, facts: Facts) -> bool:
    """Whether a kernel may compute a layer, and needs little memory for it."""
    if not named()["near_results"](facts):
        return False
    if symbol == DIRECT:
        is_near = facts["kernel_w"] == 1 or facts["dilation_w"] == 1
        return bool(is_near and named()["direct"](facts) <= _MOST_SCRATCH_DIRECT)
    if named()["gathered"](facts) > _MOST_SCRATCH:
        return False
    return bool(reach(facts) + 6 * facts["stride_w"] * facts["in_c"] // facts["groups"] <= 255)


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
