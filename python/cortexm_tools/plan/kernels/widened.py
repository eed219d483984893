# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one output of four pixels at a time, whose windows are read from rows of the image
(kernels/src/conv/conv2d_widened_dsp.inc): the scratch memory that they need, and how many instructions they
take.

Fitted to what `python -m benchmarks.sweep --kinds conv` counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from . import planes
from .facts import Facts, is_pointwise

SYMBOL = "cortexm_conv2d_widened_s8_dsp"

# Of the instructions of other kernels at most so many, as more of these are loads, and so many less, so that
# the code is worth its flash.
_SHARE, _SHARE_OF_PLANES = 0.8, 0.95
_LEAST = 2 * 1384  # two for each byte
_BAND = 768  # words, unless one row of windows has more
_PIXELS = 4
# Of conv2d_one_output: pixels that are multiplied together, instructions of these, and of their sums for each
# input; what conv2d takes more for a pixel, at least, and what has to be saved for the code.
_THREE, _CODES, _INPUT = 3, 75, 5.0
_MORE, _MORE_OF_INPUT = 30, 1.5
_LEAST_OF_ONE = 4700


@dataclass(frozen=True)
class _Band:
    """Rows of a group in 16 bits.

    Attributes:
        pairs: of a group's channels; `steps` for an output, each of two products.
        row: words.
        together: rows of outputs; `rows` of the image.
    """

    pairs: int
    steps: int
    row: int
    together: int
    rows: int


def _band(facts: Facts) -> _Band:
    depth = facts["in_c"] // facts["groups"]
    pairs = (depth + 1) // 2
    high = (facts["kernel_h"] + 1) // 2 if depth == 1 else facts["kernel_h"]
    steps = high * facts["kernel_w"] * pairs
    stride, reach = facts["stride_w"], (facts["kernel_h"] - 1) * facts["dilation_h"] + 1
    columns = (facts["out_w"] - 1) * stride + (facts["kernel_w"] - 1) * facts["dilation_w"] + 1
    row = pairs * stride * -(-columns // stride)
    together = (_BAND // row - reach) // facts["stride_h"] + 1
    together = max(1, min(together, facts["out_h"]))
    return _Band(pairs, steps, row, together, (together - 1) * facts["stride_h"] + reach)


def scratch(facts: Facts) -> int:
    """What is known of the columns of a stride, and of what is multiplied for an output, and the band."""
    band = _band(facts)
    return int(12 * facts["stride_w"] + 8 * band.steps + 4 * band.rows * band.row)


def instructions(facts: Facts) -> float:
    """Of one image; infinite where rows are less than four pixels."""
    if facts["out_w"] < _PIXELS:
        return math.inf
    band = _band(facts)
    groups, outputs = facts["groups"], facts["out_c"]
    depth = facts["in_c"] // groups
    fours = depth // 4 if depth % 4 == 0 else band.pairs
    bands = -(-facts["out_h"] // band.together)
    filled = bands * min(facts["in_h"], band.rows)
    filled *= 35 + fours * (12 + 18 * facts["stride_w"] + 8 * facts["in_w"])
    each = 12 + -(-facts["out_w"] // _PIXELS) * (44 + 8 * band.steps)
    of_output = facts["out_h"] * each + bands * (70 + 12 * band.steps)
    fixed = 400 + 15 * band.steps + 3 * band.rows * band.row + planes.clamp_dsp(facts)
    return float(fixed + groups * filled + outputs * of_output)


def pays(facts: Facts, others: float, are_planes: bool) -> bool:
    """Whether to take it where another form of the layer takes `others` instructions.

    Args:
        are_planes: conv2d_planes computes that, whose code is as large, with as many loads.
    """
    mine = instructions(facts)
    if are_planes:
        return mine < _SHARE_OF_PLANES * others
    return mine < _SHARE * others and mine <= others - _LEAST


def one_output_pays(facts: Facts) -> bool:
    """Whether a layer takes conv2d_one_output: a 1x1 convolution of inputs in fours with one output, so large
    that it is worth the kernel's code."""
    is_one = facts["groups"] == facts["out_c"] == 1 and facts["in_c"] % 4 == 0
    if not is_one or facts["out_w"] < _THREE or not is_pointwise(facts):
        return False
    saved = facts["out_h"] * facts["out_w"] * (_MORE + _MORE_OF_INPUT * facts["in_c"])
    return bool(saved >= _LEAST_OF_ONE)


def one_output(facts: Facts) -> float:
    """Instructions of conv2d_one_output for one image."""
    threes = -(-facts["out_h"] * facts["out_w"] // _THREE)
    return float(150 + threes * (_CODES + _INPUT * facts["in_c"]))
