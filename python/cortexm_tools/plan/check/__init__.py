# SPDX-License-Identifier: Apache-2.0
"""`check_plan`: proves on the finished plan what the kernels and the device rely on.

Lifetimes are recomputed here from the calls alone, not taken from the planner.
"""

from __future__ import annotations

from math import gcd

from ...errors import CortexMError
from ..types import ConstantArg, Plan, ScratchArg, Step, TensorArg
from .affine import check_affine
from .bands import check_bands
from .concat import check_interleaved, check_joins
from .contracts import check_contracts
from .gates import check_gates
from .in_place import check_views, overwrites_in_place
from .lanes import check_lanes
from .linear_map import check_linear_map
from .matrix_bands import check_matrix_bands, is_in_matrix_bands
from .overlap import overwrites_unread
from .states import check_states
from .sums import check_columns, check_four_bits, check_sums
from .tables import check_tables


def check_plan(plan: Plan) -> Plan:
    """Returns `plan` if every tensor lies aligned inside the arena and every argument exists, and if no
    two tensors that are live at one step share a byte, unless one is the other's view or written over
    it element by element (in_place.py), or the result of a step that writes each shared byte after
    its last reader (overlap.py).
    Where only bands of a tensor exist, every reader finds the rows that it needs (bands.py, and of
    matrices matrix_bands.py).
    What lies in the result of a concatenation is where it belongs, and a kernel that takes elements in turn
    takes those of its operands (concat.py). States have memory
    of their own, and their old values are read before the new ones are written (states.py).
    Calls are such as their kernels require, and have the scratch that these need (contracts.py). Sums of
    int16 layers fit in the bits of their kernels (sums.py). Tables of embeddings have each code
    where the kernel reads it (tables.py). Gates read the parts of their operands that they should
    (gates.py). Additions by a function of the codes give those of the model (affine.py). Convolutions in
    another form than the model's have its products (linear_map.py). Copies in vectors move the elements of
    their box (lanes.py).

    Raises:
        CortexMError: names the step or tensor that breaks a rule. It is a bug in the planner.
    """
    names = [constant.name for constant in plan.constants]
    if len(set(names)) != len(names):
        raise CortexMError("two constants have one name", where=plan.graph.name)
    ends = [0, *(arena.base + arena.size for arena in plan.arenas)]
    if [*(arena.base for arena in plan.arenas), plan.arena_size] != ends:
        raise CortexMError("the regions' arenas do not follow each other", where=plan.graph.name)
    for arena in plan.arenas:
        if arena.size > arena.region.size:
            raise CortexMError("is larger than its region", where=arena.region.name)
    for buffer in plan.buffers:
        arena = plan.arenas[buffer.region]
        if not arena.base <= buffer.offset <= arena.base + arena.size - buffer.nbytes:
            raise CortexMError("lies outside the arena", where=buffer.name)
        # Of a region's memory; a distance that it has to keep to others there may be of any number.
        if (buffer.offset - arena.base) % buffer.align or buffer.offset % gcd(buffer.align, 16):
            raise CortexMError(f"is not aligned to {buffer.align} bytes", where=buffer.name)
    for index in (*plan.graph.inputs, *plan.graph.outputs):
        if index in plan.buffer_of and plan.buffers[plan.buffer_of[index]].region != 0:
            raise CortexMError("is not in the main arena", where=plan.graph.tensors[index].name)
    sizes = {constant.name: constant.nbytes for constant in plan.constants}
    for number, step in enumerate(plan.steps):
        _check_args(plan, number, step, sizes)
        if is_in_matrix_bands(step):
            check_matrix_bands(plan, step)
        else:
            check_bands(plan, step)
        check_contracts(plan, step)
        check_sums(plan, step)
        check_four_bits(plan, step)
        check_columns(plan, step)
        check_lanes(plan, step)
        check_interleaved(plan, step)
        check_tables(plan, step)
        check_gates(plan, step)
        check_affine(plan, step)
        check_linear_map(plan, step)
    check_joins(plan)
    check_views(plan)
    check_states(plan)
    _check_overlaps(plan)
    return plan


