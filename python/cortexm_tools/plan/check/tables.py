# SPDX-License-Identifier: Apache-2.0
"""Reads every row of an embedding's table as its kernel does: the plan may have it in the order in which a
layer with the same weights reads them. All pairs of codes through the table of a softmax over two, and the
exponentials that factors are for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...errors import CortexMError
from ...ir import ops
from ...ir.fixed_point import Rescale, are_blocks, are_factors
from ..types import Call, ConstantArg, Plan, Step


def check_tables(plan: Plan, step: Step) -> None:
    """Raises a CortexMError if a call of a step would find another code than the graph's table has. It is a
    bug in the planner."""
    for call in step.calls:
        if call.kernel.types == "s8" and call.kernel.op in ("softmax_pair", "softmax_two"):
            _check_softmax_of_two(plan, step, call)
        if call.kernel.op.startswith("softmax_factor"):
            _check_factors(plan, step, call, are_factors)
        if call.kernel.op.startswith("softmax_blocks"):
            _check_factors(plan, step, call, are_blocks)
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


def _check_softmax_of_two(plan: Plan, step: Step, call: Call) -> None:
    (op,) = (op for op in step.ops if isinstance(op.attrs, ops.Softmax))
    names = {constant.name: constant.data for constant in plan.constants}
    table = call.args[1]
    assert isinstance(table, ConstantArg) and isinstance(op.attrs, ops.Softmax)
    codes = np.arange(-128, 128)
    pairs = np.stack(np.broadcast_arrays(codes[:, None], codes), axis=-1).astype(np.int8)
    wanted = replace(op.attrs, dim=2).compute((plan.graph.tensors[op.outputs[0]],), pairs)
    shares, above = names[table.name].reshape(-1), codes[:, None] - codes
    good = shares.size == 511 and call.int_fields["size"] == 2
    good = good and np.array_equal(np.stack([shares[255 + above], shares[255 - above]], -1), wanted)
    if not good:
        raise CortexMError(
            f"{call.kernel.symbol} would give other codes than the model's", where=str(op.layer)
        )


def _check_factors(
    plan: Plan, step: Step, call: Call, serve: Callable[[npt.NDArray[np.int32], Rescale, int], bool]
) -> None:
    """Those of exponentials, of which `serve` says whether kernels give with them what the model does."""
    (op,) = (op for op in step.ops if isinstance(op.attrs, ops.Softmax))
    names = {constant.name: constant.data for constant in plan.constants}
    table = call.args[1]
    assert isinstance(table, ConstantArg) and isinstance(op.attrs, ops.Softmax)
    factors = names[table.name].reshape(-1).astype(np.int32)
    has_all = call.kernel.op != "softmax_blocks" or factors[68] == 0  # no correction is left out
    if not (has_all and serve(factors, op.attrs.rescale, op.attrs.diff_min)):
        raise CortexMError(
            f"{call.kernel.symbol} would give other codes than the model's", where=str(op.layer)
        )
