# SPDX-License-Identifier: Apache-2.0
"""Operands that broadcast to a result, as strides: what cortexm_binary_t and its like hold.

The result is written densely in its memory order, so the box's dimensions follow its dim order.
Operands may lie in any layout of their own and need no copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import CortexMError
from ...ir import Op, Tensor
from ..types import Field
from .context import Selector
from .data import strides

MAX_RANK = 8  # CORTEXM_BOX_MAX_RANK


def broadcast_strides(x: Tensor, out: Tensor) -> tuple[int, ...]:
    """Elements of `x` between neighbours along each logical dimension of `out`; 0 repeats."""
    missing = len(out.shape) - len(x.shape)
    own = (0 if extent == 1 else step for extent, step in zip(x.shape, strides(x), strict=True))
    return (0,) * missing + tuple(own)


def broadcast_fields(select: Selector, op: Op, operands: Mapping[str, int]) -> dict[str, Field]:
    """rank, dims and NAME_stride for every operand (name -> tensor index) of an operator.

    Dimensions along which all operands go on as the result does are merged.

    Raises:
        CortexMError: more than MAX_RANK dimensions remain.
    """
    out = select.tensor(op.outputs[0])
    tables = [broadcast_strides(select.tensor(index), out) for index in operands.values()]
    box: list[tuple[int, list[int]]] = []
    for dim in out.dim_order:
        extent, steps = out.shape[dim], [table[dim] for table in tables]
        if extent == 1:
            continue
        if box and box[-1][1] == [step * extent for step in steps]:
            box[-1] = (box[-1][0] * extent, steps)
        else:
            box.append((extent, steps))
    box = box or [(1, [0] * len(tables))]
    if len(box) > MAX_RANK:
        raise CortexMError(
            f"{op.kind}: broadcasts over {len(box)} dimensions, kernels take {MAX_RANK}",
            where=str(op.layer),
        )
    fields: dict[str, Field] = {"rank": len(box), "dims": tuple(row[0] for row in box)}
    for number, name in enumerate(operands):
        fields[f"{name}_stride"] = tuple(row[1][number] for row in box)
    return fields
