# SPDX-License-Identifier: Apache-2.0
"""Which operators to compute in bands of rows.

Bands cost calls and moves of rows. ``balanced``, the default, takes them only as far as all of them
together cost less than TOLERANCE of the instructions and each makes the arena smaller by LEAST_GAIN at
least; ``size`` as far as the arena becomes smaller, by LARGE_GAIN first; ``speed`` not at all. Given a RAM
limit, the bands that cost least of those found with which it is met (but for ``size``, which goes as far
as it can); if no bands meet it, kernels with less scratch are taken, too (less_scratch.py).

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
from .bands import Chain, is_chain
from .candidates import Candidates
from .matrix_bands import band_height, is_matrix_chain

TOLERANCE = 0.004
LEAST_GAIN = 0.03
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
    if optimize is Optimize.BALANCED:
        allowed = candidates.instructions() * TOLERANCE
        chains = _extend(candidates, chains, _Aim(LEAST_GAIN, allowed, 0))
    elif optimize is Optimize.SIZE:
        for gain in (LARGE_GAIN, 0.0):  # small ones first take longer, and lead astray
            chains = _extend(candidates, chains, _Aim(gain, math.inf, 0))
    if ram_limit is not None and not candidates.is_within(chains, ram_limit):
        chains = _extend(candidates, chains, _Aim(0.0, math.inf, ram_limit, matrices=True))
    return _needed(candidates, chains, candidates.smallest(chains)) if chains else ()


def fastest_chains(candidates: Candidates, optimize: Optimize, ram_limit: int) -> tuple[Chain, ...]:
    """The chains that cost least of those found with which the arena fits `ram_limit`; without any
    those of the smallest arena."""
    found = choose_chains(candidates, optimize, ram_limit)
    if optimize is Optimize.SIZE or not candidates.is_within(found, ram_limit):
        return found
    direct = _extend(candidates, (), _Aim(0.0, math.inf, ram_limit, matrices=True))
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
    """What a further chain must bring: this part of the arena, at no more instructions than `allowed`
    for all chains; the size that is small enough; and whether matrices may be computed in bands, too."""

    gain: float
    allowed: float
    enough: int
    matrices: bool = False


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
            option = _cheapen(candidates, _widen(candidates, option, aim.enough), aim.allowed)
            after, cost = candidates.size(option), candidates.cost(option)
            if after <= most and after < size and cost <= aim.allowed:
                found.append((max(after, aim.enough), cost, number, option))
        if found:
            chains = pending = min(found)[3]
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


def _cheapen(
    candidates: Candidates, chains: tuple[Chain, ...], allowed: float
) -> tuple[Chain, ...]:
    """Higher bands, whatever they need, until all together cost no more than `allowed`."""
    tallest = tuple(replace(chain, rows=_heights(candidates, chain)[-1]) for chain in chains)
    if candidates.cost(tallest) > allowed:
        return chains
    while candidates.cost(chains) > allowed:
        dearest = max(
            (
                position
                for position, chain in enumerate(chains)
                if chain.rows < _heights(candidates, chain)[-1]
            ),
            key=lambda position: candidates.cost(chains[position : position + 1]),
        )
        heights = _heights(candidates, chains[dearest])
        rows = heights[heights.index(chains[dearest].rows) + 1]
        chains = _with_rows(chains, dearest, rows)
    return chains
