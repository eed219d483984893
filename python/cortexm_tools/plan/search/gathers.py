# SPDX-License-Identifier: Apache-2.0
"""Whether the convolutions of a network take conv2d_gathered and conv2d_direct, for which
plan/lower/conv_forms.py names those that they make faster.

They share its code. So what they save together has to be worth the flash that it takes, or none of them
does. Where some do without, as its scratch has no room, that is asked again of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import Graph
from ..kernels import gathered, gemm
from ..kernels.table import code_sizes
from ..lower.context import Lowered, Lowerings
from ..types import Call
from .cost import instructions_by_kernel
from .whole import Spare, WholeCalls

_PER_BYTE = 2  # instructions that each must save
# A kernel's share of the network's flash may be so many times what it saves of the instructions.
_MOST_GROWTH = 4.4
_LINEAR = 0.4  # of what conv2d takes for a small linear layer that a kernel of its own takes more


def copying(whole: WholeCalls) -> Spare:
    """The convolutions that take one of them, as what they would do without."""
    return frozenset(
        (op.outputs[0], symbol)
        for op in whole.graph.ops
        for call in whole.lowered(op).calls
        if call.kernel.symbol in gathered.SYMBOLS
        for symbol in gathered.SYMBOLS
    )


def not_worth_their_code(graph: Graph, lowerings: Lowerings) -> frozenset[str]:
    """Those of them that no convolution takes. Without one its layers may take another."""
    avoid: frozenset[str] = frozenset()
    while True:
        whole = WholeCalls(graph, lowerings, avoid)
        left = [symbol for symbol in gathered.SYMBOLS if symbol not in avoid]
        useless = next((each for each in left if not is_worth_its_code(whole, each)), None)
        if useless is None:
            return avoid
        avoid |= {useless}


def is_worth_its_code(whole: WholeCalls, symbol: str) -> bool:
    """Whether the convolutions that take a kernel save enough together; true where none does."""
    ways = [(whole.lowered(op), whole.lowered(op, {symbol})) for op in whole.graph.ops]
    changed = [
        (own, other)
        for own, other in ways
        if any(call.kernel.symbol == symbol for call in own.calls)
    ]
    if not changed:
        return True
    saved = sum(
        sum(map(_instructions, other.calls)) - sum(map(_instructions, own.calls))
        for own, other in changed
    )
    saved -= _LINEAR * sum(
        sum(map(_instructions, other.calls)) for own, other in ways if _is_convolved(own, other)
    )
    constants = sum(_constants(own) - _constants(other) for own, other in changed)
    before = [other for _, other in ways]
    code = _code([own for own, _ in ways]) - _code(before)
    if saved < _PER_BYTE * (code + constants):
        return False
    flash = _code(before) + sum(map(_constants, before))
    total = instructions_by_kernel(call for other in before for call in other.calls)
    return (code + constants) / flash <= _MOST_GROWTH * saved / total


def _instructions(call: Call) -> float:
    if call.kernel.serves != "conv2d":  # a copy behind one
        return instructions_by_kernel([call])
    if call.kernel.symbol in gathered.SYMBOLS:
        return call.turns * gathered.instructions(call.kernel.symbol, call.int_fields)
    return call.turns * gemm.instructions(call.int_fields, wide=False)


def _is_convolved(own: Lowered, other: Lowered) -> bool:
    """Whether it is a linear layer that would take conv2d, if that were in the image."""
    kinds = [{call.kernel.serves for call in each.calls} for each in (own, other)]
    return kinds == [{"linear"}, {"conv2d"}]


def _constants(lowered: Lowered) -> int:
    return sum(source.nbytes for source in lowered.sources.values())


def _code(lowered: Sequence[Lowered]) -> int:
    used = {call.kernel.symbol for each in lowered for call in each.calls}
    return sum(code_sizes().get(symbol, 0) for symbol in used)
