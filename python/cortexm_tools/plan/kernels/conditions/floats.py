# SPDX-License-Identifier: Apache-2.0
"""What kernels of convolutions and products of floats can require, and what makes them worth their code."""

from __future__ import annotations

from collections.abc import Callable

from .. import float_rows
from ..facts import Facts

_MANY_OF_ONE = 1024  # sums of windows of one float, of which eight save some 16 instructions
_MANY_PRODUCTS_OF_ONE = 16000  # of wider windows, eight of which save an instruction or more
_WORTH_ROWS = 2300  # instructions that rows of floats in lanes must save, of some 1,150 bytes


def _few_rows_alone(facts: Facts) -> bool:
    """The model has linear layers of floats with few rows, and no convolutions, whose kernel would do."""
    return bool(facts.get("few_rows_alone", False))


def _rows_pay(facts: Facts) -> bool:
    """A linear layer of floats, or a convolution whose pixels are one row, with terms and outputs side by
    side; and the model has no other convolutions, whose kernel would do, or so many blocks of rows that these
    save more than the code of their own kernel takes."""
    ones = ("batches", "out_h", "groups", "kernel_h", "kernel_w")
    is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
    is_inside = is_inside and (facts["out_w"] - 1) * facts["stride_w"] < facts["in_w"]
    are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
    is_row = are_beside and is_inside and all(facts[name] == 1 for name in ones)
    return bool(facts.get("rows_pay", False) and is_row)


def _one_input(facts: Facts) -> bool:
    """A convolution of floats of one input whose windows are three columns, side by side, and three rows or
    fewer, of which one column at most lies outside the image at either end; with five pixels or more in a row
    and four outputs, and so many of these that the kernel for them saves two instructions for a byte."""
    is_one = (
        facts["in_c"]
        == facts["groups"]
        == facts.get("dilation_w", 1)
        == facts["in_strides"][3]
        == 1
    )
    pad = facts.get("pad_left", 0)
    is_window = facts["kernel_w"] == 3 and facts["kernel_h"] <= 3 and 0 <= pad <= 1
    beyond = (facts["out_w"] - 1) * facts["stride_w"] + 3 - pad - facts["in_w"]
    are_fours = facts["out_w"] >= 5 and facts["out_c"] >= 4
    outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["out_c"]
    return bool(is_one and is_window and beyond <= 1 and are_fours and outputs >= _MANY_OF_ONE)


def _one_input_columns(columns: int) -> Callable[[Facts], bool]:
    """A convolution of floats of one input whose windows are so many columns, side by side, of which two at
    most lie outside the image at either end, with four rows of pixels or more and four outputs; and so many
    products that the kernel for them saves two instructions for a byte: one for eight products."""

    def pays(facts: Facts) -> bool:
        ones = facts["in_c"], facts["groups"], facts.get("dilation_w", 1), facts["in_strides"][3]
        pad = facts.get("pad_left", 0)
        beyond = (facts["out_w"] - 1) * facts["stride_w"] + columns - pad - facts["in_w"]
        is_window = facts["kernel_w"] == columns and 0 <= pad <= 2 and beyond <= 2
        are_fours = facts["out_h"] >= 4 and facts["out_c"] >= 4
        outputs = facts["batches"] * facts["out_h"] * facts["out_w"] * facts["out_c"]
        products = outputs * facts["kernel_h"] * columns
        return bool(
            ones == (1, 1, 1, 1) and is_window and are_fours and products >= _MANY_PRODUCTS_OF_ONE
        )

    return pays


def _pixels_of(inputs: int) -> Callable[[Facts], bool]:
    """A 1x1 convolution of floats of so many inputs, or a linear layer, whose pixels are a row without gaps
    for a block of them, with four outputs, eight or more, or four or more of four inputs, side by side, of
    which the last ones may begin among others; and so many of these that the kernel for them saves two
    instructions for a byte of its code: nine for eight outputs of a pixel, seven for four."""

    def pays(facts: Facts) -> bool:
        is_pixel = (
            facts["kernel_h"] == facts["kernel_w"] == facts["stride_w"] == facts["groups"] == 1
        )
        is_row = facts["batches"] * facts["out_h"] == 1 and facts["out_w"] == facts["in_w"]
        is_inside = not facts.get("pad_top", 0) and not facts.get("pad_left", 0)
        are_beside = facts["in_strides"][1] == facts["out_strides"][1] == 1
        has_inputs = facts["in_c"] == facts["in_strides"][3] == inputs
        is_large = float_rows.are_of_few_inputs(facts["out_w"], inputs, facts["out_c"])
        return bool(is_pixel and is_row and is_inside and are_beside and has_inputs and is_large)

    return pays


