# SPDX-License-Identifier: Apache-2.0
"""The table of operators that can be read, by their names in the .pte."""

from __future__ import annotations

from ..call import Table
from . import convolution, elementwise, layout, pooling

CONVERTERS: Table = {
    **convolution.TABLE,
    **elementwise.TABLE,
    **layout.TABLE,
    **pooling.TABLE,
}
