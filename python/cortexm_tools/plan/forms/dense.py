# SPDX-License-Identifier: Apache-2.0
"""A convolution of one channel as a depthwise one, and the other way round.

Each output has the window of that channel and the same weights, which only stand in another order: [out_c,
kernel_h, kernel_w, 1] or [1, kernel_h, kernel_w, out_c].
"""

from __future__ import annotations

from dataclasses import replace

from .problem import ConvProblem


def of_one_channel(problem: ConvProblem, kind: str) -> ConvProblem:
    """As a convolution of this kind: conv2d or depthwise_conv2d."""
    if problem.kind == kind:
        return problem
    return replace(problem, kind=kind, weight=problem.weight.transpose(3, 1, 2, 0))
