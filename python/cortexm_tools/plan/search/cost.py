# SPDX-License-Identifier: Apache-2.0
"""Instructions of kernel calls by the instruction set of the kernels, roughly: to compare plans with."""

from __future__ import annotations

from collections.abc import Iterable

from ...target import Isa
from ..memory.overlap import order_of
from ..types import Call, Step

_PER_MAC = {Isa.MVE: 0.35, Isa.DSP: 1.4, Isa.V7M: 3.0, Isa.V6M: 3.0, Isa.SCALAR: 3.0}
# Of element-wise results.
_PER_ELEMENT = {Isa.MVE: 0.5, Isa.DSP: 2.0, Isa.V7M: 3.0, Isa.V6M: 3.0, Isa.SCALAR: 3.0}
_PER_BYTE_MOVED = {Isa.MVE: 0.2, Isa.DSP: 0.6, Isa.SCALAR: 0.6}
_PER_BYTE_PREPARED = {Isa.MVE: 0.2, Isa.DSP: 1.0, Isa.V7M: 2.0, Isa.V6M: 2.0, Isa.SCALAR: 2.0}
# What a call does besides. On MVE 100 to 125 were counted, in the bands of resnet8 and mobilenet_v2.
_PER_CALL = {Isa.MVE: 150, Isa.DSP: 300, Isa.V7M: 300, Isa.V6M: 300, Isa.SCALAR: 300}
_THREES = 3  # pixels at a time of conv2d with DSP instructions
_UNPACKING = 1.1  # instructions per product with weights of 4 bits, against int8


def instructions(calls: Iterable[Call], isa: Isa) -> float:
    """Of calls that multiply, as if all kernels were written for `isa`."""
    return sum(_products(call, isa) + _PER_CALL[isa] * call.turns for call in calls)


def _products(call: Call, isa: Isa) -> float:
    unpacking = _UNPACKING if call.kernel.types.endswith("w4") else 1.0
    return _PER_MAC[isa] * unpacking * call.macs


def instructions_by_kernel(calls: Iterable[Call]) -> float:
    """Of calls, each by what its kernel is written for, and with element-wise results counted."""
    return sum(
        _products(call, call.kernel.isa)
        + _PER_ELEMENT[call.kernel.isa] * call.turns * _elements(call)
        + _PER_CALL[call.kernel.isa] * call.turns
        for call in calls
    )


def _elements(call: Call) -> int:
    return call.int_fields["count"] if order_of(call)[0] == "elements" else 0


def band_cost(step: Step, isa: Isa, height: int) -> float:
    """What the bands of a step add to its operators on whole tensors, images or matrices so high."""
    total = _PER_CALL[isa] * float(sum(call.turns for call in step.calls) - len(step.ops))
    for call in step.calls:
        fields = call.int_fields
        if call.kernel.op == "move":
            total += call.turns * _PER_BYTE_MOVED[isa] * fields["count"]
        elif call.kernel.op == "batch_matmul":
            # Every call prepares the right matrix, which the call on all rows does once.
            prepared = _PER_BYTE_PREPARED[isa] * fields["cols"] * fields["inner"]
            total += prepared * call.turns * (1 - fields["rows"] / height)
        elif order_of(call)[0] == "planes":
            total += call.turns * 6 * fields["in_row_stride"]  # sorts two rows again
        elif order_of(call)[0] == "pixels" and isa is not Isa.SCALAR:
            pixels, ahead = fields["out_h"] * fields["out_w"], order_of(call)[1]
            if ahead != _THREES:  # those leave little, and cost little by themselves
                total += pixels % ahead * _products(call, isa) / pixels
        elif call.kernel.op == "conv2d" and isa is Isa.SCALAR:
            pixels = fields["out_h"] * fields["out_w"]
            total += -pixels % 3 * _products(call, isa) / pixels  # three cost as one does
    return total
