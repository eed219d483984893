# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE size: the kernel variants that give the least flash, code and constants together.

Variants of one kernel differ in code and in how they pack the weights, and a second variant beside
the first costs its code once more. Which variants an operator's layers use concerns no other
operator, so all sets of variants that one operator's layers come to can be tried. From a set they come to
another by doing without a kernel that one of them takes: of what none takes nobody needs to do without.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import CortexMError
from ...ir import Op
from ..kernels.table import code_sizes, variants
from ..lower.context import Lowerings
from ..lower.conv_costs import FLOAT_PHASES, NEIGHBOURS, ROW_PHASES
from ..lower.weights import FILLED
from .whole import WholeCalls

# Bytes that a slower set of variants must save.
_LEAST_GAIN = 512


MORE_CONSTANTS = frozenset({FILLED, FLOAT_PHASES, NEIGHBOURS, ROW_PHASES})
"""What takes constants for speed: not to be taken either."""


def larger_kernels(lowerings: Lowerings, fastest: WholeCalls) -> frozenset[str]:
    """The kernels not to take, by symbol, for the least flash, and MORE_CONSTANTS.

    Args:
        fastest: the calls without MORE_CONSTANTS, else without regard to flash.
    """
    avoid = set(MORE_CONSTANTS)
    sizes = code_sizes()
    layers: dict[tuple[str, str], list[tuple[Op, str]]] = {}
    for op, calls in zip(fastest.graph.ops, fastest.calls, strict=True):
        for kernel in {call.kernel for call in calls if call.kernel.symbol in sizes}:
            of_op = layers.setdefault((kernel.serves, kernel.types.removesuffix("w4")), [])
            of_op.append((op, kernel.types))
    for (name, types), used in layers.items():
        ops = [op for op, _ in used]
        serving = sorted({types, *(own for _, own in used)}, reverse=True)
        places = {
            kernel.symbol: place
            for place, kernel in enumerate(
                kernel for each in serving for kernel in variants(name, each, lowerings.target)
            )
        }
        if len(places) > 1:
            avoid |= _least(lowerings, ops, places)
    return frozenset(avoid)


def _least(lowerings: Lowerings, ops: Sequence[Op], places: Mapping[str, int]) -> frozenset[str]:
    """What to leave out of the variants for some layers.

    Args:
        places: of the variants' symbols, the fastest first.
    """
    best: int | None = None
    choice: frozenset[str] = frozenset()
    taken: dict[frozenset[str], frozenset[str]] = {}  # kernels, by what is left out
    sets = {choice}
    while sets:
        more: set[frozenset[str]] = set()
        for without in sorted(sets, key=lambda each: sorted(places[symbol] for symbol in each)):
            fewer = (without - {symbol} for symbol in without)
            alike = next((w for w in fewer if w in taken and not taken[w] & without), None)
            if alike is not None:
                taken[without] = taken[alike]  # what is left out besides is not taken anyway
            else:
                found = _flash(lowerings, ops, without | MORE_CONSTANTS)
                if found is None:
                    continue
                flash, taken[without] = found
                if best is None or flash + _LEAST_GAIN <= best:
                    best, choice = flash, without
            more |= {without | {symbol} for symbol in taken[without] & places.keys()}
        sets = more
    return choice


def _flash(
    lowerings: Lowerings, ops: Sequence[Op], without: frozenset[str]
) -> tuple[int, frozenset[str]] | None:
    """Bytes of code and constants of some layers, and their kernels; None if one of them has no other
    kernel."""
    try:
        lowered = [lowerings.lower(op, without) for op in ops]
    except CortexMError:
        return None
    used = frozenset(call.kernel.symbol for each in lowered for call in each.calls)
    code = sum(code_sizes().get(symbol, 0) for symbol in used)
    stored = {source.content: source.nbytes for each in lowered for source in each.sources.values()}
    return code + sum(stored.values()), used
