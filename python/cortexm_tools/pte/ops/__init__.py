# SPDX-License-Identifier: Apache-2.0
"""How operators are read, a module for each family. Importing this package registers them."""

from ..call import CONVERTERS
from . import (
    activation,
    arithmetic,
    compare,
    conv,
    convert,
    index,
    linear,
    move,
    norm,
    pool,
    recurrent,
    reduce,
    resample,
    spectrum,
)

__all__ = [
    "CONVERTERS",
    "activation",
    "arithmetic",
    "compare",
    "conv",
    "convert",
    "index",
    "linear",
    "move",
    "norm",
    "pool",
    "recurrent",
    "reduce",
    "resample",
    "spectrum",
]
