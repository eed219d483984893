# SPDX-License-Identifier: Apache-2.0
"""What is known of a layer when its kernel is chosen: the fields of its parameter block, for convolutions and
matrix products `rescales`, their requantizations as a tuple, and bounds of sums (plan/lower/weights.py); and
what follows from these of the facts that contract.py lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...ir.fixed_point import Rescale
from ...ir.wide import reduced
from .packing_mve import are_rows_apart

Facts = Mapping[str, Any]


def windows_inside(facts: Facts, along: str) -> float:
    """The share of windows that are inside of the image along an axis."""
    stride, first = facts[f"stride_{along}"], facts["in_y0" if along == "h" else "in_x0"]
    reach = (facts[f"kernel_{along}"] - 1) * facts[f"dilation_{along}"] + 1
    places = range(first, first + facts[f"out_{along}"] * stride, stride)
    return float(sum(0 <= at <= facts[f"in_{along}"] - reach for at in places) / len(places))


def reach(facts: Facts) -> int:
    """How far the last input of any sixteen of a window is from the first one, in a copy of the rows of the
    image that has a group's channels alone; each row begins sixteen inputs of its own where all rows take no
    more of these so."""
    channels: int = facts["in_c"] // facts["groups"]
    columns = (facts["out_w"] - 1) * facts["stride_w"]
    columns += (facts["kernel_w"] - 1) * facts["dilation_w"] + 1
    row = [
        kx * facts["dilation_w"] * channels + c
        for kx in range(facts["kernel_w"])
        for c in range(channels)
    ]
    places = row
    if not are_rows_apart(facts["kernel_h"], len(row)):
        below = facts["dilation_h"] * columns * channels
        places = [ky * below + place for ky in range(facts["kernel_h"]) for place in row]
    firsts = range(0, len(places), 16)
    return max(int(places[first : first + 16][-1] - places[first]) for first in firsts)


def _largest_result(facts: Facts) -> int:
    largest: int = facts["largest_sum"]
    rescales: tuple[Rescale, ...] = facts["rescales"]
    return max(largest * reduced(each.multiplier) >> (14 - each.shift) for each in rescales)


def _scale_exponent(facts: Facts) -> int:
    scale = facts["inv_scale"] if "inv_scale" in facts else facts["scale"]
    return math.frexp(scale)[1] - 1


DERIVED: dict[str, Callable[[Facts], int]] = {
    "least_shift": lambda facts: min(rescale.shift for rescale in facts["rescales"]),
    "greatest_shift": lambda facts: max(rescale.shift for rescale in facts["rescales"]),
    "narrow_multipliers": lambda facts: all(rescale.is_narrow for rescale in facts["rescales"]),
    "largest_result": _largest_result,
    "scale_exponent": _scale_exponent,
    "reach": reach,
}
