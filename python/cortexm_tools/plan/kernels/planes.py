# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one channel at a time (kernels/src/conv/planes_dsp.inc, depthwise_conv2d_mve.inc): the
scratch memory that they need, and whether they take fewer instructions than the other kernels.

Estimates, from what `python -m benchmarks.sweep --kinds conv,depthwise` counted of both kinds of kernels.
"""

from __future__ import annotations

from .facts import Facts, windows_inside

_MOST_SCRATCH = 4096  # bytes; the layers of large images are those whose other kernels are best
_MOST_SCRATCH_PAIRS = 8192
_MOST_OUTPUTS = 16  # of a convolution of one channel

# Of the instructions of other kernels at most so many, so that the code is worth its flash, and layers
# that the estimate does not know well do not become slower.
_SHARE_DSP = 0.9

_MOST_FEW = 17  # channels, so that a byte says how far sixteen pixels reach
_MOST_FEW_COLUMNS = 256
_SHARE_FEW = 0.93  # of other kernels, and fewer by two instructions for each byte of code:
_LEAST_FEW = 1500
_SMALL_SHARE_FEW = 0.75  # or, of a single channel, at most so many, however few they are
# Of depthwise_conv2d_pairs: columns of its windows, and the same as for few channels.
_MOST_COLUMNS = 8
_SHARE_PAIRS, _LEAST_PAIRS = 0.9, 2076


def _reach(facts: Facts) -> int:
    """Rows of a window, those between its taps included."""
    return int((facts["kernel_h"] - 1) * facts["dilation_h"] + 1)


def clamp_dsp(facts: Facts) -> float:
    """Instructions of the clamp of an image of int8 codes on DSP, where it has one."""
    if facts.get("act_min", -128) == -128 and facts.get("act_max", 127) == 127:
        return 0.0
    return float(facts["out_h"] * facts["out_w"] * (7 + 14 * facts["out_c"]))


def scratch_dsp(facts: Facts) -> int:
    """What is known of the columns of a stride, of each output of an input channel and its table, and rows of
    an input channel in a ring: planes_of in planes_dsp.inc."""
    stride, dilation = facts["stride_w"], facts["dilation_w"]
    steps = -(-facts["kernel_w"] // 2)
    outputs = -(-facts["out_w"] // 4) * 4
    columns = (outputs - 1) * stride + (2 * steps - 1) * dilation + 1
    row = stride * (-(-dilation // stride) + (columns - 1) // stride + 1)
    multiple = facts["out_c"] // facts["in_c"]
    tables = 4 * facts["kernel_h"] * (1 + 2 * steps)
    return int(16 * stride + multiple * (40 + tables) + 4 * _reach(facts) * row)


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
    fits = columns > 1 and is_small and scratch_dsp(facts) <= _MOST_SCRATCH
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


def scratch_few(facts: Facts) -> int:
    """What is known of a channel, and four rows of it with their padding: `plane_t` in
    depthwise_conv2d_mve.inc."""
    return int(160 + 4 * (facts["out_w"] + 6))


def pay_few(facts: Facts) -> bool:
    """Whether small windows of one channel after the other are best with MVE: of few channels."""
    if not _are_few(facts):
        return False
    in_c, out_c, height, width = (facts[name] for name in ("in_c", "out_c", "out_h", "out_w"))
    mine = _few(facts)
    if in_c == out_c and in_c % 8 == 0 and are_squares(facts):
        return False  # kernels of sixteens, or eights of two pixels, which other layers have mostly, too
    others = _pixel_mve(facts) * height * width
    if in_c == 1:  # neighbours as outputs of one pixel, at least
        others = height * (45 + (3.5 + 6.2 * out_c) * width)
        if mine <= _SMALL_SHARE_FEW * others:
            return True
    return bool(mine <= min(_SHARE_FEW * others, others - _LEAST_FEW))


def _are_few(facts: Facts) -> bool:
    """Windows that four columns of four rows are enough for in two rows of outputs, in places that 8 and 16
    bits tell."""
    height, width = facts["kernel_h"], facts["kernel_w"]
    steps = (facts[name] for name in ("stride_h", "stride_w", "dilation_h", "dilation_w"))
    return bool(
        height <= 3
        and width <= 4
        and set(steps) == {1}
        and facts["in_c"] <= _MOST_FEW
        and (height * width - 1) * facts["out_c"] <= 255
        and (facts["out_w"] + 4) * facts["out_pixel_stride"] < 1 << 16
        and facts["out_w"] <= _MOST_FEW_COLUMNS
    )


def _few(facts: Facts) -> float:
    """Instructions of them."""
    pairs = -(-facts["out_h"] // 2)
    columns = min(facts["in_w"], facts["out_w"] + facts["kernel_w"] - 1)
    rows = 2 * pairs + facts["kernel_h"] - 1
    channel = 42 + rows * (10 + 5 * -(-columns // 16))
    channel += pairs * (18 + 37 * -(-facts["out_w"] // 4))
    return float(142 + facts["out_c"] * channel)


def _pairs_of(facts: Facts) -> int:
    """Pairs of rows that the windows of two rows of outputs have."""
    below = facts["stride_h"] if facts["out_h"] > 1 else 0
    return int((facts["kernel_h"] + below + 1) // 2)


def scratch_pairs(facts: Facts) -> int:
    """What is known of a channel, its weights, and its rows with their padding: `plane_t` of
    depthwise_conv2d_pairs in depthwise_conv2d_pairs_mve.inc."""
    pairs, twos = _pairs_of(facts), -(-facts["out_h"] // 2)
    columns = (-(-facts["out_w"] // 4) * 4 - 1) * facts["stride_w"] + 8
    rows = (twos - 1) * facts["stride_h"] + pairs
    return int(112 + 32 * pairs + 2 * rows * columns)


def pay_pairs(facts: Facts) -> bool:
    """Whether pairs of rows of one channel after the other are best with MVE: mostly for windows larger than
    3x3."""
    if not _are_pairs(facts):
        return False
    mine, others = _pairs(facts), _pixel_mve(facts) * facts["out_h"] * facts["out_w"]
    return bool(mine <= min(_SHARE_PAIRS * others, others - _LEAST_PAIRS))


def _are_pairs(facts: Facts) -> bool:
    """Windows of up to eight columns, in places that 16 bits tell; no 3x3 windows of sixteens, or of eights
    of two pixels, whose kernels other layers have mostly, too."""
    return bool(
        facts["dilation_h"] == facts["dilation_w"] == 1
        and facts["stride_w"] <= 2
        and facts["kernel_w"] <= _MOST_COLUMNS
        and not (are_squares(facts) and (facts["in_c"] % 16 == 0 or facts["in_c"] == 8))
        and facts["out_c"] % facts["in_c"] == 0
        and (facts["out_w"] + 4) * facts["out_pixel_stride"] < 1 << 16
        and 7 * facts["out_c"] < 1 << 16
        and scratch_pairs(facts) <= _MOST_SCRATCH_PAIRS
    )


def _pairs(facts: Facts) -> float:
    """Instructions of them."""
    pairs, twos = _pairs_of(facts), -(-facts["out_h"] // 2)
    rows = min(facts["in_h"], 2 * ((twos - 1) * facts["stride_h"] + pairs))
    channel = 100 + 11 * facts["kernel_h"] + rows * (15 + 5 * -(-facts["in_w"] // 8))
    channel += twos * (14 + -(-facts["out_w"] // 4) * (31 + 17 * pairs))
    return float(200 + facts["out_c"] * channel)


def are_squares(facts: Facts) -> bool:
    """3x3 windows without gaps, at most two columns apart."""
    return bool(
        facts["kernel_h"] == facts["kernel_w"] == 3
        and facts["dilation_h"] == facts["dilation_w"] == 1
        and facts["stride_h"] <= 3
        and facts["stride_w"] <= 2
    )


def scratch_band(facts: Facts) -> int:
    """Nine rows of the image of four channels: pairs of 16-bit values, as many as a row needs."""
    along = "h" if is_turned(facts) else "w"
    outputs = facts[f"out_{along}"]
    pairs = (outputs + 1) // 2 if facts[f"stride_{along}"] == 1 else outputs
    return int(4 * 9 * 4 * (pairs + 1))


def is_turned(facts: Facts) -> bool:
    """As set_image in kernels/src/conv/depthwise_conv2d_dsp.inc."""
    return bool(
        (facts["out_w"] - 1) * facts["stride_w"] + 3 <= 9
        and facts["stride_h"] <= facts["stride_w"]
        and 4 * facts["out_w"] <= 3 * facts["out_h"]
        and facts["out_h"] * facts["stride_h"] <= 30
    )
