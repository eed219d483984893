# SPDX-License-Identifier: Apache-2.0
"""What conv2d_widened takes for granted (kernels/src/conv/conv2d_widened_dsp.inc): rows of four pixels at
least, and that its band has room."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import CortexMError
from ..types import Plan, ScratchArg, Step

_MOST_WORDS = 768


def check_widened(plan: Plan, step: Step) -> None:
    """Every call of it has four pixels in a row, and scratch for all that it keeps.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if call.kernel.op != "conv2d_widened":
            continue
        if call.int_fields["out_w"] < 4:
            raise CortexMError(
                f"rows are too short for {call.kernel.symbol}", where=str(step.op.layer)
            )
        room = sum(arg.nbytes for arg in call.args if isinstance(arg, ScratchArg))
        if room < _needed(call.int_fields):
            raise CortexMError(
                f"{call.kernel.symbol} has not enough scratch", where=str(step.op.layer)
            )


def _needed(fields: Mapping[str, int]) -> int:
    """Three words for each column of a stride, two for each pair of products of an output, and the rows of
    as many outputs as have room, or of one: a word for each pair of channels and column."""
    inputs, stride = fields["in_c"] // fields["groups"], fields["stride_w"]
    taps = fields["kernel_h"] * fields["kernel_w"]
    if inputs == 1:
        steps, pairs = (fields["kernel_h"] - fields["kernel_h"] // 2) * fields["kernel_w"], 1
    else:
        pairs = inputs - inputs // 2
        steps = taps * pairs
    last = (fields["out_w"] - 1) * stride + (fields["kernel_w"] - 1) * fields["dilation_w"]
    words = pairs * (last // stride + 1) * stride
    rows = 1 + (fields["kernel_h"] - 1) * fields["dilation_h"]
    for _ in range(fields["out_h"] - 1):
        if (rows + fields["stride_h"]) * words > _MOST_WORDS:
            break
        rows += fields["stride_h"]
    return 12 * stride + 8 * steps + 4 * rows * words
