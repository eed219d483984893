# SPDX-License-Identifier: Apache-2.0
"""The kernels of a network: for each operator the way to compute it with which all of them together cost
least, where a byte of flash costs so many instructions.

The code of a kernel, and a constant, are in flash once, whoever takes them: so the operators depend on each
other as the customers of warehouses do, which each has a price (uncapacitated facility location). That is
solved by local search, as usual: from all that there is, and from as little as can be, to close or to open
what gains most, as long as something gains.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...target import Optimize
from .options import Option

# Instructions that a byte of flash costs.
PER_BYTE = {Optimize.SPEED: 0.0, Optimize.BALANCED: 4.0, Optimize.SIZE: 1e6}

Parts = frozenset[Hashable]


@dataclass(frozen=True)
class _Way:
    """An option: what it costs alone, and what it needs that others may have, too."""

    option: Option
    cost: float
    shared: Parts


def choose(operators: Sequence[Sequence[Option]], per_byte: float) -> list[Option]:
    """For each operator one of its options.

    Args:
        per_byte: instructions that a byte of flash costs.
    """
    problem = _Problem(operators, per_byte)
    found = [problem.improved(problem.every), problem.improved(problem.fewest())]
    _, chosen = min((problem.solved(open_) for open_ in found), key=lambda pair: pair[0])
    return [way.option for way in chosen]


class _Problem:
    def __init__(self, operators: Sequence[Sequence[Option]], per_byte: float) -> None:
        owners: dict[Hashable, int] = {}
        for options in operators:
            for part in dict.fromkeys(part for option in options for part in option.flash):
                owners[part] = owners.get(part, 0) + 1
        self.ways = [
            sorted((_way(o, owners, per_byte) for o in options), key=lambda way: way.cost)
            for options in operators
        ]
        prices = {part: size for each in operators for o in each for part, size in o.flash.items()}
        self.prices = {part: per_byte * prices[part] for part, count in owners.items() if count > 1}
        self.every = frozenset(self.prices)

    def solved(self, open_: Parts) -> tuple[float, list[_Way]]:
        """The cost of all operators with what is open, and their ways."""
        chosen = []
        for ways in self.ways:
            way = next((way for way in ways if way.shared <= open_), None)
            if way is None:
                return float("inf"), []
            chosen.append(way)
        used = frozenset[Hashable]().union(*(way.shared for way in chosen))
        return sum(way.cost for way in chosen) + sum(self.prices[p] for p in used), chosen

    def used(self, open_: Parts) -> Parts:
        """What is taken of that."""
        return frozenset[Hashable]().union(*(way.shared for way in self.solved(open_)[1]))

    def fewest(self) -> Parts:
        """Little that is enough: for each operator in turn what costs least beside what is there."""
        open_ = frozenset[Hashable]()
        for ways in self.ways:
            least = min(ways, key=lambda w: (sum(self.prices[p] for p in w.shared - open_), w.cost))
            open_ |= least.shared
        return open_

    def improved(self, open_: Parts) -> Parts:
        """Without one of these parts, or with what an operator needs besides, as long as that costs less."""
        cost, chosen = self.solved(open_)
        while True:
            open_ = frozenset[Hashable]().union(*(way.shared for way in chosen))
            wanted = {way.shared | open_: None for ways in self.ways for way in ways}
            others = [*(open_ - {part} for part in _ordered(open_, self.prices)), *wanted]
            found = [(*self.solved(other), other) for other in others if other != open_]
            best = min(found, key=lambda each: each[0], default=None)
            if best is None or best[0] >= cost - 1e-6:
                return open_
            cost, chosen, open_ = best


def _way(option: Option, owners: Mapping[Hashable, int], per_byte: float) -> _Way:
    alone = sum(size for part, size in option.flash.items() if owners[part] == 1)
    shared = frozenset(part for part in option.flash if owners[part] > 1)
    return _Way(option, option.instructions + per_byte * alone, shared)


def _ordered(parts: Iterable[Hashable], prices: Mapping[Hashable, float]) -> list[Hashable]:
    """In the order in which operators name them."""
    wanted = set(parts)
    return [part for part in prices if part in wanted]
