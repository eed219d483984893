# SPDX-License-Identifier: Apache-2.0
"""What two programs of one model have in common, whatever processor lowered them."""

from __future__ import annotations

from cortexm_tools.ir import Graph


def outline(graph: Graph) -> list[object]:
    """The operators in their order, with the types and shapes of what they read and write.

    Codes and multipliers follow from sums of floats, whose last bits differ between processors.
    """
    tensors = graph.tensors
    return [
        (op.kind, [(tensors[i].dtype, tensors[i].shape) for i in (*op.inputs, *op.outputs)])
        for op in graph.ops
    ]
