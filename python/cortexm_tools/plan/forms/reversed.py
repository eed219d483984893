# SPDX-License-Identifier: Apache-2.0
"""A transposed convolution of stride 1 as a convolution whose taps are in reverse.

Input i adds with tap k to output i + k * dilation - padding. So output o meets with tap k the input o +
padding - k * dilation: with the last tap the first one, which is where the window begins.
"""

from __future__ import annotations

from dataclasses import replace

from .problem import ConvProblem


def in_reverse(problem: ConvProblem) -> ConvProblem | None:
    fields = problem.fields
    if (fields["stride_h"], fields["stride_w"]) != (1, 1):
        return None
    reach_h, reach_w = (
        (fields[f"kernel_{side}"] - 1) * fields[f"dilation_{side}"] for side in "hw"
    )
    begin = {"in_y0": -fields["in_y0"] - reach_h, "in_x0": -fields["in_x0"] - reach_w}
    weight = problem.weight[:, ::-1, ::-1]
    return replace(problem, kind="conv2d", weight=weight, fields={**fields, **begin})
