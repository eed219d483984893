# SPDX-License-Identifier: Apache-2.0
"""The table of operators that can be read, by their names in the .pte."""

from __future__ import annotations

from ..call import Table
from . import (
    adaptive,
    arithmetic,
    convolution,
    elementwise,
    float_layers,
    floats,
    indexing,
    layout,
    movement,
    pooling,
    resample,
    states,
)

CONVERTERS: Table = {
    **convolution.TABLE,
    **elementwise.TABLE,
    **layout.TABLE,
    **pooling.TABLE,
    **movement.TABLE,
    **indexing.TABLE,
    **arithmetic.TABLE,
    **float_layers.TABLE,
    **adaptive.TABLE,
    **floats.TABLE,
    **resample.TABLE,
    **states.TABLE,
}
