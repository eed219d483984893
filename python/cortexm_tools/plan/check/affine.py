# SPDX-License-Identifier: Apache-2.0
"""All pairs of int8 codes, added as by ``add_affine`` and ``add_affine_fine`` (kernels/README.md), and by
operators."""

from __future__ import annotations

import numpy as np

from ...errors import CortexMError
from ...ir import ops
from ..types import Plan, Step

_FRACTIONS = {"add_affine": 21, "add_affine_fine": 22}


def check_affine(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call of a step would add two codes to another one than its operator does, or
    overflow. It is a bug in the planner."""
    made_by = {index: op for op in step.ops for index in op.outputs}
    codes = np.arange(-128, 128, dtype=np.int64)
    for call in step.calls:
        fraction = _FRACTIONS.get(call.kernel.op)
        if fraction is None:
            continue
        fields = call.int_fields
        sums = codes[:, None] * fields["a_factor"] + codes * fields["b_factor"] + fields["constant"]
        assert call.result is not None
        op = made_by.get(
            call.result.index, step.op
        )  # in a concatenation the call writes that one's result
        assert isinstance(op.attrs, ops.Add)
        wanted = op.attrs.compute((plan.graph.tensors[op.outputs[0]],), codes[:, None], codes)
        fits = -(2**31) + 2 ** (fraction - 1) <= sums.min() and sums.max() < 2**31
        fits = fits and all(abs(fields[name]) < 2**23 for name in ("a_factor", "b_factor"))
        if call.kernel.op == "add_affine_fine":
            fits = fits and fields["a_period"] == fields["b_period"] == fields["count"]
        if not fits or not np.array_equal(np.clip(sums >> fraction, -128, 127), wanted):
            raise CortexMError(
                f"{call.kernel.symbol} would add codes to others than the model's",
                where=str(op.layer),
            )
