# SPDX-License-Identifier: Apache-2.0
"""Copies in vectors: their lanes move what the box does that a plan keeps beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import CortexMError
from ..types import Plan, Step

_Places = NDArray[np.int64]

# By CORTEXM_LANES_… of params.h: the lanes of a vector, and which tables say where these are, that of the
# operand and that of the result.
_WAYS = {1: (16, True, False), 2: (16, True, True), 3: (8, True, False), 4: (8, True, True)}
_IN_ONE_PIECE, _ONE_BY_ONE = 0, 5


def check_lanes(plan: Plan, step: Step) -> None:
    for call in step.calls:
        if call.kernel.op == "copy_lanes":
            if not _is_its_box(dict(call.fields), call.kernel.unit):
                message = f"{step.op.kind}: the lanes of a copy are not its box"
                raise CortexMError(message, where=str(step.op.layer))


def _is_its_box(f: Mapping[str, Any], size: int) -> bool:
    """Whether the dimensions around a run are the first ones of the box, and the run moves the others."""
    box = list(zip(f["dims"], f["in_stride"], f["out_stride"], strict=True))
    if 0 in f["dims"]:
        return bool(f["count"] == 0)
    box = [(extent, size * a, size * b) for extent, a, b in box]
    outer = list(zip(*(f.get(n, ()) for n in ("outer_dims", "in_outer", "out_outer")), strict=True))
    if f["runs"] != 1:
        outer.append((f["runs"], f["in_run"], f["out_run"]))
    if len(outer) - (f["runs"] != 1) != f["outer_rank"] or box[: len(outer)] != outer:
        return False
    inside = [np.zeros(1, np.int64)] * 2
    for extent, *steps in box[len(outer) :]:
        inside = [
            np.add.outer(place, step * np.arange(extent)).reshape(-1)
            for place, step in zip(inside, steps, strict=True)
        ]
    return np.array_equal(_pairs(*inside), _pairs(*_run(f, size)))


def _run(f: Mapping[str, Any], size: int) -> tuple[_Places, _Places]:
    """The bytes that a run reads and writes, the first one of each element."""
    number = np.arange(f["count"])
    if f["way"] == _IN_ONE_PIECE:
        return number * size, number * size
    if f["way"] == _ONE_BY_ONE:
        return number * f["in_step"], number * f["out_step"]
    lanes, *are_read = _WAYS[f["way"]]
    vector, lane = np.divmod(number, lanes)
    found = []
    for side, is_read in zip(("in", "out"), are_read, strict=True):
        table = np.arange(lanes)
        if is_read:
            table = np.array(f[f"{side}_lanes"], np.uint8).view("u1" if lanes == 16 else "<u2")
        found.append(vector * f[f"{side}_step"] + size * table[lane].astype(np.int64))
    return found[0], found[1]


def _pairs(read: _Places, written: _Places) -> _Places:
    pairs: _Places = np.unique(read * 2**32 + written)
    return pairs
