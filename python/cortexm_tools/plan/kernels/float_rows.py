# SPDX-License-Identifier: Apache-2.0
"""Linear layers of floats with MVE: whether the lanes of vectors are rows, as in products of matrices with
few columns, or outputs, as in convolutions; and products of small matrices. Estimates count the
instructions of inner loops, and those around them."""

from __future__ import annotations

from .facts import Facts
from .packing_floats import panels

ROWS = "cortexm_matmul_few_f32_mve"
COLUMN = "cortexm_matmul_column_f32_mve"
ROW = "cortexm_matmul_row_f32_mve"
PAIRS = "cortexm_matmul_pairs_f32_mve"
SMALL = "cortexm_matmul_small_f32_mve"
PIXELS = "cortexm_conv2d_narrow_f32_mve"
PIXELS_OF_FEW_ROWS = "cortexm_conv2d_row_f32_mve"


_MANY_OF_FEW = 576  # sums of up to four inputs: nine instructions saved of eight, seven of four


def are_of_few_inputs(rows: int, inputs: int, outputs: int) -> bool:
    """Whether there is a kernel for rows of so few inputs, whose lanes are outputs, and sums enough for it:
    of four outputs, eight or more, or four or more of four inputs."""
    are_fours = outputs == 4 or outputs >= (4 if inputs == 4 else 8)
    return 1 <= inputs <= 4 <= rows and are_fours and rows * outputs >= _MANY_OF_FEW


def are_pairs(rows: int, inputs: int, outputs: int) -> bool:
    """Whether `PAIRS`, a third of `ROW`'s code, computes a layer: one row of two outputs more than eights."""
    return rows == 1 and inputs % 4 == 0 and outputs >= 10 and outputs % 8 == 2


def kernel_of(rows: int, outputs: int, in_pairs: bool = False) -> str | None:
    """The kernel for a layer of so many rows as a product; None for three, a block of convolutions."""
    if rows >= 4:
        return COLUMN if outputs == 1 else ROWS
    return None if rows == 3 else PAIRS if in_pairs else ROW


def saved(rows: int, inputs: int, outputs: int, few_rows: bool, in_pairs: bool = False) -> int:
    """Instructions that lanes of rows save of a linear layer, or `ROW` of one or two rows, or `PAIRS`; less
    than 0 where they take more.

    Args:
        few_rows: the kernel whose lanes are outputs is conv2d_row; that of all convolutions computes
            several outputs that are left behind fours together.
    """
    if rows <= 2:
        own = _of_pairs if in_pairs else _of_row
        return rows * (_of_pixel(inputs, outputs) - own(inputs, outputs))
    return _of_outputs(rows, inputs, outputs, few_rows) - _of_panels(rows, inputs, outputs)


