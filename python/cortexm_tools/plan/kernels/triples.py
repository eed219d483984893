# SPDX-License-Identifier: Apache-2.0
"""Convolutions of int8 on Armv6-M and Armv7-M, which gather three windows at a time
(kernels/src/conv/conv2d_s8.inc): how many instructions they take.

Fitted to what `python -m benchmarks.sweep --kinds conv` counted on the M0 and the M3.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...target import Isa
from .facts import Facts, windows_inside


@dataclass(frozen=True)
class _Costs:
    """Instructions.

    Attributes:
        pixel: of a pixel, `group` for each window of it, and `code` for each input of that.
        outside: of a tap, where a window leaves the image.
        four: of four outputs that are computed together, and `product` for each input.
        alone: of an output that is left, and `product_alone`.
    """

    pixel: float
    group: float
    code: float
    outside: float
    four: float
    product: float
    alone: float
    product_alone: float


_COSTS = {
    Isa.V7M: _Costs(41, 51, 2.3, 37.5, 144, 4.9, 83, 2.5),
    Isa.V6M: _Costs(56, 85, 4.8, 47, 248, 8.9, 133, 3.9),
}
ISAS = tuple(_COSTS)


def instructions(isa: Isa, facts: Facts) -> float:
    """Of one image."""
    costs, groups = _COSTS[isa], facts["groups"]
    taps = facts["kernel_h"] * facts["kernel_w"]
    depth = taps * facts["in_c"] // groups
    fours, left = divmod(facts["out_c"] // groups, 4)
    each = costs.group + costs.code * depth
    each += costs.outside * taps * (1 - windows_inside(facts, "h") * windows_inside(facts, "w"))
    each += fours * (costs.four + costs.product * depth)
    each += left * (costs.alone + costs.product_alone * depth)
    return float(facts["out_h"] * facts["out_w"] * (costs.pixel + groups * each))
