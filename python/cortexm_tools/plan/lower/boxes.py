# SPDX-License-Identifier: Apache-2.0
"""Boxes that kernels walk: extents, and the strides of every operand, in elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import CortexMError
from ...ir import Op, Tensor
from ..types import Field

MAX_RANK = 8  # CORTEXM_BOX_MAX_RANK and CORTEXM_COPY_MAX_RANK


def c_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements between neighbours along each dimension of a dense tensor in C order."""
    result, step = [0] * len(shape), 1
    for dim in reversed(range(len(shape))):
        result[dim] = step
        step *= shape[dim]
    return tuple(result)


def strides(tensor: Tensor) -> tuple[int, ...]:
    """Elements between neighbours along each logical dimension, in the tensor's memory order."""
    result = [0] * len(tensor.shape)
    step = 1
    for dim in reversed(tensor.dim_order):
        result[dim] = step
        step *= tensor.shape[dim]
    return tuple(result)


def merged(
    dims: Sequence[int], tables: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The same walk with as few dimensions as possible: extents, and strides by operand.

    The order of the elements stays: only neighbouring dimensions are merged.
    """
    box: list[tuple[int, tuple[int, ...]]] = []
    for dim, extent in enumerate(dims):
        steps = tuple(table[dim] for table in tables)
        if extent == 1:
            continue
        if box and box[-1][1] == tuple(step * extent for step in steps):
            box[-1] = (box[-1][0] * extent, steps)
        else:
            box.append((extent, steps))
    box = box or [(1, (0,) * len(tables))]
    return (
        tuple(extent for extent, _ in box),
        [tuple(steps[k] for _, steps in box) for k in range(len(tables))],
    )


def box_fields(
    op: Op, dims: Sequence[int], tables: Mapping[str, Sequence[int]], prefix: str = ""
) -> dict[str, Field]:
    """rank, dims and the strides (field name -> table) of a walk over `dims`.

    Raises:
        CortexMError: more than MAX_RANK dimensions remain.
    """
    extents, strides = merged(dims, list(tables.values()))
    if len(extents) > MAX_RANK:
        raise CortexMError(
            f"{op.kind}: needs {len(extents)} dimensions, kernels take {MAX_RANK}",
            where=str(op.layer),
        )
    fields: dict[str, Field] = {f"{prefix}rank": len(extents), f"{prefix}dims": extents}
    fields.update(zip(tables, strides, strict=True))
    return fields
