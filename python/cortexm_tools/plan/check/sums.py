# SPDX-License-Identifier: Apache-2.0
"""Whether 32 bits hold the sums of int16 layers, 4 bits the weights that are stored so, and 24 bits the sums
of two outputs in one register, from the layers' constants alone."""

from __future__ import annotations

import numpy as np

from ...errors import CortexMError
from ...ir import DType, Graph, Op, ops
from ..types import ConstantArg, Plan, Step

SUMS_32 = 2**31 - 1
"""The largest absolute value of a sum of 32 bits on which every kernel agrees."""

_WIDE = "_wide"  # at the end of the names of operators whose kernels have sums of 64 bits


def largest_int16_sum(graph: Graph, op: Op) -> int | None:
    """What no sum of a layer with int16 activations and int8 weights exceeds, in its absolute value
    and at any term: the largest of ``32768 * sum |w| + |bias|`` of its outputs; None of other operators.
    """
    if not isinstance(op.attrs, ops.ConvAttrs | ops.Linear):
        return None
    weight = graph.tensors[op.inputs[1]].data
    if weight is None or graph.tensors[op.inputs[0]].dtype is not DType.S16:
        return None
    values = weight.astype(np.int64)
    if isinstance(op.attrs, ops.Linear):
        values -= op.attrs.weight_zero_point
    if isinstance(op.attrs, ops.DepthwiseConv2d):
        values = np.moveaxis(values, -1, 0)  # output channels come last there
    sums = 32768 * np.abs(values.reshape(len(values), -1)).sum(axis=1)
    if len(op.inputs) > 2:
        bias = graph.tensors[op.inputs[2]].data
        assert bias is not None
        sums = sums + np.abs(bias.reshape(-1).astype(np.int64))
    return int(sums.max(initial=0))


def check_sums(plan: Plan, step: Step) -> None:
    """Every call that adds products of int16 codes in 32 bits computes a layer whose sums fit.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op = step.op_of(call)
        bound = largest_int16_sum(plan.graph, op) if op is not None else None
        if op is None or bound is None or call.kernel.op.endswith(_WIDE):
            continue
        if call.macs and bound > SUMS_32:
            raise CortexMError(
                f"sums of up to {bound:,} do not fit in the 32 bits of {call.kernel.symbol}",
                where=str(op.layer),
            )


def check_four_bits(plan: Plan, step: Step) -> None:
    """Every call that reads weights two to a byte computes a layer whose weights have 4 bits.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        op = step.op_of(call)
        if op is None or not call.kernel.types.endswith("w4"):
            continue
        assert isinstance(op.attrs, ops.ConvAttrs | ops.Linear | ops.RecurrentAttrs)
        matrices = op.inputs[-3:-1] if isinstance(op.attrs, ops.RecurrentAttrs) else op.inputs[1:2]
        for weight in (plan.graph.tensors[index].data for index in matrices):
            assert weight is not None
            if weight.size and not -8 <= weight.min() <= weight.max() <= 7:
                raise CortexMError(
                    f"weights are too large for the 4 bits of {call.kernel.symbol}",
                    where=str(op.layer),
                )


def check_columns(plan: Plan, step: Step) -> None:
    """Where a call whose windows share columns sums all products of a window at once, 24 bits hold those of
    the second output of any two.

    Raises:
        CortexMError: names the layer.
    """
    for call in step.calls:
        if call.kernel.pack != "column_twos":
            continue
        fields = call.int_fields
        stored = {constant.name: constant.data for constant in plan.constants}
        weight, table = (
            stored[arg.name].view(np.int8)[arg.offset :]
            for arg in call.args
            if isinstance(arg, ConstantArg)
        )
        outputs = fields["out_c"]
        halves = weight.view("<i2")[: outputs // 2 * 9 * 2 * -(-fields["in_c"] // 4 * 2)]
        second = (halves.astype(np.int64) + 128) >> 8  # of 256 * b + a
        second = second.reshape(outputs // 2, -1)
        least, most = (second * (code - fields["in_zero_point"]) for code in (-128, 127))
        sums = np.maximum(np.maximum(least, most).sum(axis=1), -np.minimum(least, most).sum(axis=1))
        are_runs = table.view(np.int8).reshape(-1, 20)[: outputs // 2, 18] != 0
        if sums.max(initial=0) >= 2**23 and not are_runs.all():
            raise CortexMError(
                f"24 bits do not hold the sums of {call.kernel.symbol}", where=str(step.op.layer)
            )
