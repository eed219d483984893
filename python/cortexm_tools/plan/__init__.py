# SPDX-License-Identifier: Apache-2.0
"""From a graph to a plan: kernels, constants, and the place of every tensor in the arena.

Six rooms, by what they decide, and each imports only those before it: `kernels` (what exists and what
it needs), `forms` (as what else a convolution may be computed), `lower` (operators to kernel calls),
`memory` (what lies where), `search` (which plan of the many). `check` proves of a finished plan what the
others promise; it knows `types` alone.
"""

from . import lower
from .kernels.table import KernelChoice
from .lower.context import Lowerings, has_lowering
from .search.assemble import assemble
from .search.bands import Chain
from .search.candidates import Candidates
from .search.choose import make_plan
from .types import Plan

__all__ = [
    "Candidates",
    "Chain",
    "KernelChoice",
    "Lowerings",
    "Plan",
    "assemble",
    "has_lowering",
    "lower",
    "make_plan",
]
