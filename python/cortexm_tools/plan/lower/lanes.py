# SPDX-License-Identifier: Apache-2.0
"""How MVE copies a box: in vectors, whose lanes are a piece of a row or the elements of several short rows.

The kernel takes what is found here (copy_lanes), and has nothing to find out. A plan keeps the box as well,
from which `check` proves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from ..types import Call, Field

# Dimensions: extent, stride in the operand and stride in the result.
Box = list[tuple[int, int, int]]

PARAMS = "cortexm_copy_lanes_t"


class Way(IntEnum):
    """CORTEXM_LANES_… of params.h."""

    IN_ONE_PIECE = 0
    GATHERED = 1
    SCATTERED = 2
    GATHERED_BY_EIGHTS = 3
    SCATTERED_BY_EIGHTS = 4
    ONE_BY_ONE = 5


_SCATTERED = (Way.SCATTERED, Way.SCATTERED_BY_EIGHTS)


@dataclass(frozen=True)
class Vectors:
    """What a kernel makes of a box; strides are in elements.

    Attributes:
        count: elements of a run. Where several rows are a vector some are copied twice: what it reads beyond
            its last whole row the next one reads again.
        steps: from vector to vector, in the operand and in the result.
        lanes: the elements before each lane of a vector, in both.
        runs: how many there are, and their strides.
        outer: the dimensions around them.
    """

    way: Way
    count: int
    steps: tuple[int, ...] = (0, 0)
    lanes: tuple[tuple[int, ...], ...] = ((), ())
    runs: tuple[int, int, int] = (1, 0, 0)
    outer: Sequence[tuple[int, int, int]] = ()


def vectors_of(box: Box, size: int) -> Vectors:
    """Of a box of elements of `size` bytes, whose last dimension is a row, and the one before it rows."""
    n, *steps = box[-1]
    around = box[:-1] or [(1, 0, 0)]
    rows, *row_steps = around[-1]
    if any(extent == 0 for extent, _, _ in box):
        return Vectors(Way.IN_ONE_PIECE, 0)
    # Several rows a vector if that can be, then pieces of one.
    for several in (True, False):
        for lanes in (16, 8) if size == 1 else (8,):
            if several and not (rows > 1 and 1 < n < lanes):
                continue
            further = (lanes - 1) // n if several else 0
            strides = [*steps, *(row_steps if several else ())]
            pairs = list(zip(row_steps, steps, strict=True))
            reach = [further * row + (min(n, lanes) - 1) * step for row, step in pairs]
            if min(strides) < 0 or max(reach) >= 256 ** (16 // lanes):
                continue
            in_piece = [step == 1 and (row == n or not several) for row, step in pairs]
            made = Vectors(
                _way(in_piece, lanes),
                n,
                tuple(lanes * step for step in steps),
                tuple(_lanes(lanes, n if several else lanes, *pair) for pair in pairs),
                around[-1],
                around[:-1],
            )
            if not several:
                return made
            whole = n * rows if made.way is Way.IN_ONE_PIECE else lanes // n
            before = (rows - 1) // whole
            *outer, runs = around[:-1] or [(1, 0, 0)]
            return replace(
                made,
                count=before * lanes + (rows - before * whole) * n,
                steps=tuple(whole * row for row in row_steps),
                runs=runs,
                outer=outer,
            )
    return Vectors(Way.ONE_BY_ONE, n, tuple(steps), runs=around[-1], outer=around[:-1])


def _way(in_piece: Sequence[bool], lanes: int) -> Way:
    """Of vectors whose lanes lie side by side, or not, in the operand and in the result."""
    if not in_piece[1]:
        return Way.SCATTERED if lanes == 16 else Way.SCATTERED_BY_EIGHTS
    if not in_piece[0]:
        return Way.GATHERED if lanes == 16 else Way.GATHERED_BY_EIGHTS
    return Way.IN_ONE_PIECE


def _lanes(count: int, n: int, row: int, step: int) -> tuple[int, ...]:
    """The elements before each lane, where a row has n of them."""
    return tuple(lane // n * row + lane % n * step for lane in range(count))


def with_lanes(call: Call) -> Call:
    """A copy with what its kernel wants to know, if that is MVE's; any other call as it is."""
    if call.kernel.params != PARAMS:
        return call
    fields = dict(call.fields)
    box = [fields[name] for name in ("dims", "in_stride", "out_stride")]
    made = lane_fields(list(zip(*box, strict=True)), call.kernel.unit)
    return replace(call, fields=(*call.fields, *made.items()))


def lane_fields(box: Box, size: int) -> dict[str, Field]:
    """The fields of the kernel's block, without tables that are not read."""
    found = vectors_of(box, size)
    (a, b), (runs, run_a, run_b) = found.steps, found.runs
    extents, outer_a, outer_b = zip(*found.outer, strict=True) if found.outer else ((), (), ())
    in_lanes, out_lanes = found.lanes
    fields: dict[str, Field] = {
        "way": int(found.way),
        "count": found.count,
        "in_step": a * size,
        "out_step": b * size,
        "runs": runs,
        "in_run": run_a * size,
        "out_run": run_b * size,
        "outer_rank": len(found.outer),
        "outer_dims": extents,
        "in_outer": tuple(step * size for step in outer_a),
        "out_outer": tuple(step * size for step in outer_b),
        "in_lanes": _bytes_of(in_lanes if found.way is not Way.IN_ONE_PIECE else ()),
        "out_lanes": _bytes_of(out_lanes if found.way in _SCATTERED else ()),
    }
    return {name: value for name, value in fields.items() if value != ()}


def _bytes_of(lanes: Sequence[int]) -> tuple[int, ...]:
    """As sixteen bytes, or eight halfwords; lanes that no run has are cut to that."""
    kind = np.dtype("<u2") if len(lanes) == 8 else np.dtype("u1")
    return tuple(np.array(lanes, np.int64).astype(kind).view(np.uint8).tolist())
