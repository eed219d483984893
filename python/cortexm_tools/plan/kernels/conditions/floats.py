# SPDX-License-Identifier: Apache-2.0
"""What kernels can require of convolutions and products of floats."""

from __future__ import annotations

from collections.abc import Callable

from .. import float_windows, planes
from ..facts import Facts

_SHORT_ROW = 25  # pixels up to which the smaller kernel takes less


def _one_row(facts: Facts) -> bool:
    """A linear layer of floats, or a convolution whose pixels are one row, with terms and outputs side by
    side."""
    ones = ("batches", "out_h", "groups", "kernel_h", "kernel_w")
    is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
    is_inside = is_inside and (facts["out_w"] - 1) * facts["stride_w"] < facts["in_w"]
    are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
    return bool(are_beside and is_inside and all(facts[name] == 1 for name in ones))


def _short_row(facts: Facts) -> bool:
    """The same of a few pixels."""
    return bool(facts["out_w"] <= _SHORT_ROW and _one_row(facts))


def _one_input(columns: int) -> Callable[[Facts], bool]:
    """A convolution of floats of one input whose windows are so many columns, side by side, of which half at
    most lie outside the image at either end, with four rows of pixels or more and four outputs."""

    def takes(facts: Facts) -> bool:
        ones = facts["in_c"], facts["groups"], facts.get("dilation_w", 1), facts["in_strides"][3]
        pad, most = facts.get("pad_left", 0), columns // 2
        beyond = (facts["out_w"] - 1) * facts["stride_w"] + columns - pad - facts["in_w"]
        is_window = facts["kernel_w"] == columns and 0 <= pad <= most and beyond <= most
        are_fours = facts["out_h"] >= 4 and facts["out_c"] >= 4
        return bool(ones == (1, 1, 1, 1) and is_window and are_fours)

    return takes


def _float_channels(facts: Facts) -> bool:
    """A convolution of floats whose channels are groups of one output."""
    return bool(facts["groups"] == facts["in_c"] == facts["out_c"] >= 2)


def _float_channels_wide(facts: Facts) -> bool:
    """The same of four channels or more, side by side, whose pixels share columns of their windows."""
    are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
    return (
        facts["groups"] >= 4
        and _float_channels(facts)
        and are_beside
        and float_windows.are_slid(facts)
    )


def _are_planes(facts: Facts) -> bool:
    """The same with the pixels of each channel side by side."""
    return _float_channels(facts) and facts["in_strides"][3] == facts["out_strides"][3] == 1


def _planes_3x3(facts: Facts) -> bool:
    """Such planes of two rows or more, of 3x3 windows a pixel apart, of which no more than a row and a column
    is outside the image, and of five results or more in a row."""
    is_near = planes.are_squares(facts) and facts["stride_h"] == facts["stride_w"] == 1
    are_inside = all(
        0 <= facts.get(before, 0) <= 1
        and facts[f"out_{side}"] - facts.get(before, 0) < facts[f"in_{side}"]
        for before, side in (("pad_top", "h"), ("pad_left", "w"))
    )
    is_large = facts["out_w"] >= 5 and facts["in_h"] >= 2
    return bool(_are_planes(facts) and is_near and are_inside and is_large)


def _planes_row(facts: Facts) -> bool:
    """Such planes of rows of 16 results or more, of any windows one column apart, or of one column in planes
    that are one row."""
    return _are_planes(facts) and float_windows.are_rows(facts)


def _planes_wide(facts: Facts) -> bool:
    """Such planes of rows of eight results or more, of windows of four columns or more, one apart without
    gaps; the columns of narrower ones conv2d_channels takes as well."""
    is_wide = bool(facts["kernel_w"] >= 4)
    return is_wide and _are_planes(facts) and float_windows.are_eights(facts)


def _vector_columns(facts: Facts) -> bool:
    """A product of matrices of at least four columns that lie side by side, or whose elements do, as those of
    the rows do; a bias has a number for each column."""
    return bool(
        facts["cols"] >= 4
        and facts["a_inner_stride"] == 1
        and 1 in (facts["b_inner_stride"], facts["b_col_stride"])
        and facts["bias_row_stride"] == 0
    )


CASES: dict[str, Callable[[Facts], bool]] = {
    "one_row": _one_row,
    "short_row": _short_row,
    "one_input_three_columns": _one_input(3),
    "one_input_four_columns": _one_input(4),
    "one_input_five_columns": _one_input(5),
    "float_channels": _float_channels,
    "float_channels_wide": _float_channels_wide,
    "planes_3x3": _planes_3x3,
    "planes_row": _planes_row,
    "planes_wide": _planes_wide,
    "vector_columns": _vector_columns,
}
