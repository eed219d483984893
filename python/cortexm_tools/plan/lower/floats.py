# SPDX-License-Identifier: Apache-2.0
"""Functions of one and two operands: Unary, Binary, Clamp, and Minimum, Maximum beyond int8."""

from __future__ import annotations

import math

from ...errors import CortexMError
from ...ir import DType, Op, ops
from ..types import Call, Field, TensorArg
from .broadcast import broadcast_fields
from .context import Selector, lowers


@lowers(ops.Unary)
def _unary(select: Selector, attrs: ops.Unary, op: Op) -> list[Call]:
    fields: dict[str, Field] = {
        "count": select.tensor(op.outputs[0]).numel,
        "alpha": attrs.alpha,
        "scale": attrs.scale,
        "input_scale": attrs.input_scale,
    }
    kernel = select.kernel(attrs.function, "f32", op)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.Clamp)
def _clamp(select: Selector, attrs: ops.Clamp, op: Op) -> list[Call]:
    out = select.tensor(op.outputs[0])
    low, high = attrs.low, attrs.high
    fields: dict[str, Field] = {"count": out.numel}
    if out.dtype is DType.F32:
        fields["low"] = -math.inf if low is None else float(low)
        fields["high"] = math.inf if high is None else float(high)
    else:
        lowest, highest = out.dtype.limits
        fields["low"] = lowest if low is None else int(low)
        fields["high"] = highest if high is None else int(high)
    kernel = select.kernel("clamp", out.dtype.value, op)
    return [select.call(kernel, fields, [select.operand(op.inputs[0]), TensorArg(op.outputs[0])])]


@lowers(ops.Binary)
def _binary(select: Selector, attrs: ops.Binary, op: Op) -> list[Call]:
    return broadcast_call(select, op, attrs.function)


def broadcast_call(select: Selector, op: Op, name: str) -> list[Call]:
    """The kernel `name` for the result's type, on two operands with strides."""
    out = select.tensor(op.outputs[0])
    for index in op.inputs:
        if select.tensor(index).dtype is not out.dtype:
            raise CortexMError(f"{name}: operands and result differ in type", where=str(op.layer))
    fields = broadcast_fields(select, op, {"a": op.inputs[0], "b": op.inputs[1]})
    args = [select.operand(op.inputs[0]), select.operand(op.inputs[1]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel(name, out.dtype.value, op), fields, args)]
