# SPDX-License-Identifier: Apache-2.0
"""The kernels of a network: for each operator the way to compute it with which all of them together cost
least, where a byte of flash costs so many instructions.

The code of a kernel, and a constant, are in flash once, whoever takes them: so the operators depend on each
other as the customers of warehouses do, which each has a price (uncapacitated facility location). That is
solved by local search, as usual: from all that there is, and from as little as can be, to close or to open
what gains most, as long as something gains.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from ...target import Optimize
from .options import Option

Parts = int
"""A set of kernels and constants that several operators may have, a bit each."""


@dataclass(frozen=True)
class Prices:
    """Instructions that a byte of flash costs, and one of the arena."""

    flash: float
    ram: float


PRICES = {
    Optimize.SPEED: Prices(0, 0),
    Optimize.BALANCED: Prices(3, 16),
    Optimize.SIZE: Prices(1e6, 5e6),
}

MOST_SWAPS = 4096  # of a round: with more parts, none is tried instead of another one


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
    _, chosen = min(map(problem.solved, found), key=lambda pair: pair[0])
    return [way.option for way in chosen]


def cost_of(options: Iterable[Option], per_byte: float) -> float:
    """What `choose` makes the least of: instructions, and flash."""
    options = tuple(options)
    flash = {part: size for option in options for part, size in option.flash.items()}
    return sum(option.instructions for option in options) + per_byte * sum(flash.values())


class _Problem:
    def __init__(self, operators: Sequence[Sequence[Option]], per_byte: float) -> None:
        sizes: dict[Hashable, int] = {}
        owners: dict[Hashable, set[int]] = {}
        for number, options in enumerate(operators):
            for option in options:
                sizes |= option.flash
                for part in option.flash:
                    owners.setdefault(part, set()).add(number)
        shared = [part for part, some in owners.items() if len(some) > 1]
        self.prices = [per_byte * sizes[part] for part in shared]
        bits = {part: 1 << place for place, part in enumerate(shared)}

        def way(option: Option) -> _Way:
            alone = sum(size for part, size in option.flash.items() if part not in bits)
            needs = sum(bits.get(part, 0) for part in option.flash)
            return _Way(option, option.instructions + per_byte * alone, needs)

        self.ways = [sorted(map(way, options), key=lambda w: w.cost) for options in operators]
        self.every = (1 << len(shared)) - 1
        # What an operator has in all ways is there in any case.
        self.sunk = reduce(or_, (reduce(and_, (w.shared for w in ways)) for ways in self.ways), 0)

    def price(self, parts: Parts) -> float:
        return sum(price for place, price in enumerate(self.prices) if parts >> place & 1)

    def solved(self, open_: Parts) -> tuple[float, list[_Way]]:
        """The cost of all operators with what is open, and their ways."""
        chosen, cost, used = [], 0.0, 0
        for ways in self.ways:
            for way in ways:
                if way.shared & ~open_ == 0:
                    break
            else:
                return float("inf"), []
            chosen.append(way)
            cost += way.cost
            used |= way.shared
        return cost + self.price(used), chosen

    def fewest(self) -> Parts:
        """Little that is enough: for each operator in turn what costs least beside what is there."""
        open_ = 0
        for ways in self.ways:
            open_ |= min(ways, key=lambda w: (self.price(w.shared & ~open_), w.cost)).shared
        return open_

    def improved(self, open_: Parts) -> Parts:
        """Without one of these parts, with another instead of it, or with what an operator needs besides, as
        long as that costs less."""
        cost, chosen = self.solved(open_)
        while True:
            open_ = reduce(or_, (way.shared for way in chosen), 0)
            others = {way.shared | open_: None for ways in self.ways for way in ways}
            bits = [1 << place for place in range(len(self.prices))]
            there = [bit for bit in bits if bit & open_ & ~self.sunk]
            others |= {open_ & ~part: None for part in there}
            for part in there if len(there) * len(bits) <= MOST_SWAPS else ():
                others |= {open_ & ~part | new & ~part: None for new in bits}
            found = [(*self.solved(other), other) for other in others if other != open_]
            best = min(found, key=lambda each: each[0], default=None)
            if best is None or best[0] >= cost - 1e-6:
                return open_
            cost, chosen, open_ = best
