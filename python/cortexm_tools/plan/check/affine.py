# SPDX-License-Identifier: Apache-2.0
"""Whether the function of codes by which a call adds gives the operator's codes."""

from __future__ import annotations

import numpy as np

from ...errors import CortexMError
from ...ir import ops
from ..kernels.affine import AFFINE, Affine, codes_of
from ..types import Plan, Step


def check_affine(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call of a step would add two codes to another one than its operator does, or
    overflow. It is a bug in the planner."""
    made_by = {index: op for op in step.ops for index in op.outputs}
    for call in step.calls:
        if call.kernel.op != AFFINE:
            continue
        fields = call.int_fields
        function = Affine(fields["a_factor"], fields["b_factor"], fields["constant"])
        assert call.result is not None
        op = made_by.get(
            call.result.index, step.op
        )  # in a concatenation the call writes that one's result
        assert isinstance(op.attrs, ops.Add)
        wanted = codes_of(op.attrs, plan.graph.tensors[op.outputs[0]])
        if not function.fits or not np.array_equal(function.codes(), wanted):
            raise CortexMError(
                f"{call.kernel.symbol} would add codes to others than the model's",
                where=str(op.layer),
            )
