# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, and the choice between two operands."""

from __future__ import annotations

import numpy as np

from ...ir import ops
from ...ir.fixed_point import quantize_multiplier
from ...ir.types import DType
from ..call import AGAIN, Call, reads

_COMPARISONS = {
    "EQUAL": "eq", "NOT_EQUAL": "ne", "LESS": "lt", "LESS_EQUAL": "le", "GREATER": "gt",
    "GREATER_EQUAL": "ge",
}  # fmt: skip


def _compare(call: Call) -> None:
    types = {call.lite(0).type, call.lite(1).type}
    kind = call.type(call.lite(0))
    known = (DType.F32, DType.S8, DType.S32, DType.S64, DType.BOOL)
    call.require(
        len(types) == 1 and kind in known,
        f"compares {' and '.join(sorted(types))}",
        "there are kernels for FLOAT32, INT8, INT32, INT64 and BOOL",
    )
    operands = _ranks(call) if kind is DType.S8 else call.operands
    call.emit(ops.Compare(_COMPARISONS[call.name]), *operands)


for _name in _COMPARISONS:
    _table = "".join(word.capitalize() for word in _name.split("_")) + "Options"
    reads(_name, options=_table)(_compare)


def _ranks(call: Call) -> tuple[int, ...]:
    """Operands of int8 with codes of one order.

    TFLM compares their numbers, rounded to multiples of 2**-8; what is equal after that has one rank among
    the numbers of both, or between those of a constant.
    """
    values = []
    for number in (0, 1):
        tensor = call.lite(number)
        factor, zero = quantize_multiplier(call.scale(tensor)), call.zero(tensor)
        found = call.known(number)
        codes = np.arange(-128, 128) if found is None else found.astype(np.int64).reshape(-1)
        call.require(factor.shift <= 0, f"{tensor} has a scale above 1", AGAIN)
        values.append(factor.apply((codes - zero) << 8))
    distinct = np.unique(np.concatenate(values))
    for number in (0, 1):
        if len(distinct) > 256 and call.known(number) is not None:
            few = values[number]
            distinct = np.unique([-(2**31), *few, *(few + 1)])
    ranked = [np.searchsorted(distinct, each, side="right") - 129 for each in values]
    call.require(
        len(distinct) <= 256,
        "compares int8 tensors of different scales",
        "give both the same quantization, or compare in float32",
    )
    operands = []
    for number, ranks in enumerate(ranked):
        constant = call.known(number)
        if constant is not None:
            operands.append(call.number(ranks.astype(np.int8).reshape(constant.shape)))
        elif np.array_equal(ranks, np.arange(-128, 128)):
            operands.append(call.operand(number))
        else:
            entries = call.number(ranks.astype(np.int8))
            operands.append(call.like(ops.Activation(), call.operand(number), entries))
    return tuple(operands)


@reads("LOGICAL_AND", options="LogicalAndOptions")
@reads("LOGICAL_OR", options="LogicalOrOptions")
def _logic(call: Call) -> None:
    call.types(DType.BOOL)
    call.emit(ops.Logical("and" if call.name == "LOGICAL_AND" else "or"), *call.operands)


@reads("LOGICAL_NOT", options="LogicalNotOptions")
def _not(call: Call) -> None:
    call.types(DType.BOOL)
    call.emit(ops.LogicalNot(), call.operand(0))


@reads("SELECT_V2", options="SelectV2Options")
def _select(call: Call) -> None:
    call.same_scale(call.lite(1), call.lite(2), call.result())
    call.emit(ops.Where(), *call.operands)
