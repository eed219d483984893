# SPDX-License-Identifier: Apache-2.0
"""Reads every row of an embedding's table as its kernel does: the plan may have it in the order in which a
layer with the same weights reads them."""

from __future__ import annotations

import numpy as np

from ...errors import CortexMError
from ..types import ConstantArg, Plan, Step


def check_tables(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call of a step would find another code than the graph's table has. It is a
    bug in the planner."""
    for call in step.calls:
        if call.kernel.op != "embedding":
            continue
        names = {constant.name: constant.data for constant in plan.constants}
        fields = call.int_fields
        table, places = (names[arg.name] for arg in call.args[:2] if isinstance(arg, ConstantArg))
        (op,) = (op for op in step.ops if call.result and call.result.index in op.outputs)
        wanted = plan.graph.tensors[op.inputs[0]].data
        assert wanted is not None
        codes = table.reshape(-1).view(np.uint8)
        block, span = 2 ** fields["block_shift"], 2 ** fields["bits"]
        for at, row in enumerate(wanted):
            kind = at % block + (block if at // block == len(wanted) // block else 0)
            place = places.reshape(-1, wanted.shape[1])[kind].astype(np.int64)
            byte = place // 4 + at // block * fields["block_size"]
            good = byte.max() < codes.size
            if good:
                found = codes[byte].astype(np.int64) // np.where(place & 2, 16, 1) % span
                signed = np.where(found >= span // 2, found - span, found)
                good = np.array_equal(np.where(place & 1, signed, found - span // 2), row)
            if not good:
                raise CortexMError(
                    f"row {at} of the table is not where {call.kernel.symbol} reads it",
                    where=str(op.layer),
                )
