# SPDX-License-Identifier: Apache-2.0
"""Copies in vectors: their lanes move what the box does that a plan keeps beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import CortexMError
from ..types import Plan, Step

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
    inside = box[len(outer) :]
    while len(inside) > 1 and inside[0][0] == 1:  # a single run, or row
        inside = inside[1:]
    return _moves(f, size, inside)


def _moves(f: Mapping[str, Any], size: int, inside: list[tuple[int, int, int]]) -> bool:
    """Whether a run moves these dimensions: a row, or rows and a row. What vectors of several rows read
    beyond their last whole row belongs to the next one, which the next vector reads again."""
    if not 1 <= len(inside) <= 2:
        return False
    n, *steps = inside[-1]
    rows, *row_steps = inside[0] if len(inside) == 2 else (1, 0, 0)
    if f["way"] == _IN_ONE_PIECE:
        are_neighbours = steps == [size, size] and (rows == 1 or row_steps == [n * size, n * size])
        return bool(are_neighbours and f["count"] == rows * n)
    if f["way"] == _ONE_BY_ONE:
        return bool(rows == 1 and f["count"] == n and steps == [f["in_step"], f["out_step"]])
    lanes, *are_read = _WAYS[f["way"]]
    whole = lanes // n if rows > 1 else 0  # rows of a vector
    if rows > 1 and whole == 0:
        return False
    vectors = -(-rows // whole) if rows > 1 else 1
    count = (vectors - 1) * lanes + (rows - (vectors - 1) * whole) * n
    lane = np.arange(min(lanes, rows * n))
    row, column = np.divmod(lane, n)
    for side, is_read, step, by in zip(("in", "out"), are_read, steps, row_steps, strict=True):
        table = np.arange(lanes)
        if is_read:
            table = np.array(f[f"{side}_lanes"], np.uint8).view("u1" if lanes == 16 else "<u2")
        places = size * table[lane].astype(np.int64)
        further = whole * by if rows > 1 else lanes * step
        if f[f"{side}_step"] != further or not np.array_equal(places, row * by + column * step):
            return False
    return bool(f["count"] == count)
