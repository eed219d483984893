# SPDX-License-Identifier: Apache-2.0
"""How each operator becomes kernel calls, a module for each family, and another one for its operators of
floats where there are many. Importing this package registers them."""

from . import (
    activation,
    arithmetic,
    compare,
    conv,
    convert,
    float_conv,
    float_linear,
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
    "activation",
    "arithmetic",
    "compare",
    "conv",
    "convert",
    "float_conv",
    "float_linear",
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
