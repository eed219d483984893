# SPDX-License-Identifier: Apache-2.0
"""What kernels of pools can require."""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts


def _from_channels(least: int) -> Callable[[Facts], bool]:
    """At least so many input channels."""
    return lambda facts: bool(facts.get("channels", facts.get("in_c", 0)) >= least)


def _below_channels(limit: int) -> Callable[[Facts], bool]:
    """Fewer channels than that."""
    return lambda facts: bool(facts["channels"] < limit)


def _below_pixels(limit: int) -> Callable[[Facts], bool]:
    """Windows of so few pixels that sums are divided exactly by a product: see lanes_mve.h."""
    return lambda facts: bool(facts["kernel_h"] * facts["kernel_w"] < limit)


def _windows_inside(facts: Facts) -> bool:
    """Windows of more than one pixel inside the image, without dilation, that leave out no column of it."""
    rows = ("in_y0", "out_h", "stride_h", "kernel_h", "in_h")
    columns = ("in_x0", "out_w", "stride_w", "kernel_w", "in_w")
    are_inside = all(
        0 <= first <= size - side - (count - 1) * step
        for first, count, step, side, size in (
            [facts[name] for name in axis] for axis in (rows, columns)
        )
    )
    is_dense = facts["dilation_h"] == facts["dilation_w"] == 1
    is_dense = is_dense and facts["stride_w"] <= facts["kernel_w"]
    return bool(are_inside and is_dense and facts["kernel_h"] * facts["kernel_w"] > 1)


def _moderate_divisor(facts: Facts) -> bool:
    """Averages of floats that divide by less than CORTEXM_QUOTIENT_LIMIT in common/mve.h."""
    return bool(max(facts["divisor"], facts["kernel_h"] * facts["kernel_w"]) < 1 << 22)


CASES: dict[str, Callable[[Facts], bool]] = {
    "below_256_pixels": _below_pixels(256),
    "below_4080_pixels": _below_pixels(4080),
    "from_4_channels": _from_channels(4),
    "from_8_channels": _from_channels(8),
    "from_16_channels": _from_channels(16),
    "windows_inside": _windows_inside,
    "below_4_channels": _below_channels(4),
    "below_8_channels": _below_channels(8),
    "below_16_channels": _below_channels(16),
    "moderate_divisor": _moderate_divisor,
}
