# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one channel at a time (kernels/src/conv/planes_dsp.inc, depthwise_conv2d_mve.inc): the
instructions that they take, and whether these are fewer than the other kernels'.

Estimates, from what `python -m benchmarks.sweep --kinds conv,depthwise` counted of both kinds of kernels.
"""

from __future__ import annotations

from .contract import named
from .facts import Facts, windows_inside

_MOST_SCRATCH = 4096  # bytes; the layers of large images are those whose other kernels are best
_MOST_SCRATCH_PAIRS = 8192
_MOST_OUTPUTS = 16  # of a convolution of one channel

# Of the instructions of other kernels at most so many, so that the code is worth its flash, and layers
# that the estimate does not know well do not become slower.
_SHARE_DSP = 0.9

_MOST_FEW_COLUMNS = 256
_SHARE_FEW = 0.93  # of other kernels, and fewer by two instructions for each byte of code:
_LEAST_FEW = 1500
_SMALL_SHARE_FEW = 0.75  # or, of a single channel, at most so many, however few they are
# Of depthwise_conv2d_pairs, likewise.
_SHARE_PAIRS, _LEAST_PAIRS = 0.9, 2076


def _reach(facts: Facts) -> int:
    """Rows of a window, those between its taps included."""
    return int((facts["kernel_h"] - 1) * facts["dilation_h"] + 1)


def clamp_dsp(facts: Facts) -> float:
    """Instructions of the clamp of an image of int8 codes on DSP, where it has one."""
    if facts.get("act_min", -128) == -128 and facts.get("act_max", 127) == 127:
        return 0.0
    return float(facts["out_h"] * facts["out_w"] * (7 + 14 * facts["out_c"]))


def _instructions(facts: Facts, row: float, group: float, fill: float) -> float:
    """Of a layer: `row` and `group` for a row of an output channel, and `fill` for a row of the ring."""
    filled = min(facts["stride_h"], _reach(facts)) * facts["out_h"] + _reach(facts)
    outputs = facts["out_c"] * facts["out_h"] * (row + group)
    return float(outputs + facts["in_c"] * filled * fill)


def instructions_dsp(facts: Facts) -> float:
    """Of a layer of one input channel that is computed so, or of several outputs each; of int8."""
    groups, steps = -(-facts["out_w"] // 4), -(-facts["kernel_w"] // 2)
    counted = _instructions(
        facts,
        72 + 6 * facts["kernel_h"],
        groups * (42 + facts["kernel_h"] * (18 if steps == 2 else 8 + 9 * steps)),
        30 + 45 * facts["stride_w"] + 5 * facts["in_w"],
    )
    return 300 + counted + clamp_dsp(facts)


def _mine_dsp(facts: Facts) -> float:
    columns = facts["out_w"]
    groups = -(-columns // 4)
    steps = -(-facts["kernel_w"] // 2)
    return _instructions(
        facts,
        150 + 12 * facts["kernel_h"] + 8 * columns,
        groups * (52 + facts["kernel_h"] * (7 + 9 * steps)),
        30 + 45 * facts["stride_w"] + 5 * facts["in_w"],
    )


def pay_dsp(facts: Facts) -> bool:
    """Whether one channel at a time is best on DSP: mostly windows of many taps, and few channels."""
    taps, columns = facts["kernel_h"] * facts["kernel_w"], facts["out_w"]
    in_c, out_c = facts["in_c"], facts["out_c"]
    mine = instructions_dsp(facts) if 1 < in_c < out_c else _mine_dsp(facts)
    if in_c == 1:
        pixel = taps * (15 + 2 * out_c) + 50 * out_c
    elif in_c < out_c:
        pixel = _pixel_of_several(facts)
    else:
        pixel = in_c // 4 * 4 * (5.7 * taps + 40) + in_c % 4 * (12.3 * taps + 25)
    others = pixel * facts["out_h"] * columns
    is_small = in_c > 1 or out_c <= _MOST_OUTPUTS
    fits = columns > 1 and is_small and named()["planes_dsp"](facts) <= _MOST_SCRATCH
    return bool(fits and mine < _SHARE_DSP * others)


def _pixel_of_several(facts: Facts) -> float:
    """Instructions of the kernel in portable C for a pixel, where input channels have several outputs: those
    inside of the image share the table of their taps."""
    taps = facts["kernel_h"] * facts["kernel_w"]
    outside = 1 - windows_inside(facts, "h") * windows_inside(facts, "w")
    return float(70 + outside * (24 + 26 * taps) + facts["out_c"] * (35 + 4.6 * taps))


def _pixel_mve(facts: Facts) -> float:
    """Instructions of other kernels for a pixel, with MVE."""
    taps = facts["kernel_h"] * facts["kernel_w"]
    in_c, out_c = facts["in_c"], facts["out_c"]
    if in_c < out_c:
        pixel = _pixel_of_several(facts)
    elif in_c >= 8:
        chunks = -(-in_c // 8) * (14 * taps + 45) + (4 * taps + 15 if in_c % 8 else 0)
        pixel = (chunks + 5 * taps + 70) / 2
    elif in_c >= 4 and taps == 9 and facts["dilation_h"] == facts["dilation_w"] == 1:
        pixel = in_c * 40  # the DSP kernel of 3x3 windows
    else:
        pixel = in_c // 4 * 4 * (5.7 * taps + 40) + in_c % 4 * (12.3 * taps + 25)
    return float(pixel)


def pay_few(facts: Facts) -> bool:
    """Whether small windows of one channel after the other are best with MVE: of few channels."""
    if facts["out_w"] > _MOST_FEW_COLUMNS:
        return False
    in_c, out_c, height, width = (facts[name] for name in ("in_c", "out_c", "out_h", "out_w"))
    mine = _few(facts)
    if in_c == out_c and in_c % 8 == 0 and named()["squares"](facts):
        return False  # kernels of sixteens, or eights of two pixels, which other layers have mostly, too
    others = _pixel_mve(facts) * height * width
    if in_c == 1:  # neighbours as outputs of one pixel, at least
        others = height * (45 + (3.5 + 6.2 * out_c) * width)
        if mine <= _SMALL_SHARE_FEW * others:
            return True
    return bool(mine <= min(_SHARE_FEW * others, others - _LEAST_FEW))


def _few(facts: Facts) -> float:
    """Instructions of them."""
    pairs = -(-facts["out_h"] // 2)
    columns = min(facts["in_w"], facts["out_w"] + facts["kernel_w"] - 1)
    rows = 2 * pairs + facts["kernel_h"] - 1
    channel = 42 + rows * (10 + 5 * -(-columns // 16))
    channel += pairs * (18 + 37 * -(-facts["out_w"] // 4))
    return float(142 + facts["out_c"] * channel)


def pay_pairs(facts: Facts) -> bool:
    """Whether pairs of rows of one channel after the other are best with MVE: mostly for windows larger than
    3x3; kernels for those of sixteens, or of eights of two pixels, other layers mostly have, too."""
    if named()["squares"](facts) and (facts["in_c"] % 16 == 0 or facts["in_c"] == 8):
        return False
    mine, others = _pairs(facts), _pixel_mve(facts) * facts["out_h"] * facts["out_w"]
    is_small = named()["pairs_of_rows"](facts) <= _MOST_SCRATCH_PAIRS
    return bool(is_small and mine <= min(_SHARE_PAIRS * others, others - _LEAST_PAIRS))


def _pairs(facts: Facts) -> float:
    """Instructions of them."""
    pairs, twos = named()["row_pairs"](facts), -(-facts["out_h"] // 2)
    rows = min(facts["in_h"], 2 * ((twos - 1) * facts["stride_h"] + pairs))
    channel = 100 + 11 * facts["kernel_h"] + rows * (15 + 5 * -(-facts["in_w"] // 8))
    channel += twos * (14 + -(-facts["out_w"] // 4) * (31 + 17 * pairs))
    return float(200 + facts["out_c"] * channel)
