# SPDX-License-Identifier: Apache-2.0
"""What kernels take for granted that copy an image to scratch: conv2d_gathered and conv2d_direct
(kernels/src/conv/conv2d_gathered_mve.inc), where inputs lie in the copy, and that it has room;
pools of few channels (kernels/src/pool/pool_codes_mve.inc), that all windows are inside the image, and room
for a row of these; and of a single window, that it is the first pixels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import CortexMError
from ..types import Call, Plan, ScratchArg, Step


def check_gathered(plan: Plan, step: Step) -> None:
    """Every call of it has inputs whose distances fit in bytes, and scratch for all that it keeps.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if call.kernel.op not in ("conv2d_gathered", "conv2d_direct"):
            continue
        is_direct = call.kernel.op == "conv2d_direct"
        rows, columns = (_extent(call.int_fields, along) for along in ("h", "w"))
        if not _are_in_reach(call.int_fields, columns, is_direct):
            raise CortexMError(
                f"windows are too large for {call.kernel.symbol}", where=str(step.op.layer)
            )
        if _room(call) < _needed(call.int_fields, rows, columns, is_direct):
            raise CortexMError(
                f"{call.kernel.symbol} has not enough scratch", where=str(step.op.layer)
            )


# Of pools of windows inside the image: bytes of scratch for a code of a row, and channels that are too many.
_POOLS = {"max_pool2d_rows": (1, 16), "avg_pool2d_rows": (2, 8)}
_LEAST_CHANNELS = {"mve": 8}  # of avg_pool2d_pixel; else 4


def check_pooled(plan: Plan, step: Step) -> None:
    """Every call of a pool that makes a row of those of its windows finds these in the image, has scratch for
    that row, and sums that fit in 16 bits.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if call.kernel.op == "avg_pool2d_pixel" and not _is_first_window(call):
            raise CortexMError(
                f"a window is not as {call.kernel.symbol} has it", where=str(step.op.layer)
            )
        if call.kernel.op not in _POOLS:
            continue
        size, limit = _POOLS[call.kernel.op]
        fields, (rows, columns) = call.int_fields, (_extent(call.int_fields, d) for d in "hw")
        are_inside = (
            min(fields["in_y0"], fields["in_x0"]) >= 0
            and fields["in_y0"] + rows <= fields["in_h"]
            and fields["in_x0"] + columns <= fields["in_w"]
            and fields["dilation_h"] == fields["dilation_w"] == 1
        )
        pixels = fields["kernel_h"] * fields["kernel_w"]
        if not are_inside or fields["channels"] >= limit or (size == 2 and pixels > 255):
            raise CortexMError(
                f"windows are not as {call.kernel.symbol} has them", where=str(step.op.layer)
            )
        if _room(call) < size * columns * fields["channels"]:
            raise CortexMError(
                f"{call.kernel.symbol} has not enough scratch", where=str(step.op.layer)
            )


def _is_first_window(call: Call) -> bool:
    """Whether there is one result, of so many pixels from the first one, each behind the one before."""
    fields = call.int_fields
    rows, columns = np.indices((fields["kernel_h"], fields["kernel_w"])).reshape(2, -1)
    y = fields["in_y0"] + rows * fields["dilation_h"]
    x = fields["in_x0"] + columns * fields["dilation_w"]
    are_inside = (y >= 0) & (y < fields["in_h"]) & (x >= 0) & (x < fields["in_w"])
    places = y * fields["in_row_stride"] + x * fields["channels"]
    are_next = places == np.arange(len(rows)) * fields["channels"]
    least = _LEAST_CHANNELS.get(call.kernel.isa.value, 4)
    is_one = fields["out_h"] == fields["out_w"] == 1 and len(rows) < 256
    return bool(is_one and fields["channels"] >= least and (are_inside & are_next).all())


def _extent(fields: Mapping[str, int], along: str) -> int:
    """Rows or columns from the first window to the last one's end."""
    outputs, stride, kernel, dilation = (
        fields[f"{name}_{along}"] for name in ("out", "stride", "kernel", "dilation")
    )
    return (outputs - 1) * stride + (kernel - 1) * dilation + 1


def _are_in_reach(fields: Mapping[str, int], columns: int, is_direct: bool) -> bool:
    """Whether a byte has the distance of every sixteen inputs of a window from the first of them, of six
    pixels further on too, or a row of a window is in one piece; sixteen bits have that of eight pixels'
    results; and eight bytes a group's pixel. Each row begins sixteen inputs of its own where all rows take
    no more of these so."""
    inputs = fields["in_c"] // fields["groups"]
    kernel_h, kernel_w, inner = np.indices((fields["kernel_h"], fields["kernel_w"], inputs))
    place = (kernel_h * fields["dilation_h"] * columns + kernel_w * fields["dilation_w"]) * inputs
    place = (place + inner).reshape(-1)
    piece = fields["kernel_w"] * inputs
    row = -(-piece // 16) * 16
    if row * fields["kernel_h"] > -(-piece * fields["kernel_h"] // 16) * 16:
        row = piece
    number = (kernel_h * row + kernel_w * inputs + inner).reshape(-1)
    distance = place - place[number % 16 == 0][number // 16]
    is_in_reach = distance.max() + 6 * fields["stride_w"] * inputs < 256
    if is_direct:
        is_in_reach = (fields["kernel_w"] - 1) * (fields["dilation_w"] - 1) == 0
    return bool(
        is_in_reach
        and 7 * fields["out_pixel_stride"] < 65536
        and (fields["groups"] == 1 or inputs <= 8)
    )


def _needed(fields: Mapping[str, int], rows: int, columns: int, is_direct: bool) -> int:
    """Three words of each output; for sixteen inputs of a window a word, their distances and themselves in
    eight windows; and the copy, up to the last column of a whole eight of pixels. Or the word only,
    for each sixteen of a window's row or two of them, and the copy up to the last of the sixteens, unless all
    of what is read lies in the image."""
    inputs = fields["in_c"] // fields["groups"]
    chunks = (fields["kernel_h"] * fields["kernel_w"] * inputs + 15) // 16
    missing = -fields["out_w"] % 8 * fields["stride_w"]
    image = (fields["groups"] * rows * columns + missing) * inputs
    if is_direct:
        piece = fields["kernel_w"] * inputs
        sixteens = (piece + 15) // 16
        is_inside = fields["in_x0"] == 0 and fields["in_y0"] >= 0
        is_inside = is_inside and fields["in_y0"] + rows <= fields["in_h"]
        if (fields["groups"], missing, piece % 16) == (1, 0, 0) and is_inside:
            image = 0 if columns * inputs == fields["in_row_stride"] else image
        words = fields["kernel_h"] * (sixteens if sixteens % 2 else sixteens // 2)
        return 12 * fields["out_c"] + 4 * words + image + 16 * sixteens - piece
    return 12 * fields["out_c"] + (4 + 16 + 8 * 16) * chunks + image


def _room(call: Call) -> int:
    return sum(arg.nbytes for arg in call.args if isinstance(arg, ScratchArg))
