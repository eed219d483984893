# SPDX-License-Identifier: Apache-2.0
"""Neighbouring pixels of a row as one pixel of more outputs, with weights of zero.

`count` pixels are one: its window is that of the first one and the columns up to the last one's, and it has
the outputs of each, which lie side by side in memory. Pixel p of them has its own window p strides behind the
first column. Windows one column wide, of all pixels of a row, are read as they are, from `count` pixels as
one of more channels. Exact: products with a weight of zero add nothing, to a sum or to its bound.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .problem import ConvProblem

_MOST_PIXELS = 8


def join_pixels(problem: ConvProblem) -> Iterator[ConvProblem]:
    """Of a convolution of one group, with so many pixels as one that rows have whole ones; windows with gaps
    between their columns also as they are, without."""
    fields, weight = problem.fields, problem.weight
    out_c, kernel_h, kernel_w, in_c = weight.shape
    width, stride, dilation = (fields[name] for name in ("out_w", "stride_w", "dilation_w"))
    reach = (kernel_w - 1) * dilation + 1
    is_read_once = kernel_w == stride == 1 and fields["in_x0"] == 0 and fields["in_w"] == width
    least = 1 if dilation > 1 and kernel_w > 1 else 2
    for count in range(least, min(_MOST_PIXELS, width) + 1):
        if width % count:
            continue
        changed = {"out_w": width // count, "dilation_w": 1}
        if is_read_once:
            wide = np.zeros((count, out_c, kernel_h, 1, count, in_c), weight.dtype)
            for pixel in range(count):
                wide[pixel, :, :, :, pixel] = weight
            changed |= {"in_w": width // count, "in_c": count * in_c}
        else:
            columns = (count - 1) * stride + reach
            wide = np.zeros((count, out_c, kernel_h, columns, in_c), weight.dtype)
            for pixel in range(count):
                wide[pixel, :, :, pixel * stride : pixel * stride + reach : dilation] = weight
            changed |= {"kernel_w": columns, "stride_w": count * stride}
        depth = changed.get("in_c", in_c)
        together = wide.reshape(count * out_c, kernel_h, -1, depth)
        yield problem.with_pixels(count, together, **changed)
