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
from .contract import Fields
from .packing_mve import are_rows_apart

Facts = Mapping[str, Any]


class Known(Fields):
    """The fields of a layer, what plan/lower knows of it, and what follows from that."""

    def __missing__(self, name: str) -> Any:
        find = DERIVED.get(name)
        return super().__missing__(name) if find is None else find(self)


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
