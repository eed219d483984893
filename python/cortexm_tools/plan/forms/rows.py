# SPDX-License-Identifier: Apache-2.0
"""All pixels of a short row as one.

Its window is all columns of the image, as one pixel of more channels, and needs no padding: each output has
its weights for the columns that its window has in the image, and zeros for the others. What weights outside
would have added is nothing, for there is the zero point, which is subtracted from every code.

These pixels follow each other in memory, so that those of a column can be those of a row: then the windows of
a row are gathered together, and each is one piece.
"""

from __future__ import annotations

import numpy as np

from .problem import ConvProblem

_MOST_PIXELS = 16
_MOST_ROWS = 32  # that may be a single one; larger images may be computed in bands of rows


def row_as_pixel(problem: ConvProblem, most_bytes: int) -> ConvProblem | None:
    """Of a convolution of one group, where that adds no more bytes of weights."""
    fields, weight = problem.fields, problem.weight
    out_c, kernel_h, kernel_w, in_c = weight.shape
    width, columns = fields["out_w"], fields["in_w"]
    size = columns * width * weight[:, :, 0].size
    if width > _MOST_PIXELS or size > most_bytes + weight.size:
        return None
    wide = np.zeros((width, out_c, kernel_h, columns, in_c), weight.dtype)
    for pixel, tap in np.ndindex(width, kernel_w):
        column = fields["in_x0"] + pixel * fields["stride_w"] + tap * fields["dilation_w"]
        if 0 <= column < columns:
            wide[pixel, :, :, column] = weight[:, :, tap]
    changed = {"out_w": 1, "in_w": 1, "in_c": columns * in_c, "in_x0": 0}
    changed |= {"kernel_w": 1, "stride_w": 1, "dilation_w": 1}
    wide = wide.reshape(width * out_c, kernel_h, 1, columns * in_c)
    joined = problem.with_pixels(width, wide, **changed)
    if kernel_h > 1 and max(fields["in_h"], fields["out_h"]) <= _MOST_ROWS:
        return _column_as_row(joined)
    return joined


def _column_as_row(problem: ConvProblem) -> ConvProblem:
    """Of images whose rows are one pixel each."""
    fields = problem.fields
    changed = {"in_x0": fields["in_y0"], "in_y0": 0}
    changed["in_row_stride"] = fields["in_h"] * fields["in_c"]
    for name in ("in", "out", "kernel", "stride", "dilation"):
        changed |= {f"{name}_h": 1, f"{name}_w": fields[f"{name}_h"]}
    return problem.with_pixels(1, problem.weight.swapaxes(1, 2), **changed)
