# SPDX-License-Identifier: Apache-2.0
"""Whether windows, pixels, outputs and clamps are such as the kernels of a plan take."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import CortexMError
from ...ir import Op
from ..types import Call, Plan, Step
from . import floats


def check_ends(plan: Plan, step: Step) -> None:
    """Every call that knows no clamp has none, and one that takes windows of a few inputs for pixels has
    windows of one pixel in the image.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op, fields = step.op_of(call), call.int_fields
        if op is not None and call.kernel.op == "conv2d_few_unclamped":
            is_plain = [fields["act_min"], fields["act_max"]] == [-128, 127]
            groups = fields["groups"]
            are_few = fields["in_c"] <= 16 * groups and fields["out_c"] >= 4 * groups
            _require(is_plain and are_few and _are_pixels(fields), call, op)
        if op is None or call.kernel.op not in ("conv2d_few", "depthwise_conv2d_3x3_relu"):
            continue
        clamp = [fields[name] for name in ("out_zero_point", "act_min", "act_max")]
        if clamp != [-128, -128, 127]:
            raise CortexMError(
                f"results have another clamp than those of {call.kernel.symbol}",
                where=str(op.layer),
            )
        are_fours = fields["out_c"] % 4 == 0 and fields["in_c"] in (8, 16, 24, 32)
        if call.kernel.op == "conv2d_few" and not (_are_pixels(fields) and are_fours):
            raise CortexMError(
                f"windows are not pixels as {call.kernel.symbol} reads them", where=str(op.layer)
            )


def check_fours(plan: Plan, step: Step) -> None:
    """Every call that reads rows of any length as words has rows of one word at least; conv2d_plain has one
    group and leaves no outputs behind fours; those of floats have the layers that they take.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        fields = call.int_fields
        if call.kernel.op == "linear_few" and fields["in_features"] < 4:
            raise CortexMError(
                f"rows are shorter than a word of {call.kernel.symbol}", where=str(step.op.layer)
            )
        if call.kernel.op == "conv2d_plain" and (fields["out_c"] % 4 or fields["groups"] != 1):
            raise CortexMError(
                f"{call.kernel.symbol} would leave out outputs", where=str(step.op.layer)
            )
        takes, what = floats.TAKES.get(call.kernel.op, (None, ""))
        if takes is not None and not takes(call):
            raise CortexMError(f"{call.kernel.symbol} {what}", where=str(step.op.layer))


def _require(is_right: bool, call: Call, op: Op) -> None:
    """
    Raises:
        CortexMError: otherwise.
    """
    if not is_right:
        raise CortexMError(
            f"{call.kernel.symbol} would not make these results", where=str(op.layer)
        )


def _are_pixels(fields: Mapping[str, int]) -> bool:
    """Whether all windows are one pixel each, in the image."""
    axes = (("in_y0", "out_h", "stride_h", "in_h"), ("in_x0", "out_w", "stride_w", "in_w"))
    are_inside = True
    for names in axes:
        first, count, stride, extent = (fields[name] for name in names)
        are_inside = are_inside and 0 <= first <= first + (count - 1) * stride < extent
    return fields["kernel_h"] == fields["kernel_w"] == 1 and are_inside
