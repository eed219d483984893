# SPDX-License-Identifier: Apache-2.0
"""Which operators to compute in bands of rows.

Bands cost calls and moves of rows. They are taken as far as these cost less than the bytes by which the
arena becomes smaller: much with ``size``, which takes those of LARGE_GAIN first, nothing with ``speed``.
Given a RAM limit, the bands that cost least of those found with which it is met (but for ``size``, which
goes as far as it can); if no bands meet it, kernels with less scratch are taken, too (room.py).

Matrices (matrix_bands.py) are computed in bands where a limit asks for it alone.

Chains are chosen greedily: of those with the operators that need most memory at one time the one with
which the arena is the smallest, then its bands as high as the arena allows. All figures of cost are
rough; they choose between plans of equal results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...target import Optimize
from ..choose.kernels import PRICES
from .bands import Chain, is_chain
from .candidates import Candidates
from .matrix_bands import band_height, is_matrix_chain

LARGE_GAIN = 0.1
LONGEST = 4  # operators of a chain
MOST_CHAINS = 12
MOST_BANDS = 512  # of a chain: the rows of taller images are not computed one by one
PATIENCE = 6
TRIES = 3  # of the chains that promise the smallest arena


def choose_chains(
    candidates: Candidates, optimize: Optimize, ram_limit: int | None
) -> tuple[Chain, ...]:
    """The chains to compute in bands; those of the smallest arena found if none fits `ram_limit`."""
    chains: tuple[Chain, ...] = ()
    per_byte = PRICES[optimize].ram
    if optimize is Optimize.BALANCED:
        chains = _extend(candidates, chains, _Aim(per_byte))
    elif optimize is Optimize.SIZE:
        for gain in (LARGE_GAIN, 0.0):  # small ones first take longer, and lead astray
            chains = _extend(candidates, chains, _Aim(per_byte, gain))
    if ram_limit is not None and not candidates.is_within(chains, ram_limit):
        aim = _Aim(PRICES[Optimize.SIZE].ram, enough=ram_limit, matrices=True)
        chains = _extend(candidates, chains, aim)
    return _needed(candidates, chains, candidates.smallest(chains)) if chains else ()


def fastest_chains(candidates: Candidates, optimize: Optimize, ram_limit: int) -> tuple[Chain, ...]:
    """The chains that cost least of those found with which the arena fits `ram_limit`; without any
    those of the smallest arena."""
    found = choose_chains(candidates, optimize, ram_limit)
    if optimize is Optimize.SIZE or not candidates.is_within(found, ram_limit):
        return found
    aim = _Aim(PRICES[Optimize.SIZE].ram, enough=ram_limit, matrices=True)
    direct = _extend(candidates, (), aim)
    options = (found, direct, choose_chains(candidates, Optimize.SIZE, None))
    within = [chains for chains in options if candidates.is_within(chains, ram_limit)]
    return min((_relax(candidates, chains, ram_limit) for chains in within), key=candidates.cost)


def _relax(candidates: Candidates, chains: tuple[Chain, ...], ram_limit: int) -> tuple[Chain, ...]:
    """As few of `chains` as the limit allows, the cheapest ones, in the cheapest bands that it allows."""
    chains = _needed(candidates, chains, ram_limit)
    for position, chain in enumerate(chains):
        options = [_with_rows(chains, position, rows) for rows in _heights(candidates, chain)]
        for option in sorted(options, key=candidates.cost):
            if candidates.cost(option) >= candidates.cost(chains) or (
                candidates.seems_within(option, ram_limit)
                and candidates.is_within(option, ram_limit)
            ):
                chains = min(chains, option, key=candidates.cost)
                break
    return chains


def _needed(candidates: Candidates, chains: tuple[Chain, ...], nbytes: int) -> tuple[Chain, ...]:
    """Those of `chains` without which the arena is larger than `nbytes`; the dearest go first."""
    for chain in sorted(chains, key=lambda chain: -candidates.cost((chain,))):
        fewer = tuple(other for other in chains if other != chain)
        if candidates.is_within(fewer, nbytes):
            chains = fewer
    return chains


@dataclass(frozen=True)
class _Aim:
    """What chains are for.

    Attributes:
        per_byte: instructions that a byte of the arena costs.
        gain: the part of the arena that each chain must bring at least.
        enough: the size that is small enough.
        matrices: whether matrices may be computed in bands, too.
    """

    per_byte: float
    gain: float = 0.0
    enough: int = 0
    matrices: bool = False

    def cost(self, candidates: Candidates, chains: tuple[Chain, ...]) -> float:
        """Instructions that chains add, and what the arena costs."""
        return candidates.cost(chains) + self.per_byte * max(candidates.size(chains), self.enough)


def _extend(candidates: Candidates, chains: tuple[Chain, ...], aim: _Aim) -> tuple[Chain, ...]:
    """Adds chains as long as they bring what they must. Where several steps need most, only chains
    for all of them together bring something, so up to PATIENCE may come before they do."""
    size = candidates.size(chains)
    pending, waiting = chains, 0
    while size > aim.enough and len(pending) < MOST_CHAINS:
        options = sorted(
            (candidates.load(option), number, option)
            for number, option in enumerate(_with_one_more(candidates, pending, aim.matrices))
        )
        found = []
        most = size * (1 - aim.gain)
        for _, number, option in options[:TRIES]:
            if not candidates.seems_within(option, math.floor(most)):
                continue  # with higher bands it is no smaller
            option = _cheapen(candidates, _widen(candidates, option, aim.enough), aim)
            cost = aim.cost(candidates, option)
            if candidates.size(option) <= most and cost < aim.cost(candidates, chains):
                found.append((cost, number, option))
        if found:
            _, _, chains = min(found)
            pending = chains
            size, waiting = candidates.size(chains), 0
        elif options and waiting < PATIENCE and options[0][0] < candidates.load(pending):
            pending, waiting = options[0][2], waiting + 1
        else:
            break
    return chains


def _with_one_more(
    candidates: Candidates, chains: tuple[Chain, ...], matrices: bool
) -> Iterator[tuple[Chain, ...]]:
    """`chains` with one more that takes part in the busiest step; it replaces those it touches."""
    ops = candidates.graph.ops
    places = {op.outputs: number for number, op in enumerate(ops)}
    busy = [places[op.outputs] for op in candidates.busiest(chains).ops]
    found = [
        (first, last)
        for first in range(max(0, busy[0] - LONGEST + 1), busy[-1] + 1)
        for last in range(max(first + 1, busy[0]), min(first + LONGEST, len(ops)))
        if is_chain(candidates.graph, candidates.calls, first, last)
    ]
    found += [
        (first, last)
        for first, last in (candidates.matrix_chains if matrices else ())
        if first <= busy[-1] and last >= busy[0]
    ]
    for first, last in found:
        kept = tuple(c for c in chains if c.last < first or c.first > last)
        lowest = -(-_height(candidates, Chain(first, last, 1)) // MOST_BANDS)
        option = tuple(sorted((*kept, Chain(first, last, lowest)), key=lambda c: c.first))
        if option != chains:
            yield option


def _heights(candidates: Candidates, chain: Chain) -> list[int]:
    """Rows a band that divide the last result in 2, 3, … bands, and those of the chain itself; of
    several matrices one, too."""
    height = _height(candidates, chain)
    most, fewest = min(height, MOST_BANDS), 2
    if is_matrix_chain(candidates.graph, chain):
        fewest -= candidates.graph.tensors[_result(candidates, chain)].shape[0] > 1
    return sorted({-(-height // bands) for bands in range(fewest, most + 1)} | {chain.rows})


def _height(candidates: Candidates, chain: Chain) -> int:
    """Rows of the result, of several matrices of one."""
    if is_matrix_chain(candidates.graph, chain):
        return band_height(candidates.graph, chain)
    return candidates.graph.tensors[_result(candidates, chain)].shape[2]


def _result(candidates: Candidates, chain: Chain) -> int:
    return candidates.graph.ops[chain.last].outputs[0]


def _with_rows(chains: tuple[Chain, ...], position: int, rows: int) -> tuple[Chain, ...]:
    chain = replace(chains[position], rows=rows)
    return (*chains[:position], chain, *chains[position + 1 :])


def _widen(candidates: Candidates, chains: tuple[Chain, ...], enough: int) -> tuple[Chain, ...]:
    """Higher bands as far as the arena stays as small, or below `enough`."""
    target = max(candidates.size(chains), enough)
    for position, chain in enumerate(chains):
        heights = _heights(candidates, chain)
        low, high = heights.index(chain.rows), len(heights)
        while high - low > 1:
            middle = (low + high) // 2
            if candidates.seems_within(_with_rows(chains, position, heights[middle]), target):
                low = middle
            else:
                high = middle
        chains = _with_rows(chains, position, heights[low])
    return chains


def _cheapen(candidates: Candidates, chains: tuple[Chain, ...], aim: _Aim) -> tuple[Chain, ...]:
    """Higher bands, as long as they save more than the arena grows."""
    for position, chain in enumerate(chains):
        for rows in _heights(candidates, chain):
            if rows > chain.rows:
                option = _with_rows(chains, position, rows)
                if aim.cost(candidates, option) >= aim.cost(candidates, chains):
                    break
                chains = option
    return chains
