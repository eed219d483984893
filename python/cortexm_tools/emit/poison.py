# SPDX-License-Identifier: Apache-2.0
"""Dead bytes of the arena: what a test may overwrite, because nothing may need it."""

from __future__ import annotations

from ..plan import Plan
from ..plan.types import Call, ScratchArg


def dead_ranges(plan: Plan, number: int) -> list[tuple[int, int]]:
    """The parts of the arena that nothing needs any more, or not yet, after step `number`."""
    live = sorted(
        (buffer.offset, buffer.offset + buffer.nbytes)
        for buffer in plan.buffers
        if buffer.first <= number < buffer.last
    )
    gaps: list[tuple[int, int]] = []
    end = 0
    borders = [(arena.base, arena.base) for arena in plan.arenas]
    for start, stop in sorted([*live, *borders, (plan.arena_size, plan.arena_size)]):
        if start > end:
            gaps.append((end, start))
        end = max(end, stop)
    return gaps


def dead_after_call(plan: Plan, number: int, call: Call) -> list[tuple[int, int]]:
    """What one call within step `number` leaves dead: its scratch, unless that has what the next
    call needs; and, where it moved the last rows of a band to the front of their buffer, the rest
    of that buffer."""
    dead: list[tuple[int, int]] = []
    is_read = any(other.result is None for other in plan.steps[number].calls)
    if not is_read and any(isinstance(arg, ScratchArg) and arg.nbytes for arg in call.args):
        scratch = plan.buffers[plan.scratch_of[number]]
        dead.append((scratch.offset, scratch.offset + scratch.nbytes))
    if call.kernel.op == "move" and plan.steps[number].fused:
        kept = dict(call.fields)["count"]
        target = call.tensors[-1]
        band = plan.buffers[plan.buffer_of[target.index]]
        assert isinstance(kept, int) and target.offset == target.step == 0
        dead.append((band.offset + kept, band.offset + band.nbytes))
    return [(begin, end) for begin, end in dead if begin < end]