def _narrow_windows(facts: Facts) -> bool:
    """No convolution of floats in the model has windows of four columns or more, or four channels or more
    that are groups."""
    return bool(facts.get("narrow_windows", False))


def _vector_columns(facts: Facts) -> bool:
    """A product of matrices of at least four columns that lie side by side, or whose elements do, as those of
    the rows do; a bias has a number for each column."""
    return bool(
        facts["cols"] >= 4
        and not facts.get("rows_in_lanes", False)
        and facts["a_inner_stride"] == 1
        and 1 in (facts["b_inner_stride"], facts["b_col_stride"])
        and facts["bias_row_stride"] == 0
    )


def _vector_rows(facts: Facts) -> bool:
    """A product of which blocks of eight rows save more instructions beside those of single sums than two for
    each byte of their code; or a layer that is to have them."""
    rows, cols, inner = (facts[name] for name in ("rows", "cols", "inner"))
    alone = 25 * rows * cols + 6 * rows * cols * inner
    saved = facts["batches"] * (alone - float_rows.of_rows(rows, inner, cols))
    return bool(facts.get("rows_in_lanes", False) or saved >= _WORTH_ROWS)


def _few_columns(facts: Facts) -> bool:
    """A product of up to three columns, whose elements follow each other, as those of rows do; a bias has a
    number for each column."""
    return bool(
        facts["cols"] <= 3
        and facts["a_inner_stride"] == 1
        and (facts["cols"] == 1 or facts["b_col_stride"] == 1)
        and facts["b_inner_stride"] == facts["cols"]
        and facts["bias_row_stride"] == 0
    )


def _one_sum(facts: Facts) -> bool:
    """A product of one row with one column, whose elements lie side by side."""
    is_one = facts["batches"] == facts["rows"] == facts["cols"] == 1
    return bool(is_one and facts["a_inner_stride"] == facts["b_inner_stride"] == 1)


def _small_product(facts: Facts) -> bool:
    """A product of small matrices that is to have its kernel."""
    return bool(facts.get("is_small", False))


def _row_of_layer(facts: Facts) -> bool:
    """A layer of floats that is to have its outputs in lanes."""
    return bool(facts.get("outputs_in_lanes", False))


def _row_of_pairs(facts: Facts) -> bool:
    """Such a layer of two outputs more than eights, which are computed in pairs."""
    return bool(facts.get("outputs_in_pairs", False))


def _panels(facts: Facts) -> bool:
    """A product of two columns or three as above, or one whose columns the plan has put in panels, of four
    rows or more."""
    are_few = _few_columns(facts) or facts.get("rows_in_lanes", False)
    return bool(are_few and facts["rows"] >= 4 and facts["cols"] > 1)


def _column_of_rows(facts: Facts) -> bool:
    """A product of a single column and four rows or more, which lie behind one another without gaps."""
    is_one = facts["cols"] == 1 and _few_columns(facts)
    return bool(is_one and facts["rows"] >= 4 and facts["a_row_stride"] == facts["inner"])


CASES: dict[str, Callable[[Facts], bool]] = {
    "few_rows_alone": _few_rows_alone,
    "rows_pay": _rows_pay,
    "one_input": _one_input,
    "one_input_four_columns": _one_input_columns(4),
    "one_input_five_columns": _one_input_columns(5),
    "pixels_of_one_input": _pixels_of(1),
    "pixels_of_two_inputs": _pixels_of(2),
    "pixels_of_three_inputs": _pixels_of(3),
    "pixels_of_four_inputs": _pixels_of(4),
    "narrow_windows": _narrow_windows,
    "few_columns": _few_columns,
    "vector_columns": _vector_columns,
    "vector_rows": _vector_rows,
    "panels": _panels,
    "column_of_rows": _column_of_rows,
    "one_sum": _one_sum,
    "row_of_layer": _row_of_layer,
    "row_of_pairs": _row_of_pairs,
    "small_product": _small_product,
}
