# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE size: the kernel variants that give the least flash, code and constants together.

Variants of one kernel differ in code and in how they pack the weights, and a second variant beside
the first costs its code once more. Which variants an operator's layers use concerns no other
operator, so all sets of variants of one operator can be tried: there are at most eight, or where some
weights fit into 4 bits, which the kernels for int8 read too, a few dozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from ...errors import CortexMError
from ...ir import Op
from ..kernels.table import Kernel, code_sizes, variants
from ..lower.context import Lowerings
from ..lower.neighbours import NEIGHBOURS
from ..lower.transposed import FLOAT_PHASES, ROW_PHASES
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
        alternatives = [k for each in serving for k in variants(name, each, lowerings.target)]
        if len(alternatives) == 1:
            continue
        best: int | None = None
        choice: frozenset[str] = frozenset()
        taken: dict[frozenset[str], frozenset[str]] = {}  # kernels, by what is left out
        for without in _subsets(alternatives):
            fewer = (without - {symbol} for symbol in without)
            alike = next((w for w in fewer if w in taken and not taken[w] & without), None)
            if alike is not None:
                taken[without] = taken[alike]
                continue  # what is left out besides is not taken anyway
            found = _flash(lowerings, ops, without | MORE_CONSTANTS)
            if found is None:
                continue
            flash, taken[without] = found
            if best is None or flash + _LEAST_GAIN <= best:
                best, choice = flash, without
        avoid |= choice
    return frozenset(avoid)


def _subsets(alternatives: Sequence[Kernel]) -> Iterator[frozenset[str]]:
    """What to leave out: first nothing, and not everything."""
    for count in range(len(alternatives)):
        for chosen in combinations(alternatives, count):
            yield frozenset(kernel.symbol for kernel in chosen)


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
