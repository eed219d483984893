# SPDX-License-Identifier: Apache-2.0
"""Whether the convolutions of a network take conv2d_gathered, for which plan/lower/conv.py names those that
it makes faster.

They share its code. So what they save together has to be worth the flash that it takes, or none of them
does. Where some do without, as its scratch has no room, that is asked again of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import Op
from ..kernels import gathered
from ..kernels.table import code_sizes
from ..lower.context import Lowered
from ..lower.neighbours import instructions_mve
from .whole import Spare, WholeCalls

_PER_BYTE = 2  # instructions that each must save


def gathering(whole: WholeCalls) -> Spare:
    """The convolutions that take it, as what they would do without."""
    return frozenset(
        (op.outputs[0], gathered.SYMBOL)
        for op in whole.graph.ops
        for call in whole.lowered(op).calls
        if call.kernel.symbol == gathered.SYMBOL
    )


def is_worth_its_code(whole: WholeCalls, gathering: Spare) -> bool:
    """Whether the convolutions that take it save enough together."""

    def without(op: Op) -> Lowered:
        is_one = (op.outputs[0], gathered.SYMBOL) in gathering
        return whole.lowered(op, {gathered.SYMBOL} if is_one else frozenset())

    ways = [(whole.lowered(op), without(op)) for op in whole.graph.ops]
    changed = [(own, other) for own, other in ways if own is not other]
    saved = sum(
        sum(call.turns * instructions_mve(call.int_fields, wide=False) for call in other.calls)
        - sum(call.turns * gathered.instructions(call.int_fields) for call in own.calls)
        for own, other in changed
    )
    constants = sum(_constants(own) - _constants(other) for own, other in changed)
    code = _code([own for own, _ in ways]) - _code([other for _, other in ways])
    return saved >= _PER_BYTE * (code + constants)


def _constants(lowered: Lowered) -> int:
    return sum(source.nbytes for source in lowered.sources.values())


def _code(lowered: Sequence[Lowered]) -> int:
    used = {call.kernel.symbol for each in lowered for call in each.calls}
    return sum(code_sizes().get(symbol, 0) for symbol in used)
