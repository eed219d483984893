# SPDX-License-Identifier: Apache-2.0
"""An estimate of cycles from the mix of instructions: an interval, not a measurement.

Each class of instructions has two costs on each core, an optimistic and a pessimistic one; the sum
over the mix gives both ends. docs/cycles.md has the sources, what the two readings assume of
memory, and how the intervals compare with published latencies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..target import Core
from .classes import EVENTS

Cost = tuple[float, float]  # cycles: optimistic, pessimistic

# What a core has no line for costs as `alu`; on cores that lack an instruction it never occurs.
_M0PLUS: dict[str, Cost] = {
    "alu": (1, 1),
    "multiply": (1, 1),
    "load": (2, 3),
    "store": (2, 3),
    "load_multiple": (1, 1),
    "store_multiple": (1, 1),
    "registers": (1, 2),
    "branch": (1, 1),
    "taken": (1, 2),
    "fetched": (0, 0.1),
}
_M4: dict[str, Cost] = {
    "alu": (1, 1),
    "multiply": (1, 1),
    "multiply_long": (1, 1),
    "divide": (2, 12),
    "load": (1, 4),
    "load_double": (2, 6),
    "load_multiple": (1, 1),
    "store": (1, 2),
    "store_double": (2, 3),
    "store_multiple": (1, 1),
    "registers": (1, 1.5),
    "table_branch": (3, 5),
    "branch": (1, 1),
    "taken": (1, 3),
    "float": (1, 2),
    "float_multiply_add": (3, 3),
    "float_divide": (14, 14),
    "float_load": (1, 3),
    "float_load_multiple": (1, 1),
    "float_store": (1, 2),
    "float_store_multiple": (1, 1),
    "fetched": (0, 0.1),
}
_M33: dict[str, Cost] = _M4 | {
    "alu": (0.75, 1),
    "load": (1, 3),
    "divide": (2, 11),
    "load_double": (2, 4),
}
_M7: dict[str, Cost] = _M4 | {
    "alu": (0.5, 1),
    "multiply": (0.5, 1),
    "load": (0.5, 3),
    "load_double": (1, 4),
    "store": (0.5, 1),
    "store_double": (1, 2),
    "registers": (0.5, 1),
    "branch": (0.5, 1),
    "taken": (0, 2),
    "float": (0.5, 1),
    "float_multiply_add": (1, 3),
    "float_load": (0.5, 2),
}
_M55: dict[str, Cost] = _M33 | {
    "load_double": (1, 4),
    "store_double": (1, 2),
    "registers": (0.5, 1),
    "loop": (0, 1),
    "float_multiply_add": (1, 2),
    "vector": (1, 2),
    "vector_load": (1, 3),
    "vector_store": (1, 2),
    "vector_multiply": (1, 2),
    "vector_gather": (1, 2),
    "vector_scatter": (1, 2),
    "elements": (0.5, 1),
    "predicate": (1, 1),
}
_M85: dict[str, Cost] = _M55 | {
    "alu": (0.5, 1),
    "multiply": (0.5, 1),
    "load": (0.5, 3),
    "store": (0.5, 1),
    "branch": (0.5, 1),
    "taken": (0, 2),
}

TABLES: dict[Core, dict[str, Cost]] = {
    Core.M0: _M0PLUS | {"taken": (2, 3)},
    Core.M0PLUS: _M0PLUS,
    Core.M3: _M4 | {"multiply": (1, 2), "multiply_long": (3, 7)},
    Core.M4: _M4,
    Core.M7: _M7,
    Core.M33: _M33,
    Core.M55: _M55,
    Core.M85: _M85,
}


@dataclass(frozen=True)
class Estimate:
    """Cycles of one inference, between `low` and `high`."""

    low: int
    high: int


def estimate(core: Core, mix: Mapping[str, int]) -> Estimate | None:
    """The interval for a mix (classes.py); None where there is no table for the core."""
    table = TABLES.get(core)
    if table is None:
        return None
    ends = [0.0, 0.0]
    for kind, count in mix.items():
        cost = table.get(kind, (0, 0) if kind in EVENTS else table["alu"])
        for end in (0, 1):
            ends[end] += cost[end] * count
    return Estimate(round(ends[0]), round(ends[1]))