def _check_args(plan: Plan, number: int, step: Step, sizes: dict[str, int]) -> None:
    for call in step.calls:
        for arg in call.args:
            if isinstance(arg, TensorArg):
                tensor = plan.graph.tensors[arg.index]
                if arg.index not in plan.buffer_of:
                    raise CortexMError(f"{tensor.name!r} has no place", where=str(step.op.layer))
                last = arg.offset + (call.turns - 1) * arg.step
                if not 0 <= min(arg.offset, last) <= max(arg.offset, last) < max(tensor.nbytes, 1):
                    raise CortexMError(f"offset outside {tensor.name!r}", where=str(step.op.layer))
            elif isinstance(arg, ConstantArg):
                if arg.name not in sizes:
                    raise CortexMError(
                        f"constant {arg.name!r} is missing", where=str(step.op.layer)
                    )
                last = arg.offset + (call.turns - 1) * arg.step
                if (
                    not 0
                    <= min(arg.offset, last)
                    <= max(arg.offset, last)
                    < max(sizes[arg.name], 1)
                ):
                    raise CortexMError(f"offset outside {arg.name!r}", where=str(step.op.layer))
            elif isinstance(arg, ScratchArg) and arg.nbytes:
                if plan.buffers[plan.scratch_of[number]].nbytes < arg.offset + arg.nbytes:
                    raise CortexMError("scratch is too small", where=str(step.op.layer))


def _check_overlaps(plan: Plan) -> None:
    graph = plan.graph
    uses: dict[int, list[int]] = {i: [-1] for i in graph.given}
    for number, step in enumerate(plan.steps):
        for index in (*step.inputs, *step.inside, *step.op.outputs):
            if not graph.tensors[index].is_constant:
                uses.setdefault(plan.holder(index), []).append(number)
    for index in graph.kept:
        if not graph.tensors[index].is_constant:
            uses[index].append(len(plan.steps))
    bands = {index for step in plan.steps for index in step.inside}
    rows = [set(step.inside) for step in plan.steps if is_in_matrix_bands(step)]
    spans = []
    for index, steps in uses.items():
        tensor = graph.tensors[index]
        start = plan.offset(index)
        nbytes = plan.buffers[plan.buffer_of[index]].nbytes if index in bands else tensor.nbytes
        spans.append((min(steps), max(steps), start, start + nbytes, index))
    for number in plan.scratch_of:
        buffer = plan.buffers[plan.scratch_of[number]]
        spans.append((number, number, buffer.offset, buffer.offset + buffer.nbytes, -1 - number))
    spans.sort()
    for i, (_, last, low, high, a) in enumerate(spans):
        for other_first, other_last, other_low, other_high, b in spans[i + 1 :]:
            if other_first > last:
                break
            if high <= other_low or other_high <= low:
                continue
            shared = a >= 0 and b >= 0 and plan.buffer_of[a] == plan.buffer_of[b]
            if shared and any(a in both and b in both for both in rows):
                continue  # a buffer of bands, of which check_matrix_bands() keeps book
            if shared and (_same_bytes(plan, a, b) or _replaces(plan, uses, a, b)):
                continue
            if a >= 0 and b >= 0 and _hand_over(plan, uses, a, b):
                continue
            raise CortexMError(
                f"steps {other_first}..{min(last, other_last)}: {_name(plan, a)} and "
                f"{_name(plan, b)} overlap in the arena",
                where=graph.name,
            )


def _hand_over(plan: Plan, uses: dict[int, list[int]], a: int, b: int) -> bool:
    """Whether one step reads the one for the last time and writes the other for the first, each shared
    byte after it was read."""
    for operand, result in ((a, b), (b, a)):
        number = max(uses[operand])
        if (
            number == min(uses[result])
            and number < len(plan.steps)
            and operand in plan.steps[number].inputs
            and result in plan.steps[number].op.outputs
        ):
            gap = plan.offset(operand) - plan.offset(result)
            return not overwrites_unread(plan.graph, plan.steps[number], operand, result, gap)
    return False


def _replaces(plan: Plan, uses: dict[int, list[int]], operand: int, result: int) -> bool:
    """Whether the step that reads the one for the last time writes the other over it."""
    number = max(uses[operand])
    if number != min(uses[result]) or not 0 <= number < len(plan.steps):
        return False
    step = plan.steps[number]
    return operand in step.inputs and overwrites_in_place(plan.graph, step, operand, result)


def _name(plan: Plan, index: int) -> str:
    return plan.graph.tensors[index].name if index >= 0 else f"scratch of step {-1 - index}"


def _same_bytes(plan: Plan, a: int, b: int) -> bool:
    """Whether one tensor is a view of the other: connected by steps without any call."""
    root: dict[int, int] = {}
    for step in plan.steps:
        if not step.calls:
            root[step.op.outputs[0]] = root.get(step.op.inputs[0], step.op.inputs[0])
    return root.get(a, a) == root.get(b, b)
