# SPDX-License-Identifier: Apache-2.0
"""Convolutions of floats in planes: what their kernels take."""

from __future__ import annotations

from collections.abc import Callable

from ..types import Call

_PLANES = {
    "conv2d_planes_by_two": (3, 2),
    "conv2d_planes_five": (5, 1),
    "conv2d_planes_five_by_two": (5, 2),
}
_EIGHTS = {"conv2d_planes_wide": 1, "conv2d_planes_wide_by_two": 2}  # columns from one to the next


def _are_planes(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, in planes, and windows of
    as many columns as the kernel has, as far apart, of which one of three or two of five at either end may
    lie outside the image, and four rows and columns of pixels."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    columns, stride = _PLANES[call.kernel.op]
    pad, windows = fields.get("pad_left", 0), (fields["kernel_w"], fields["stride_w"])
    beyond = (fields["out_w"] - 1) * stride + columns - pad - fields["in_w"]
    is_window = windows == (columns, stride) and fields.get("dilation_w", 1) == 1
    is_inside = 0 <= pad <= columns // 2 and beyond <= columns // 2
    are_groups = fields["groups"] == fields["in_c"] == fields["out_c"]
    are_fours = fields["out_h"] >= 4 and fields["out_w"] >= 4 and not fields.get("filled", 0)
    return ins[3] == outs[3] == 1 and is_window and is_inside and are_groups and are_fours


def _are_3x3_by_two(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups of one output, in planes, and 3x3 windows
    two rows and columns apart, of which one of either at an end may lie outside the image, and three columns
    of pixels."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    sizes = {name: [fields[f"{name}_{side}"] for side in "hw"] for name in ("kernel", "stride")}
    is_near = fields.get("dilation_h", 1) == fields.get("dilation_w", 1) == 1
    pads = {"h": fields.get("pad_top", 0), "w": fields.get("pad_left", 0)}
    are_inside = all(
        0 <= pad <= 1 and 2 * fields[f"out_{side}"] - pad <= fields[f"in_{side}"]
        for side, pad in pads.items()
    )
    are_groups = fields["groups"] == fields["in_c"] == fields["out_c"]
    is_window = sizes == {"kernel": [3, 3], "stride": [2, 2]} and is_near
    are_pairs = fields["out_w"] >= 3 and not fields.get("filled", 0)
    return ins[3] == outs[3] == 1 and is_window and are_inside and are_groups and are_pairs


def _are_rows(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups, in planes, and rows of 16 pixels or more,
    whose windows are one column apart, of which up to four at either end have taps outside the image, no tap
    at both; or windows of one column, of planes whose rows of pixels that have all taps are one row of so
    many."""
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    fields = call.int_fields
    kernel, apart, pad = fields["kernel_w"], fields.get("dilation_w", 1), fields.get("pad_left", 0)
    if apart < 1 or fields["stride_w"] != 1 or fields.get("filled", 0):
        return False
    are_planes = fields["groups"] == fields["in_c"] == fields["out_c"]
    if not are_planes or ins[3] != 1 or outs[3] != 1:
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


# Kernels of planes whose lanes are every fourth pixel: their columns, and whether windows are one row.
_FOURTHS = (
    ("conv2d_planes_seven", 7, False),
    ("conv2d_planes_line_three", 3, True),
    ("conv2d_planes_line_five", 5, True),
    ("conv2d_planes_line_seven", 7, True),
    ("conv2d_planes_line_nine", 9, True),
)


def _are_fourths(columns: int, is_line: bool) -> Callable[[Call], bool]:
    """Whether it has such of windows of so many columns side by side, of which the first or the last pixel of
    a row lacks half, or none, and the last 16 pixels that are not the first ones lack no first ones; of
    several rows, or of one that is in the image."""

    def are(call: Call) -> bool:
        fields, half = call.int_fields, columns // 2
        out, pad, above = fields["out_w"], fields.get("pad_left", 0), fields.get("pad_top", 0)
        beyond = out - pad + columns - 1 - fields["in_w"]
        is_window = fields["kernel_w"] == columns and fields.get("dilation_w", 1) == 1
        is_half = pad in (0, half) and (beyond <= 0 or beyond == half)
        last_row = (fields["out_h"] - 1) * fields["stride_h"]
        is_inside = fields["kernel_h"] == 1 and above == 0 and last_row < fields["in_h"]
        are_blocks = out % 16 == 0 or out % 16 >= half
        return (
            _are_rows(call) and is_window and is_half and are_blocks and (is_inside or not is_line)
        )

    return are


# The same two columns apart.
_LINES_BY_TWO = (
    ("conv2d_planes_line_three_by_two", 3),
    ("conv2d_planes_line_five_by_two", 5),
    ("conv2d_planes_line_seven_by_two", 7),
)


def _are_lines_by_two(columns: int) -> Callable[[Call], bool]:
    """Whether it has planes that are groups, of windows of so many columns of one row in the image, two
    apart, of which the first or the last pixel of a row lacks half, or none, or the last one one less, and
    the last 16 pixels that are not the first ones lack no first ones. Of five columns it has 16 pixels that
    do not lack two behind them."""

    def are(call: Call) -> bool:
        fields, half = call.int_fields, columns // 2
        ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
        assert isinstance(ins, tuple) and isinstance(outs, tuple)
        names = ("kernel_h", "kernel_w", "stride_w")
        window = (*(fields[name] for name in names), fields.get("dilation_w", 1))
        out, pad = fields["out_w"], fields.get("pad_left", 0)
        beyond = 2 * out - 2 - pad + columns - fields["in_w"]
        return (
            fields["groups"] == fields["in_c"] == fields["out_c"]
            and not fields.get("filled", 0)
            and ins[3] == outs[3] == 1
            and window == (1, columns, 2, 1)
            and pad in (0, half)
            and (beyond <= 0 or beyond in (half - 1, half))
            and fields.get("pad_top", 0) == 0
            and (fields["out_h"] - 1) * fields["stride_h"] < fields["in_h"]
            and out - (columns == 5 and beyond == half) >= 16
            and (out % 16 == 0 or 2 * (out % 16) >= half)
        )

    return are


# Kernels of planes of windows of one column: their rows, and how far they are apart.
_COLUMNS_OF_PLANES = (
    ("conv2d_planes_column_three", 3, 1),
    ("conv2d_planes_column_five", 5, 1),
    ("conv2d_planes_column_three_by_two", 3, 2),
    ("conv2d_planes_column_five_by_two", 5, 2),
)


def _are_columns_of_planes(rows: int, stride: int) -> Callable[[Call], bool]:
    """Whether it has planes that are groups, of windows of one column of so many rows, so far apart, of which
    half may lie outside the image at either end, and four rows and columns of pixels."""

    def are(call: Call) -> bool:
        fields = call.int_fields
        ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
        assert isinstance(ins, tuple) and isinstance(outs, tuple)
        names = ("kernel_h", "kernel_w", "stride_h", "stride_w")
        window = (*(fields[name] for name in names), fields.get("dilation_h", 1))
        above = fields.get("pad_top", 0)
        beyond = (fields["out_h"] - 1) * stride + rows - above - fields["in_h"]
        return (
            fields["groups"] == fields["in_c"] == fields["out_c"]
            and not fields.get("filled", 0)
            and ins[3] == outs[3] == 1
            and window == (rows, 1, stride, 1, 1)
            and fields.get("pad_left", 0) == 0
            and 4 <= fields["out_w"] <= fields["in_w"]
            and fields["out_h"] >= 4
            and 0 <= above <= rows // 2
            and beyond <= rows // 2
        )

    return are


def _are_columns_in_eights(call: Call) -> bool:
    """Whether it has planes that are groups, of windows of one column of up to five rows, and rows of eight
    pixels or more."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    return (
        fields["groups"] == fields["in_c"] == fields["out_c"]
        and not fields.get("filled", 0)
        and ins[3] == outs[3] == 1
        and fields["kernel_w"] == fields["stride_w"] == 1
        and fields["kernel_h"] <= 5
        and fields.get("dilation_h", 1) >= 1
        and fields.get("pad_left", 0) == 0
        and 8 <= fields["out_w"] <= fields["in_w"]
    )


def _are_eights_of_rows(call: Call) -> bool:
    """Whether a convolution of floats has channels that are groups, in planes, and rows of eight pixels or
    more, or of five that end behind the image, whose windows have no gaps and are as many columns apart as
    the kernel has: of eight pixels that it computes together no tap meets less than all at both ends, and no
    more than seven at either, or four."""
    fields, stride = call.int_fields, _EIGHTS[call.kernel.op]
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    kernel, pixels, most = fields["kernel_w"], fields["out_w"], 7 if stride == 1 else 4
    if (fields["stride_w"], fields.get("dilation_w", 1)) != (stride, 1) or pixels < 5:
        return False
    are_inside = True
    for first in {*range(0, pixels - 7, 8), max(0, pixels - 8)}:
        column = first * stride - fields.get("pad_left", 0)
        before = sum(column + tap < 0 for tap in range(kernel))
        behind = sum(column + 7 * stride + tap >= fields["in_w"] for tap in range(kernel))
        are_inside = are_inside and max(before, behind) <= most and before + behind <= kernel
        are_inside = are_inside and (pixels >= 8 or behind > 0)
        are_inside = are_inside and 0 <= column + kernel and column + 7 * stride <= fields["in_w"]
    are_planes = fields["groups"] == fields["in_c"] == fields["out_c"]
    return ins[3] == outs[3] == 1 and are_planes and are_inside and not fields.get("filled", 0)


def _are_planes_of_pixels(call: Call) -> bool:
    """Whether the windows of a convolution of floats are pixels of one row in each plane, 16 or more, in the
    image."""
    fields = call.int_fields
    ins, outs = (dict(call.fields)[f"{at}_strides"] for at in ("in", "out"))
    assert isinstance(ins, tuple) and isinstance(outs, tuple)
    alone = ("out_h", "groups", "kernel_h", "kernel_w", "stride_w")
    are_pixels = all(fields[name] == 1 for name in alone)
    are_inside = not any(fields.get(name, 0) for name in ("pad_top", "pad_left", "filled"))
    return (
        are_pixels
        and are_inside
        and ins[3] == outs[3] == 1
        and 16 <= fields["out_w"] <= fields["in_w"]
    )


# By a kernel's operator: what it takes, and how a message says so.
TAKES: dict[str, tuple[Callable[[Call], bool], str]] = {
    **dict.fromkeys(
        _PLANES,
        (_are_planes, "takes planes, and other windows, for four rows and columns or more"),
    ),
    "conv2d_planes_3x3_by_two": (
        _are_3x3_by_two,
        "takes planes, and 3x3 windows two apart, for three columns or more",
    ),
    **{
        name: (
            _are_fourths(columns, is_line),
            "takes planes of 16 columns or more, of near windows",
        )
        for name, columns, is_line in _FOURTHS
    },
    **{
        name: (
            _are_lines_by_two(columns),
            "takes planes of 16 columns or more, of windows two apart",
        )
        for name, columns in _LINES_BY_TWO
    },
    **{
        name: (_are_columns_of_planes(rows, apart), "takes planes, and other windows of one column")
        for name, rows, apart in _COLUMNS_OF_PLANES
    },
    "conv2d_planes_column": (
        _are_columns_in_eights,
        "takes planes of eight columns or more, of windows of one column of up to five rows",
    ),
    "conv2d_planes_1x1": (_are_planes_of_pixels, "takes a row of 16 pixels or more of each plane"),
    "conv2d_planes_row": (_are_rows, "takes planes of 16 columns or more, of near windows"),
    **dict.fromkeys(
        _EIGHTS, (_are_eights_of_rows, "takes planes of five columns or more, of windows so near")
    ),
}
