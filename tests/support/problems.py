# SPDX-License-Identifier: Apache-2.0
"""Convolutions as forms see them (plan/forms)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cortexm_tools.ir import Array
from cortexm_tools.plan.forms.problem import ConvProblem

from tests.support.graphs import rescales


def conv_problem(
    weight: Array,
    fields: Mapping[str, int],
    kind: str = "conv2d",
    groups: int = 1,
    wide: bool = False,
) -> ConvProblem:
    """One with these weights, [out_c, kernel_h, kernel_w, in_c / groups], and no biases."""
    out_c, kernel_h, kernel_w, depth = weight.shape
    own = {"kernel_h": kernel_h, "kernel_w": kernel_w, "in_zero_point": 3, "groups": groups}
    own |= {"in_c": depth * groups, "out_c": out_c, "out_pixel_stride": out_c}
    scales = rescales(np.full(out_c, 2**30), np.full(out_c, -9))
    return ConvProblem(kind, {**fields, **own}, weight, np.zeros(out_c, np.int64), scales, wide)
