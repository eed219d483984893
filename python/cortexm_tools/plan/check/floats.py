# SPDX-License-Identifier: Apache-2.0
"""Convolutions of floats: what their kernels take."""

from __future__ import annotations

from collections.abc import Callable

from ..types import Call

_COLUMNS = {"conv2d_one_three": 3, "conv2d_one_four": 4, "conv2d_one_five": 5}


def _strides(call: Call) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those of the image and of the result."""
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    return ins, outs


def _is_row(call: Call) -> bool:
    """Whether the pixels are one row, whose terms and outputs lie side by side, of windows of one tap inside
    the image."""
    fields = call.int_fields
    ones = ("batches", "out_h", "groups", "kernel_h", "kernel_w")
    return (
        all(fields[name] == 1 for name in ones)
        and fields.get("pad_top", 0) == fields.get("pad_left", 0) == 0
        and (fields["out_w"] - 1) * fields["stride_w"] < fields["in_w"]
        and not fields.get("filled", 0)
        and all(strides[1] == 1 for strides in _strides(call))
    )


def _is_one(call: Call) -> bool:
    """Whether a convolution of floats has one input, windows of as many columns as the kernel has, side by
    side, of which half at either end may lie outside the image, and four rows of pixels and four outputs."""
    fields, columns = call.int_fields, _COLUMNS[call.kernel.op]
    are_ones = all(fields.get(name, 1) == 1 for name in ("in_c", "groups", "dilation_w"))
    pad = fields.get("pad_left", 0)
    beyond = (fields["out_w"] - 1) * fields["stride_w"] + columns - pad - fields["in_w"]
    is_window = fields["kernel_w"] == columns and 0 <= pad <= columns // 2 >= beyond
    are_fours = fields["out_h"] >= 4 and fields["out_c"] >= 4 and not fields.get("filled", 0)
    return are_ones and _strides(call)[0][3] == 1 and is_window and are_fours


def _are_groups_of_one(call: Call) -> bool:
    """Whether the channels of a convolution of floats are groups of one output."""
    fields = call.int_fields
    are_groups = fields["groups"] == fields["in_c"] == fields["out_c"]
    return are_groups and not fields.get("filled", 0)


def _are_slid(call: Call) -> bool:
    """Whether such channels are side by side, four or more, of windows of three columns or more, or of as
    many rows and one column, as far apart as columns are or with windows between, of which four have at most
    three columns outside the image at either end; or windows of one row have three columns in it."""
    fields = call.int_fields
    ins, outs = _strides(call)
    along, across, pad = (
        ("h", "w", "pad_top") if fields["kernel_w"] == 1 else ("w", "h", "pad_left")
    )
    names = ("kernel", "stride", "dilation", "in", "out")
    kernel, stride, dilation, extent, count = (fields[f"{name}_{along}"] for name in names)
    if not _are_groups_of_one(call) or fields["groups"] < 4:
        return False
    if kernel < 3 or min(stride, dilation) < 1 or dilation % stride:
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


def _are_planes(call: Call) -> bool:
    """Whether the pixels of such channels are side by side."""
    ins, outs = _strides(call)
    return _are_groups_of_one(call) and ins[3] == outs[3] == 1


def _are_squares(call: Call) -> bool:
    """Whether such planes have two rows or more and windows of 3x3 pixels side by side, of which one row and
    column at either end may lie outside the image, for five results or more in a row."""
    fields = call.int_fields
    sizes = [fields.get(f"{name}_{side}", 1) for name in ("stride", "dilation") for side in "hw"]
    is_window = fields["kernel_h"] == fields["kernel_w"] == 3 and sizes == [1] * 4
    are_inside = all(
        pad in (0, 1) and fields[f"out_{side}"] + 1 - pad <= fields[f"in_{side}"]
        for side, pad in (("h", fields.get("pad_top", 0)), ("w", fields.get("pad_left", 0)))
    )
    is_large = fields["out_w"] >= 5 and fields["in_h"] >= 2
    return _are_planes(call) and is_window and are_inside and is_large


def _are_rows(call: Call) -> bool:
    """Whether such planes have rows of 16 pixels or more, whose windows are one column apart, of which up to
    four at either end have taps outside the image, no tap at both; or windows of one column, of planes whose
    rows of pixels that have all taps are one row of so many."""
    ins, outs = _strides(call)
    fields = call.int_fields
    kernel, apart, pad = fields["kernel_w"], fields.get("dilation_w", 1), fields.get("pad_left", 0)
    if apart < 1 or fields["stride_w"] != 1 or not _are_planes(call):
        return False
    if fields["out_w"] < 16:
        last = fields["in_h"] - 1 + fields.get("pad_top", 0)
        last -= (fields["kernel_h"] - 1) * fields.get("dilation_h", 1)
        whole = min(fields["out_h"] - 1, last) - fields.get("pad_top", 0) + 1
        is_row = ins[2] == outs[2] == fields["in_w"] == fields["out_w"] and pad == 0
        is_near = kernel == fields["stride_h"] == 1 and fields.get("pad_top", 0) >= 0
        return is_row and is_near and whole * fields["out_w"] >= 16
    beyond = max(fields["out_w"] - pad + (kernel - 1) * apart - fields["in_w"], 0)
    first, last = (-(-most // apart) for most in (pad, beyond))
    return 0 <= pad <= 4 and beyond <= 4 and first + last <= kernel


def _are_eights(call: Call) -> bool:
    """Whether such planes have rows of eight pixels or more, or of five that end behind the image, whose
    windows have no gaps and are one column apart: of eight pixels that are computed together no tap meets
    less than all at both ends, and no more than seven at either."""
    fields = call.int_fields
    kernel, pixels = fields["kernel_w"], fields["out_w"]
    if (fields["stride_w"], fields.get("dilation_w", 1)) != (1, 1) or pixels < 5:
        return False
    are_inside = True
    for first in {*range(0, pixels - 7, 8), max(0, pixels - 8)}:
        column = first - fields.get("pad_left", 0)
        before = sum(column + tap < 0 for tap in range(kernel))
        behind = sum(column + 7 + tap >= fields["in_w"] for tap in range(kernel))
        are_inside = are_inside and max(before, behind) <= 7 and before + behind <= kernel
        are_inside = are_inside and (pixels >= 8 or behind > 0)
        are_inside = are_inside and 0 <= column + kernel and column + 7 <= fields["in_w"]
    return are_inside and _are_planes(call)


# By a kernel's operator: what it takes, and how a message says so.
TAKES: dict[str, tuple[Callable[[Call], bool], str]] = {
    "conv2d_row": (_is_row, "computes a row of pixels only"),
    **dict.fromkeys(_COLUMNS, (_is_one, "takes one input, and windows of other columns")),
    "conv2d_channels": (_are_groups_of_one, "takes channels that are groups only"),
    "conv2d_channels_wide": (
        _are_slid,
        "takes channels that are groups, of windows that share columns",
    ),
    "conv2d_planes_3x3": (_are_squares, "takes planes of five columns or more, of 3x3 windows"),
    "conv2d_planes_row": (_are_rows, "takes planes of 16 columns or more, of near windows"),
    "conv2d_planes_wide": (_are_eights, "takes planes of five columns or more, of near windows"),
}
