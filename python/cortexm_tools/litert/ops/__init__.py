# SPDX-License-Identifier: Apache-2.0
"""How operators are read, a module for each family. Importing this package registers them."""

from ..call import CONVERTERS
from . import (
    activation,
    arithmetic,
    blocks,
    compare,
    conv,
    convert,
    linear,
    lstm,
    memory,
    move,
    pool,
    reduce,
    slices,
    state,
)

__all__ = [
    "CONVERTERS",
    "activation",
    "arithmetic",
    "blocks",
    "compare",
    "conv",
    "convert",
    "linear",
    "lstm",
    "memory",
    "move",
    "pool",
    "reduce",
    "slices",
    "state",
]
