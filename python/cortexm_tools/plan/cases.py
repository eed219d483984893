# SPDX-License-Identifier: Apache-2.0
"""What kernels can require of a layer (`when` in kernels.json), and the scratch memory they ask for.

Both are functions of the facts of a layer: the fields of its parameter block, and for
convolutions `shifts`, the per-channel shifts as a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Facts = Mapping[str, Any]


def _shifts_right(facts: Facts) -> bool:
    """Every channel is rescaled by less than 1/2: its shift is negative."""
    return all(shift < 0 for shift in facts["shifts"])


def _one_to_one(facts: Facts) -> bool:
    """Depthwise: one output channel for each input channel."""
    return bool(facts["in_c"] == facts["out_c"])


CASES: dict[str, Callable[[Facts], bool]] = {
    "shifts_right": _shifts_right,
    "one_to_one": _one_to_one,
}


def is_pointwise(facts: Facts) -> bool:
    """A 1x1 convolution whose windows all lie inside the image: they need not be gathered."""
    last_y = facts["in_y0"] + (facts["out_h"] - 1) * facts["stride_h"]
    last_x = facts["in_x0"] + (facts["out_w"] - 1) * facts["stride_w"]
    return (
        facts["kernel_h"] == facts["kernel_w"] == 1
        and facts["in_y0"] >= 0
        and facts["in_x0"] >= 0
        and last_y < facts["in_h"]
        and last_x < facts["in_w"]
    )


def _two_windows(facts: Facts) -> int:
    """Bytes for two windows of a convolution group; none where they are pixels of the image."""
    depth = facts["kernel_h"] * facts["kernel_w"] * facts["in_c"] // facts["groups"]
    return 0 if is_pointwise(facts) else 2 * int(depth)


SCRATCH: dict[str, Callable[[Facts], int]] = {
    "": lambda facts: 0,
    "two_windows": _two_windows,
}
