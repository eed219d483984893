# SPDX-License-Identifier: Apache-2.0
"""An estimate of cycles from the mix of instructions: an interval, not a measurement.

Each class of instructions has two costs on each core (``cmake/cores.json``), an optimistic and a
pessimistic one; the sum over the mix gives both ends. docs/cycles.md has the
sources, what the two readings assume of memory, and how the intervals compare with published
latencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..target import CORES, Core, Cost
from .classes import EVENTS


@dataclass(frozen=True)
class Estimate:
    """Cycles of one inference, between `low` and `high`."""

    low: int
    high: int


def estimate(
    core: Core, mix: Mapping[str, int], costs: Mapping[str, Cost] | None = None
) -> Estimate | None:
    """The interval for a mix (classes.py), with the ledger's costs or with others; None where there is
    no table for the core."""
    table = CORES[core].cycles if costs is None else costs
    if not table:
        return None
    ends = [0.0, 0.0]
    for kind, count in mix.items():
        cost = table.get(kind, (0, 0) if kind in EVENTS else table["alu"])
        for end in (0, 1):
            ends[end] += cost[end] * count
    return Estimate(round(ends[0]), round(ends[1]))
