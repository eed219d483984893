# SPDX-License-Identifier: Apache-2.0
"""Convolutions of floats whose channels are groups of one output: what their kernels take."""

from __future__ import annotations

from collections.abc import Callable

from ..types import Call

_3X3 = {  # the same
    "conv2d_channels_3x3_any": 1,
    "conv2d_channels_3x3": 1,
    "conv2d_channels_3x3_by_two": 2,
    "conv2d_channels_3x3_by_two_sixteen": 2,
    "conv2d_channels_3x3_dilated": 1,
}


def _has_no_groups_of_one(call: Call) -> bool:
    fields = call.int_fields
    return not 4 <= fields["groups"] == fields["in_c"] == fields["out_c"]


def _are_groups_of_one(call: Call) -> bool:
    fields = call.int_fields
    return fields["groups"] == fields["in_c"] == fields["out_c"]


def _are_3x3(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and 3x3 windows as many columns apart as the kernel has, of which one row and column at either end may lie
    outside the image, and four columns of pixels, as far apart as those of the image; of dilated windows each
    of the images that these are apart. Or any number of channels, and windows one row apart, where pixels to
    the right lie behind those to the left; or pixels that are sixteen floats apart."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    are_any = call.kernel.op == "conv2d_channels_3x3_any"
    least = 1 if are_any else 4
    are_groups = least <= fields["groups"] == fields["in_c"] == fields["out_c"]
    windows = (fields["kernel_h"], fields["kernel_w"], fields["stride_w"])
    apart = {side: fields.get(f"dilation_{side}", 1) for side in "hw"}
    is_dilated = call.kernel.op.endswith("_dilated")
    is_near = (
        min(apart.values()) >= 1 == fields["stride_h"] if is_dilated else {*apart.values()} == {1}
    )
    is_near = is_near and not (are_any and (fields["stride_h"] != 1 or ins[3] <= 0))
    is_window = windows == (3, 3, _3X3[call.kernel.op]) and is_near
    pads = {"h": fields.get("pad_top", 0), "w": fields.get("pad_left", 0)}
    are_inside = all(
        0 <= pad <= apart[side]
        and (fields[f"out_{side}"] - 1) * fields[f"stride_{side}"] + 1 + apart[side] - pad
        <= fields[f"in_{side}"]
        for side, pad in pads.items()
    )
    is_sixteen = ins[3] == 16 or not call.kernel.op.endswith("_sixteen")
    are_beside = ins[1] == outs[1] == 1 and ins[3] == outs[3] and is_sixteen
    are_fours = fields["out_w"] >= 4 * apart["w"] and not fields.get("filled", 0)
    return are_groups and is_window and are_inside and are_beside and are_fours


def _are_fives(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and windows of five columns two apart, of which two at either end may lie outside the image, and four
    columns of pixels."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    are_groups = 4 <= fields["groups"] == fields["in_c"] == fields["out_c"]
    windows = fields["kernel_w"], fields["stride_w"], fields.get("dilation_w", 1)
    pad = fields.get("pad_left", 0)
    beyond = (fields["out_w"] - 1) * 2 + 5 - pad - fields["in_w"]
    are_inside = 0 <= pad <= 2 and beyond <= 2
    are_fours = fields["out_w"] >= 4 and not fields.get("filled", 0)
    are_beside = ins[1] == outs[1] == 1
    return are_groups and windows == (5, 2, 1) and are_inside and are_beside and are_fours


def _are_eights(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, eight or
    more, or four of the kernel that takes as many."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    are_groups = fields["groups"] == fields["in_c"] == fields["out_c"]
    are_four = fields["groups"] == 4 and call.kernel.op == "conv2d_channels_fours"
    are_enough = fields["groups"] >= 8 or are_four
    are_beside = ins[1] == outs[1] == 1
    return are_groups and are_enough and are_beside and not fields.get("filled", 0)


_FEW = {"conv2d_channels_two": 2, "conv2d_channels_three": 3}


def _are_few(call: Call) -> bool:
    """Whether a convolution of floats has as many channels as the kernel, which are groups of one output,
    side by side without gaps between pixels, and windows of three columns a pixel apart, of which one at
    either end may lie outside the image, and four columns of pixels."""
    fields, channels = call.int_fields, _FEW[call.kernel.op]
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    pad, width = fields.get("pad_left", 0), fields["out_w"]
    window = fields["kernel_w"], fields["stride_w"], fields.get("dilation_w", 1)
    return (
        fields["groups"] == fields["in_c"] == fields["out_c"] == channels
        and not fields.get("filled", 0)
        and ins[1] == outs[1] == 1
        and ins[3] == outs[3] == channels
        and window == (3, 1, 1)
        and fields.get("dilation_h", 1) >= 1
        and pad in (0, 1)
        and width >= 4
        and width + 1 - pad <= fields["in_w"]
    )


def _are_slid(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and windows of three columns or more, or of as many rows and one column, as far apart as columns are or
    with windows between, of which four have at most three columns outside the image at either end; or windows
    of one row have three columns in it."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    along, across, pad = (
        ("h", "w", "pad_top") if fields["kernel_w"] == 1 else ("w", "h", "pad_left")
    )
    names = ("kernel", "stride", "dilation", "in", "out")
    kernel, stride, dilation, extent, count = (fields[f"{name}_{along}"] for name in names)
    if not 4 <= fields["groups"] == fields["in_c"] == fields["out_c"]:
        return False
    if fields.get("filled", 0) or kernel < 3 or min(stride, dilation) < 1 or dilation % stride:
        return False

    def outside(pixel: int) -> tuple[int, int]:
        first = pixel * stride - fields.get(pad, 0)
        taps = range(first, first + kernel * dilation, dilation)
        return sum(tap < 0 for tap in taps), sum(tap >= extent for tap in taps)

    apart = dilation // stride
    pixels = [outside(pixel) for pixel in range(count)]
    fourths = [outside(phase + 3 * apart) for phase in range(min(apart, count))]
    are_whole = all(before <= 3 and behind <= 3 for before, behind in [*pixels, *fourths])
    last_first = (min(apart, count) - 1) * stride - fields.get(pad, 0)
    are_begun = last_first < extent and fields.get(pad, 0) >= 0
    are_cut = all(kernel - before - behind >= 3 for before, behind in pixels)
    are_cut = are_cut and fields[f"kernel_{across}"] == 1
    return ins[1] == outs[1] == 1 and are_begun and (are_whole or are_cut)


# Kernels of channels side by side whose windows are one row: their columns, and how far they are apart.
_NEAR_LINES = {
    f"conv2d_channels_line_{name}{suffix}": (columns, stride)
    for name, columns in (("three", 3), ("five", 5), ("seven", 7), ("nine", 9))
    for suffix, stride in (("", 1), ("_by_two", 2))
}


def _are_near_lines(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, side by side, four or more,
    and such windows in the image, but for half of their columns at an end, or one less at the end of a row
    where they are two apart; and four results of a row or more, as far apart as the columns, none of which
    but the first and the last four lacks some of these."""
    fields, (columns, apart) = call.int_fields, _NEAR_LINES[call.kernel.op]
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    names = ("kernel_h", "kernel_w", "stride_w")
    window = (*(fields[name] for name in names), fields.get("dilation_w", 1))
    count, pad, half = fields["out_w"], fields.get("pad_left", 0), columns // 2
    beyond = (count - 1) * apart - pad + columns - fields["in_w"]
    return (
        4 <= fields["groups"] == fields["in_c"] == fields["out_c"]
        and not fields.get("filled", 0)
        and ins[1] == outs[1] == 1
        and ins[3] == outs[3]
        and window == (1, columns, apart, 1)
        and pad in (0, half)
        and (beyond <= 0 or beyond == half or (apart == 2 and beyond == half - 1))
        and fields.get("pad_top", 0) == 0
        and (fields["out_h"] - 1) * fields["stride_h"] < fields["in_h"]
        and count >= (8 + half if count % 4 else 4)
    )


# By a kernel's operator: what it takes, and how a message says so.
TAKES: dict[str, tuple[Callable[[Call], bool], str]] = {
    "conv2d_narrow": (_has_no_groups_of_one, "has no channels that are groups"),
    "conv2d_channels": (_are_groups_of_one, "takes channels that are groups only"),
    **dict.fromkeys(
        ("conv2d_channels_fours", "conv2d_channels_eights"),
        (_are_eights, "takes eight channels or more that are groups"),
    ),
    **dict.fromkeys(_FEW, (_are_few, "takes so few channels that are groups, of near windows")),
    "conv2d_channels_five_by_two": (
        _are_fives,
        "takes channels that are groups, of windows of five columns",
    ),
    "conv2d_channels_wide": (
        _are_slid,
        "takes channels that are groups, of windows that share columns",
    ),
    **dict.fromkeys(
        _NEAR_LINES, (_are_near_lines, "takes channels that are groups, of windows of one row")
    ),
    **dict.fromkeys(_3X3, (_are_3x3, "takes channels that are groups, of other 3x3 windows")),
}
