# SPDX-License-Identifier: Apache-2.0
"""What conv2d_tiles takes for granted (kernels/src/conv/conv2d_tiles_mve.inc): windows, clamps and biases."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...errors import CortexMError
from ...ir import Graph, Op, ops
from ..types import Plan, Step


def check_tiles(plan: Plan, step: Step) -> None:
    """Every call of it has windows, channels and a clamp as the kernel knows them, and biases that fit
    beside their shifts in 32 bits.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if call.kernel.op != "conv2d_tiles":
            continue
        op = step.op_of(call) or step.op
        fields = call.int_fields
        usual = {"groups": 1, "dilation_h": 1, "dilation_w": 1, "act_min": -128, "act_max": 127}
        are_usual = all(fields[name] == value for name, value in usual.items())
        if not (are_usual and fields["out_c"] % 2 == 0 and _are_in_reach(fields)):
            raise CortexMError(
                f"windows or results are not as {call.kernel.symbol} has them", where=str(op.layer)
            )
        if _largest_bias(plan.graph, op) >= 2**22:
            raise CortexMError(
                f"biases do not fit in the 23 bits of {call.kernel.symbol}", where=str(op.layer)
            )


def _are_in_reach(fields: Mapping[str, int]) -> bool:
    """Whether windows are pixels in the image, or 3x3 and near, of channels in sixteens; or their last input
    is no more than 255 bytes behind the first in rows that hold the windows of whole fours of pixels. And
    whether 16 bits have the places of four pixels' results."""
    height, width, inputs = (fields[name] for name in ("kernel_h", "kernel_w", "in_c"))
    if 3 * fields["out_pixel_stride"] + 1 >= 2**16:
        return False
    if (height, width) == (1, 1):
        axes = (("in_y0", "out_h", "stride_h", "in_h"), ("in_x0", "out_w", "stride_w", "in_w"))
        places = [[fields[name] for name in names] for names in axes]
        are_inside = all(0 <= x <= x + (n - 1) * by < size for x, n, by, size in places)
        return inputs % 16 == 0 and are_inside
    if (height, width) == (3, 3) and inputs % 16 == 0 and fields["stride_w"] <= 2:
        return True
    fours = 4 * ((fields["out_w"] + 3) // 4)
    row = (fields["stride_w"] * (fours - 1) + width) * inputs
    return row * (height - 1) + width * inputs - 1 <= 255


def _largest_bias(graph: Graph, op: Op) -> int:
    """Of a layer, with the zero point of its inputs in it; of a transposed one by phase."""
    weight = graph.tensors[op.inputs[1]].data
    assert weight is not None and isinstance(op.attrs, ops.ConvAttrs | ops.Linear)
    if isinstance(op.attrs, ops.DepthwiseConv2d):
        weight = np.moveaxis(weight, -1, 0)  # output channels come last there
    parts = [weight.reshape(len(weight), -1)]
    if isinstance(op.attrs, ops.TransposeConv2d):
        stride = op.attrs.window.stride
        parts = [weight[:, y :: stride[0], x :: stride[1]] for y, x in np.ndindex(stride)]
    sums = np.array([part.reshape(len(part), -1).sum(axis=1, dtype=np.int64) for part in parts])
    biases = -op.attrs.in_zero_point * sums
    if len(op.inputs) > 2:
        bias = graph.tensors[op.inputs[2]].data
        assert bias is not None
        biases = biases + bias.reshape(-1).astype(np.int64)
    return int(np.abs(biases).max(initial=0))
