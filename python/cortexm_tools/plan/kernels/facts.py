# SPDX-License-Identifier: Apache-2.0
"""What is known of a layer when its kernel is chosen, and what both `conditions` and `scratch` make of it.

Facts are the fields of its parameter block, and for convolutions and matrix products `rescales`, their
requantizations as a tuple, and bounds of the absolute value of every accumulator (`largest_sum`, and others
of plan/lower/weights.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Facts = Mapping[str, Any]


def shares_columns(facts: Facts) -> bool:
    """3x3 windows of channels in sixteens, up to two columns apart: is_shared in conv2d_tiles_mve.inc."""
    is_3x3 = facts["kernel_h"] == facts["kernel_w"] == 3
    return bool(is_3x3 and facts["in_c"] % 16 == 0 and facts["stride_w"] <= 2)


def is_pointwise(facts: Facts) -> bool:
    """A 1x1 convolution whose windows all lie inside the image: they need not be gathered."""
    last_y = facts["in_y0"] + (facts["out_h"] - 1) * facts["stride_h"]
    last_x = facts["in_x0"] + (facts["out_w"] - 1) * facts["stride_w"]
    return bool(
        facts["kernel_h"] == facts["kernel_w"] == 1
        and facts["in_y0"] >= 0
        and facts["in_x0"] >= 0
        and last_y < facts["in_h"]
        and last_x < facts["in_w"]
    )


def windows_inside(facts: Facts, along: str) -> float:
    """The share of windows that are inside of the image along an axis."""
    stride, first = facts[f"stride_{along}"], facts["in_y0" if along == "h" else "in_x0"]
    reach = (facts[f"kernel_{along}"] - 1) * facts[f"dilation_{along}"] + 1
    places = range(first, first + facts[f"out_{along}"] * stride, stride)
    return float(sum(0 <= at <= facts[f"in_{along}"] - reach for at in places) / len(places))


def windows_together(facts: Facts, column: int) -> int:
    """How many windows side by side are gathered at a time, if a row has so many: `together` in
    conv2d_mve.h.

    Args:
        column: bytes.
    """
    width, stride = facts["kernel_w"], facts["stride_w"]
    if facts["dilation_w"] > 1 or stride > width:
        return 1
    windows = facts["out_w"] if facts["out_w"] < 16 else 8
    most = max(2 * width, min((windows - 1) * stride + width, 511 // column + 1))
    return int((most - width) // stride + 1)


def tile_row(facts: Facts) -> int:
    """Bytes of a row of the windows of a row of pixels, in fours."""
    pixels = (facts["out_w"] + 3) // 4 * 4
    return int(((pixels - 1) * facts["stride_w"] + facts["kernel_w"]) * facts["in_c"])


def pooled_row(facts: Facts) -> int:
    """The codes of a row that its windows have, of one of their rows."""
    columns = (facts["out_w"] - 1) * facts["stride_w"] + facts["kernel_w"]
    return int(columns * facts["channels"])


def chunks_filled_up(depth: int) -> int:
    """So many inputs of a window, or whole chunks of 16 where at least half of one is there, or a quarter
    behind three: `depth_of` in conv2d_mve.h."""
    return (depth + 15) // 16 * 16 if depth & (8 if depth < 48 else 12) else depth
