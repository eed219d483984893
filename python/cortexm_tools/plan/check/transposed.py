# SPDX-License-Identifier: Apache-2.0
"""Proves that a transposed convolution in another form has a place for each of its taps: as a convolution,
or with some columns as one of more outputs. Rows of bands are for bands.py."""

from __future__ import annotations

from ...errors import CortexMError
from ...ir import ops
from ..types import Call, Plan, Step


def check_transposed(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call on a whole image looks for a tap of the operator where it is not."""
    attrs = step.op.attrs
    if not isinstance(attrs, ops.TransposeConv2d) or step.fused:
        return
    out_c, width = (plan.graph.tensors[step.op.outputs[0]].shape[d] for d in (1, 3))
    in_c = plan.graph.tensors[step.op.inputs[0]].shape[1]
    for call in step.calls:
        f = call.int_fields
        joined, inputs = f["out_c"] // out_c, f["in_c"] // in_c
        whole = (f["out_c"], f["in_c"], f["out_w"] * joined) == (
            out_c * joined,
            in_c * inputs,
            width,
        )
        beside = joined == 1 or f["out_pixel_stride"] == f["out_c"]
        finds = _finds_in_reverse if call.kernel.serves.startswith("conv2d") else _finds
        if not (whole and beside and finds(attrs, call, joined, inputs)):
            raise CortexMError(
                f"{call.kernel.symbol} looks for taps where they are not", where=str(step.op.layer)
            )


def _finds(attrs: ops.TransposeConv2d, call: Call, joined: int, inputs: int) -> bool:
    """Input i adds to the outputs first + stride * i + tap of a row, of which `joined` are a column."""
    f, window = call.int_fields, attrs.window
    if inputs != 1 or f["stride_w"] * joined != window.stride[1]:
        return False
    if (f["stride_h"], f["kernel_h"], f["in_y0"]) != (
        window.stride[0],
        window.kernel[0],
        -window.padding[0],
    ):
        return False
    if joined == 1:
        return f["kernel_w"] == window.kernel[1] and f["in_x0"] == -window.padding[1]
    columns = [(tap - window.padding[1]) // joined for tap in range(window.kernel[1])]
    return f["in_x0"] == columns[0] and f["in_x0"] + f["kernel_w"] == columns[-1] + 1


def _finds_in_reverse(attrs: ops.TransposeConv2d, call: Call, joined: int, inputs: int) -> bool:
    """Output o of a row meets with tap k the input o + padding - k * dilation: the first one with the last
    tap. Where `joined` outputs are a pixel its window goes on to the last one's."""
    f, window = call.int_fields, attrs.window
    reach = [(side - 1) * step for side, step in zip(window.kernel, window.dilation, strict=True)]
    first = [cut - far for cut, far in zip(window.padding, reach, strict=False)]
    if window.stride != (1, 1) or f["stride_h"] != 1 or f["stride_w"] * inputs != joined:
        return False
    if (
        f["in_y0"] != first[0]
        or f["in_x0"] * inputs != first[1]
        or f["kernel_h"] != window.kernel[0]
    ):
        return False
    columns = (f["kernel_w"] * inputs - 1) * f["dilation_w"]
    return columns == reach[1] + joined - 1
