# SPDX-License-Identifier: Apache-2.0
"""How much work a plan may cost on the host, whatever shapes a program states.

What every element or pixel takes part in (the proof that overlaps and joins lose nothing) is done for as
many results as the budget has room for, the smallest first; the others lie apart, or are copied. No
network that fits a microcontroller reaches it. Tables that a program asks for by a shape alone, tensors
that 32 bits cannot address, and more tensors at one time than can be compared with each other are refused
with the layer's name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from ..errors import CortexMError
from ..ir import Graph, Layer, Op
from .types import Call

MOST_PLACES = 1 << 22  # pixels or elements of operands and results that overlap
MOST_JOINED = 1 << 23  # bytes of results whose operands are computed in place
MOST_ROWS = (
    1 << 20
)  # that the windows of an operator in bands read, each row as often as it is read
MOST_TABLE = 1 << 22  # elements of a table that is made from shapes or indices
MOST_PAIRS = 1 << 21  # of tensors that live at one time, as about 2,000 of one step do
LARGEST = (1 << 31) - 1  # bytes of a tensor, and of an arena


def within(sizes: Mapping[int, int], budget: int) -> frozenset[int]:
    """The keys of the smallest sizes, as many as together stay within the budget."""
    kept, total = set(), 0
    for key in sorted(sizes, key=lambda key: (sizes[key], key)):
        total += sizes[key]
        if total > budget:
            break
        kept.add(key)
    return frozenset(kept)


def places(calls: Sequence[Call]) -> int:
    """Pixels or elements that the calls of an operator read and write, where they may overlap."""
    total = 0
    for call in calls:
        order, *numbers = call.kernel.order.split(":")
        fields = call.int_fields
        if order in ("pixels", "planes"):
            pixels = fields["in_h"] * fields["in_w"] + 2 * fields["out_h"] * fields["out_w"]
            channels = fields.get("out_c", fields.get("channels", 4))
            total += (
                call.turns * pixels * (-(-channels // int(numbers[0])) if order == "planes" else 1)
            )
        elif order == "elements":
            total += call.turns * 2 * fields["count"]
    return total


def check_sizes(graph: Graph) -> None:
    """Raises a CortexMError that names the layer if a tensor is too large for 32-bit addresses."""
    maker = {index: op for op in graph.ops for index in op.outputs}
    for index, tensor in enumerate(graph.tensors):
        if tensor.nbytes > LARGEST:
            op = maker.get(index)
            raise CortexMError(
                f"{op.kind + ': ' if op else ''}tensor {tensor.name!r} {tensor.shape} has "
                f"{tensor.nbytes:,} bytes, at most {LARGEST:,} can be addressed",
                where=str(op.layer) if op else graph.name,
            )


def check_alive(graph: Graph, group: Mapping[int, int]) -> None:
    """Raises a CortexMError that names the busiest layer if too many tensors live at one time.

    Args:
        group: for every tensor with memory the one whose memory it uses.
    """
    end = len(graph.ops)
    used = [(step, i) for step, op in enumerate(graph.ops) for i in (*op.inputs, *op.outputs)]
    used = [*((0, i) for i in graph.given), *used, *((end, i) for i in graph.kept)]
    last = {group[i]: step for step, i in used if i in group}
    first = {group[i]: step for step, i in reversed(used) if i in group}
    begins, ends = Counter(first.values()), Counter(last.values())
    alive = pairs = most = busiest = 0
    for step in range(end + 1):
        pairs += begins[step] * alive + math.comb(begins[step], 2)
        alive += begins[step]
        if alive > most:
            most, busiest = alive, step
        alive -= ends[step]
    if pairs > MOST_PAIRS:
        layer = graph.ops[busiest].layer if busiest < end else Layer()
        raise CortexMError(
            f"{most:,} tensors need places beside each other; of the {pairs:,} pairs of tensors that live "
            f"at one time at most {MOST_PAIRS:,} are looked at",
            where=str(layer) if layer.path or layer.source else graph.name,
            hint="join them, as in one input or output with one more dimension",
        )


def check_arena(graph: Graph, nbytes: int, busiest: Sequence[Op]) -> None:
    """Raises a CortexMError that names the layers that need most if an arena is too large for 32-bit
    addresses."""
    if nbytes > LARGEST:
        names = ", ".join(f"{op.kind} of {op.layer}" for op in busiest)
        raise CortexMError(
            f"the arena would have {nbytes:,} bytes, at most {LARGEST:,} can be addressed; {names} "
            "needs most",
            where=graph.name,
        )


def check_table(op: Op, shape: Sequence[int], what: str) -> None:
    """Raises a CortexMError that names the layer if a table in flash would have too many elements."""
    if math.prod(shape) > MOST_TABLE:
        raise CortexMError(
            f"{op.kind}: {what} would have {math.prod(shape):,} elements, at most {MOST_TABLE:,} are "
            "put into flash",
            where=str(op.layer),
        )