def _of_pixel(inputs: int, outputs: int) -> int:
    """One row as a pixel of a convolution: eight outputs, four, and those that are left."""
    eights = outputs // 8 * (17 * inputs // 4 + 25)
    fours = outputs % 8 // 4 * (9 * inputs // 4 + 25)
    return 55 + eights + fours + (outputs % 4 > 0) * (9 * inputs // 4 + 50)


def _of_row(inputs: int, outputs: int) -> int:
    """Panels of sixteen outputs, of eight, of four and of those that are left."""
    sixteens = outputs // 16 * (17 * inputs // 2 + 15)
    eights = outputs % 16 // 8 * (17 * inputs // 4 + 15)
    fours = outputs % 8 // 4 * (9 * inputs // 4 + 10)
    return 30 + sixteens + eights + fours + (outputs % 4 > 0) * (9 * inputs // 4 + 15)


def _of_pairs(inputs: int, outputs: int) -> int:
    """Panels of eight outputs, the last ones for half of the inputs each, and two pairs for half of them."""
    eights = outputs // 8 * (17 * inputs // 4 + 15)
    return 45 + eights + 11 * inputs // 8


def _of_panels(rows: int, inputs: int, outputs: int) -> int:
    """Blocks of sixteen rows of a single output and of eight that are left, of eight of three or two, or of
    four of four."""
    if outputs == 1:
        sixteens = rows // 16 * (inputs // 8 * 66 + inputs % 8 * 10 + 25)
        return 20 + sixteens + -(-(rows % 16) // 8) * (9 * inputs // 2 + 40)
    every = panels(outputs)
    eights, fours = -(-rows // 8), -(-rows // 4)
    return 75 + sum(
        45 + (fours * (6 * inputs + 20) if each == 4 else eights * ((2 * each + 3) * inputs + 26))
        for each in every
    )


def of_rows(rows: int, inputs: int, outputs: int) -> int:
    """Blocks of eight rows of three outputs or two, of which a single one takes as much."""
    blocks = -(-rows // 8)
    twos = 1 if outputs == 1 else (3 - outputs % 3) % 3
    threes = max(0, outputs - 2 * twos) // 3
    each = (10, 8) if outputs <= 3 else (11, 9)
    terms = (threes * each[0] + twos * each[1]) * inputs
    return 120 + (threes + twos) * (50 + 50 * blocks) + blocks * terms


def _of_outputs(rows: int, inputs: int, outputs: int, few_rows: bool) -> int:
    """Blocks of three rows of eight outputs or four, then of four rows of those that are left."""
    left = outputs % 4
    threes = -(-rows // 3) if rows >= 3 else rows
    fours = -(-rows // 4) if rows >= 4 else rows
    whole = threes * (outputs // 8 * (10 * inputs + 35) + outputs % 8 // 4 * (8 * inputs + 35))
    if few_rows:
        return 230 + whole + fours * left * (4 * inputs + 80)
    together = fours * ((5 + 3 * left) * inputs // 2 + 100)
    each = 10 if outputs % 8 > 4 else 8
    eights = threes * (outputs // 8) * (10 * inputs + 35)
    return 400 + min(whole + together, eights + threes * (each * inputs + 35))


def are_small(facts: Facts) -> bool:
    """Whether the kernel for small matrices computes a product: up to four columns, or eight of three rows or
    more whose elements follow each other; a bias has a number for each column."""
    rows, cols = facts["rows"], facts["cols"]
    are_beside = facts["b_col_stride"] == 1 and facts["b_inner_stride"] == cols
    return bool(
        facts["a_inner_stride"] == 1
        and (rows == 1 or facts["a_row_stride"] == facts["inner"])
        and facts["bias_row_stride"] == 0
        and (cols <= 4 or (cols <= 8 and rows >= 3 and are_beside))
    )


def saved_of_small(facts: Facts, symbol: str) -> int:
    """Instructions that this kernel saves of such a product beside another one."""
    sides: tuple[int, ...] = tuple(facts[name] for name in ("batches", "rows", "cols", "inner"))
    batches, rows, cols, inner = sides
    blocks = -(-rows // 3)
    own = 65 + batches * (12 + blocks * (32 + (7 if cols <= 4 else 11) * inner))
    if symbol in (ROWS, COLUMN):
        other = batches * _of_panels(rows, inner, cols)
    elif symbol == "cortexm_matmul_rows_f32_mve":
        other = batches * of_rows(rows, inner, cols)
    elif symbol == "cortexm_matmul_few_f32_dsp":
        other = 30 + batches * (50 + -(-rows // 2) * (29 + (9 * cols + 2) * inner // 4))
    elif symbol == "cortexm_matmul_f32_mve":
        other = 70 + batches * _of_columns(rows, inner, cols)
    else:
        other = batches * (25 * rows * cols + 6 * rows * cols * inner)
    return other - own


def _of_columns(rows: int, inner: int, cols: int) -> int:
    """Blocks of three rows, of up to eight columns or of four; single rows of eight, or of one or two times
    four."""
    threes, left = rows // 3, rows % 3
    block = 24 + 7 * inner if cols <= 4 else 29 + 11 * inner
    blocks = 41 + threes * block if threes > 0 else 0
    panels_of, each = (1, 11) if cols == 8 else (1 + (cols > 4), 7)
    return 20 + blocks + left * (41 + panels_of * (25 + each * inner // 2))
