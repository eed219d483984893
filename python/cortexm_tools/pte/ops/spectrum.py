# SPDX-License-Identifier: Apache-2.0
"""Spectra of sound."""

from __future__ import annotations

from ...ir import ops
from ...ir.types import DType
from ..call import INT64, Call, reads
from ..operands import LIMITS
from ..values import ScalarType


@reads("cortexm::log_mel.out")
def _log_mel(call: Call) -> None:
    x, window, weights = call.tensor("input"), call.constant("window"), call.constant("weights")
    for index in (x, window, weights):
        call.require_dtype(index, DType.S16)
    first = call.integers("first")
    frames, dtype = call.integer("frames", (1, 2**31 - 1)), call.out_tensor().dtype
    call.require(bool(call.info(x).shape), "there are no samples")
    call.require_out((*call.info(x).shape[:-1], frames, len(first)), *LIMITS)
    call.require(
        call.integer("dtype") == ScalarType[dtype.name], "the codes have another type than stated"
    )
    high, low = (
        call.integer("least_high", (0, 2**60 - 1)),
        call.integer("least_low", (0, 2**32 - 1)),
    )
    attrs = ops.LogMel(
        points=call.integer("points"),
        start=call.integer("start"),
        hop=call.integer("hop"),
        shift=call.integer("shift"),
        roots=call.boolean("roots"),
        under_root=call.integer("under_root", (0, 2**62 - 1)),
        first=first,
        count=call.integers("count"),
        least=(high << 32) + low,
        adds=call.boolean("adds"),
        gains=call.integers("gains"),
        offsets=call.integers("offsets", INT64),
        gain_shift=call.integer("gain_shift"),
        act_min=call.integer("activation_min", LIMITS[dtype]),
        act_max=call.integer("activation_max", LIMITS[dtype]),
    )
    call.emit(attrs, x, window, weights)
