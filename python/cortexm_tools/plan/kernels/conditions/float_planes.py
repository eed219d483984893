# SPDX-License-Identifier: Apache-2.0
"""What kernels can require of convolutions of floats in planes."""

from __future__ import annotations

from collections.abc import Callable

from .. import float_windows, planes
from ..facts import Facts

_WORTH_PLANES_OF = 2000  # instructions that planes of few columns must save, of 1,000 bytes
_WORTH_PIXELS = 780  # instructions that planes of 1x1 windows must save, of some 390 bytes
_WORTH_PIXELS_DSP = 850  # the same with DSP instructions, of some 420 bytes
_WORTH_PLANES_ROW = 2200  # instructions that rows of planes must save, of some 1,100 bytes
_MANY_OF_LINES = 500  # sums of windows of one row, which save two to four, of some 700 bytes
_WORTH_LINES_BY_TWO = 1400  # instructions that lines two apart must save, of some 700 bytes
_MANY_OF_FOURTHS = 5000  # products, ten of which save three instructions, of some 730 bytes
_WORTH_COLUMNS = 1600  # the same of windows of one column, of some 800 bytes
_MANY_OF_COLUMN = 1100  # products, each of which saves an instruction, or more, of some 630 bytes
_WORTH_LINES_DSP = 1000  # instructions that lines two apart must save, of some 500 bytes


def _planes_of(columns: int, stride: int) -> Callable[[Facts], bool]:
    """A convolution of floats whose channels are groups of one output, in planes, of windows of so many
    columns that are so far apart, of which one of three or two of five may lie outside the image at either
    end; with four rows and columns of pixels, and so many products that the kernel for them saves two
    instructions for a byte: four for three products, and 150 of a pixel that conv2d computes by itself."""

    def pays(facts: Facts) -> bool:
        pad, most = facts.get("pad_left", 0), columns // 2
        beyond = (facts["out_w"] - 1) * stride + columns - pad - facts["in_w"]
        windows = facts["kernel_w"], facts["stride_w"], facts.get("dilation_w", 1)
        is_window = windows == (columns, stride, 1) and 0 <= pad <= most and beyond <= most
        are_planes = facts["groups"] == facts["in_c"] == facts["out_c"]
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
        saved = 1.3 * outputs * facts["kernel_h"] * columns + 150 * float_windows.singles(facts)
        is_large = saved >= _WORTH_PLANES_OF
        are_fours = facts["out_h"] >= 4 and facts["out_w"] >= 4
        return bool(is_window and are_planes and are_beside and are_fours and is_large)

    return pays


