# SPDX-License-Identifier: Apache-2.0
"""Operands that broadcast to a result, as strides: what cortexm_binary_t and its like hold.

The result is written densely in its memory order, so the box's dimensions follow its dim order.
Operands may lie in any layout of their own and need no copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import CortexMError
from ...ir import Op, Tensor
from ..types import Call, Field, TensorArg
from .boxes import box_fields, strides
from .context import Selector


def broadcast_strides(x: Tensor, rank: int) -> tuple[int, ...]:
    """Elements of `x` between neighbours along each of `rank` logical dimensions; 0 repeats."""
    own = (0 if extent == 1 else step for extent, step in zip(x.shape, strides(x), strict=True))
    return (0,) * (rank - len(x.shape)) + tuple(own)


def broadcast_fields(select: Selector, op: Op, operands: Mapping[str, int]) -> dict[str, Field]:
    """rank, dims and NAME_stride for every operand (name -> tensor index) of an operator.

    Dimensions along which all operands go on as the result does are merged.

    Raises:
        CortexMError: more dimensions remain than kernels take.
    """
    out = select.tensor(op.outputs[0])
    tables = {
        f"{name}_stride": broadcast_strides(select.tensor(index), len(out.shape))
        for name, index in operands.items()
    }
    order = out.dim_order
    ordered = {name: [table[dim] for dim in order] for name, table in tables.items()}
    return box_fields(op, out.memory_shape, ordered)


def broadcast_call(select: Selector, op: Op, name: str) -> list[Call]:
    """The kernel `name` for the result's type, on two operands with strides."""
    out = select.tensor(op.outputs[0])
    for index in op.inputs:
        if select.tensor(index).dtype is not out.dtype:
            raise CortexMError(f"{name}: operands and result differ in type", where=str(op.layer))
    fields = broadcast_fields(select, op, {"a": op.inputs[0], "b": op.inputs[1]})
    args = [select.operand(op.inputs[0]), select.operand(op.inputs[1]), TensorArg(op.outputs[0])]
    return [select.call(select.kernel(name, out.dtype.value, op, fields), fields, args)]
