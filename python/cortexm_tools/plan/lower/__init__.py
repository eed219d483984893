# SPDX-License-Identifier: Apache-2.0
"""How each operator becomes kernel calls, by family. Importing this package registers them."""

from . import (
    compare,
    convolution,
    data,
    elementwise,
    float_layers,
    floats,
    indexing,
    matrix,
    movement,
    pooling,
    reduction,
)

__all__ = [
    "compare",
    "convolution",
    "data",
    "elementwise",
    "float_layers",
    "floats",
    "indexing",
    "matrix",
    "movement",
    "pooling",
    "reduction",
]