def _planes_3x3_by_two(facts: Facts) -> bool:
    """Such planes of 3x3 windows two rows and columns apart, of which one of either may lie outside the
    image at either end, with three columns of pixels. Most rows are shared by two pixels of a column; where
    the kernel of any rows takes not even six for seven of its instructions, as of four columns of pixels."""
    size = facts["kernel_h"], facts["stride_h"], facts["stride_w"], facts["out_w"] > 2
    if not planes.are_squares(facts) or size != (3, 2, 2, True):
        return False
    is_inside = all(
        0 <= facts.get(before, 0) <= 1
        and 2 * facts[f"out_{side}"] - facts.get(before, 0) <= facts[f"in_{side}"]
        for before, side in (("pad_top", "h"), ("pad_left", "w"))
    )
    height, width = facts["out_h"], facts["out_w"]
    mine = -(-width // 8) * (25 + 38.5 * height)
    others = -(-width // 4) * -(-height // 4) * 99 + 20
    are_fewer = height < 4 or width < 4 or mine * 6 <= others * 7
    outputs = facts["batches"] * facts["out_c"] * height * width
    is_large = 1.3 * 9 * outputs + 150 * float_windows.singles(facts) >= _WORTH_PLANES_OF
    are_planes = facts["groups"] == facts["in_c"] == facts["out_c"]
    are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
    return bool(is_inside and are_fewer and is_large and are_planes and are_beside)


def _planes_row(facts: Facts) -> bool:
    """Such planes of rows of 16 results or more, of any windows one column apart, or of one column in planes
    that are one row. It saves an instruction for four products, if blocks of 16 results fill the rows, or one
    for each where windows or images have few rows, and there 250 of a pixel that has columns outside the
    image; and one for each where windows have one column."""
    are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
    if not facts["groups"] == facts["in_c"] == facts["out_c"] >= 2 or not are_beside:
        return False
    outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
    products = outputs * facts["kernel_h"] * facts["kernel_w"]
    more = -facts["out_w"] % 16 / facts["out_w"]
    if facts["kernel_h"] == 1 or facts["out_h"] < 4:
        rows = 1 if facts["kernel_h"] == 1 else facts["out_h"]
        saved = products + 250.0 * facts["batches"] * rows * float_windows.outside(facts, "w")
    elif facts["kernel_w"] == 1:
        saved = products
    else:
        saved = products * (0.25 if more < 0.35 else 0.0)
    return bool(saved >= _WORTH_PLANES_ROW and float_windows.are_rows(facts))


def _planes_fourths(columns: int, is_line: bool) -> Callable[[Facts], bool]:
    """The same of so many columns that are neighbours, where four sums share them, in windows of several rows
    or in those of one."""

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
        products = outputs * facts["kernel_h"] * columns
        is_large = outputs >= _MANY_OF_LINES if is_line else products >= _MANY_OF_FOURTHS
        return bool(is_large and are_beside and float_windows.are_fourths(facts, columns, is_line))

    return pays


def _planes_lines_by_two(
    columns: int, saved: float = 2.0, worth: int = _WORTH_LINES_BY_TWO
) -> Callable[[Facts], bool]:
    """Such planes of windows of one row of so many columns, two apart.

    Args:
        saved: instructions for a product.
        worth: how many it must save in all.
    """

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
        is_large = saved * outputs * columns >= worth
        return bool(is_large and are_beside and float_windows.are_lines_by_two(facts, columns))

    return pays


def _planes_column_dsp(facts: Facts) -> bool:
    """Planes of floats that are groups, of windows of one column of two to five rows, and of rows of eight
    results or more. It saves an instruction for a product."""
    outputs = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"]
    return bool(
        facts["groups"] == facts["in_c"] == facts["out_c"]
        and facts["in_strides"][3] == facts["out_strides"][3] == 1
        and (facts["kernel_w"], facts["stride_w"], facts.get("pad_left", 0)) == (1, 1, 0)
        and 2 <= facts["kernel_h"] <= 5
        and 8 <= facts["out_w"] <= facts["in_w"]
        and outputs * facts["kernel_h"] >= _MANY_OF_COLUMN
    )


def _planes_columns(rows: int, stride: int) -> Callable[[Facts], bool]:
    """Such planes of windows of one column of so many rows, one or two apart, of which half may lie outside
    the image at either end; with four rows and columns of pixels. It saves three tenths of an instruction
    for a product beside rows of planes, and two beside conv2d."""

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        names = ("kernel_h", "kernel_w", "stride_h", "stride_w", "dilation_h")
        above, half = facts.get("pad_top", 0), rows // 2
        beyond = (facts["out_h"] - 1) * stride + rows - above - facts["in_h"]
        products = facts["batches"] * facts["out_c"] * facts["out_h"] * facts["out_w"] * rows
        return bool(
            facts["groups"] == facts["in_c"] == facts["out_c"]
            and are_beside
            and tuple(facts[name] for name in names) == (rows, 1, stride, 1, 1)
            and not facts.get("pad_left", 0)
            and 4 <= facts["out_w"] <= facts["in_w"]
            and facts["out_h"] >= 4
            and 0 <= above <= half
            and beyond <= half
            and products * (0.3 if _planes_row(facts) else 2) >= _WORTH_COLUMNS
        )

    return pays


def _planes_wide(stride: int) -> Callable[[Facts], bool]:
    """Such planes of rows of eight results or more, of any windows that are so many columns apart without
    gaps, where eight pixels at a time take less, and save more of all these of the model than two
    instructions for a byte of their kernel."""

    def pays(facts: Facts) -> bool:
        are_beside = facts["in_strides"][3] == facts["out_strides"][3] == 1
        are_planes = facts["groups"] == facts["in_c"] == facts["out_c"] and are_beside
        are_so_near = facts["stride_w"] == stride and stride in facts.get("planes_in_eights", ())
        if not are_planes or not are_so_near or not float_windows.are_eights(facts):
            return False
        return float_windows.saved_by_eights(facts) > 0

    return pays


def _planes_of_pixels(facts: Facts) -> bool:
    """A 1x1 convolution of planes with so many pixels that the kernel for them saves two instructions for a
    byte of its code on MVE. For each output it takes half an instruction for a term of a pixel, and loads
    take as long as the products; conv2d takes what it begins three or four pixels with."""
    inputs, outputs = facts["in_c"], facts["out_c"]
    eights, left = divmod(outputs, 8)
    terms = 4 * eights + (4 if left > 4 else 3 if left else 0)
    others = 36 + inputs if outputs == 1 else 18 * -(-outputs // 8) + terms * inputs
    saved = facts["batches"] * facts["out_w"] * (others - outputs * (inputs + 0.6))
    return bool(_are_planes_of_pixels(facts) and saved >= _WORTH_PIXELS)


def _planes_of_pixels_dsp(facts: Facts) -> bool:
    """The same with DSP instructions: a term of 16 pixels takes 22. conv2d has three pixels of eight outputs,
    or of up to four. Where it takes less than half as much again it has fewer cycles, as several outputs
    share what it loads."""
    inputs, outputs = facts["in_c"], facts["out_c"]
    left = outputs % 8
    parts = [part for part in (min(left, 4), left - 4) if part > 0]
    blocks = outputs // 8 * (107 + 34 * inputs)
    blocks += sum(80 + (9 + 3 * part) * inputs for part in parts)
    own = outputs * (36 + -(-facts["out_w"] // 16) * (5 + 22 * inputs))
    saved = facts["batches"] * (facts["out_w"] / 3 * blocks - own)
    is_worth = saved >= max(_WORTH_PIXELS_DSP, facts["batches"] * own / 2)
    return bool(_are_planes_of_pixels(facts) and is_worth)


def _are_planes_of_pixels(facts: Facts) -> bool:
    """A 1x1 convolution of floats whose pixels, 16 or more, are a row in each plane."""
    ones = ("groups", "kernel_h", "kernel_w", "stride_w", "out_h")
    is_pixel = all(facts[name] == 1 for name in ones) and facts["out_w"] == facts["in_w"] >= 16
    is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
    are_planes = facts["in_strides"][3] == facts["out_strides"][3] == 1
    return bool(is_pixel and is_inside and are_planes)


CASES: dict[str, Callable[[Facts], bool]] = {
    "planes_by_two": _planes_of(3, 2),
    "planes_3x3_by_two": _planes_3x3_by_two,
    "planes_row": _planes_row,
    "planes_seven": _planes_fourths(7, False),
    "planes_line_three": _planes_fourths(3, True),
    "planes_line_five": _planes_fourths(5, True),
    "planes_line_seven": _planes_fourths(7, True),
    "planes_line_nine": _planes_fourths(9, True),
    "planes_column_three": _planes_columns(3, 1),
    "planes_column_five": _planes_columns(5, 1),
    "planes_column_three_by_two": _planes_columns(3, 2),
    "planes_column_five_by_two": _planes_columns(5, 2),
    "planes_line_three_by_two": _planes_lines_by_two(3),
    "planes_line_five_by_two": _planes_lines_by_two(5),
    "planes_line_seven_by_two": _planes_lines_by_two(7),
    "planes_line_three_by_two_dsp": _planes_lines_by_two(3, 0.8, _WORTH_LINES_DSP),
    "planes_line_five_by_two_dsp": _planes_lines_by_two(5, 0.8, _WORTH_LINES_DSP),
    "planes_column_dsp": _planes_column_dsp,
    "planes_wide": _planes_wide(1),
    "planes_wide_by_two": _planes_wide(2),
    "planes_five": _planes_of(5, 1),
    "planes_five_by_two": _planes_of(5, 2),
    "planes_of_pixels": _planes_of_pixels,
    "planes_of_pixels_dsp": _planes_of_pixels_dsp,
}
