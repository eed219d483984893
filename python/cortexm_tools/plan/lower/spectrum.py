# SPDX-License-Identifier: Apache-2.0
"""Spectra of sound: one call for all frames."""

from __future__ import annotations

import numpy as np

from ...ir import Array, Op, ops
from ...ir.spectrum import roots
from ..types import Call, Field, TensorArg
from .context import Selector, lowers


@lowers(ops.LogMel)
def _log_mel(select: Selector, attrs: ops.LogMel, op: Op) -> list[Call]:
    x, window, weights = (select.tensor(index) for index in op.inputs)
    out = select.tensor(op.outputs[0])
    label = op.layer.path or op.kind
    bins = np.array([attrs.first, attrs.count], np.int16).T
    turns = roots(attrs.points).astype(np.int32)

    def table(name: str, data: Array | None, what: str, *, made: bool = False) -> str:
        assert data is not None
        comment = f"{label}: {what}"
        return select.constant(name, data, comment, needed=0 if made else None).name

    fields: dict[str, Field] = {
        "window": table("window", window.data, "window in Q15"),
        "roots": table("roots", turns, f"roots of {attrs.points} points in Q31", made=True),
        "bins": table("bins", bins, "first bin and bins of each band"),
        "weights": table("weights", weights.data, "weights of the bins of each band"),
        "gains": table("gains", np.array(attrs.gains, np.int32), "gain of each band"),
        "offsets": table("offsets", np.array(attrs.offsets, np.int64), "offset of each band"),
        "least_high": attrs.least >> 32,
        "least_low": attrs.least & 0xFFFFFFFF,
        "under_root": attrs.under_root,
        "signals": x.numel // x.shape[-1],
        "samples": x.shape[-1],
        "start": attrs.start,
        "hop": attrs.hop,
        "frames": out.shape[-2],
        "frame": window.numel,
        "points": attrs.points,
        "bands": out.shape[-1],
        "act_min": attrs.act_min,
        "act_max": attrs.act_max,
        "shift": attrs.shift,
        "gain_shift": attrs.gain_shift,
        "adds": int(attrs.adds),
        "square_roots": int(attrs.roots),
    }
    kernel = select.kernel("log_mel", f"s16{out.dtype.value}", op, fields)
    args = [select.operand(op.inputs[0]), TensorArg(op.outputs[0]), select.scratch(kernel, fields)]
    return [select.call(kernel, fields, args)]
