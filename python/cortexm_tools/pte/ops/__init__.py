# SPDX-License-Identifier: Apache-2.0
"""The table of operators that can be read, by their names in the .pte; a module for each family."""

from __future__ import annotations

from ..call import Table
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
    reduce,
    resample,
)

CONVERTERS: Table = {
    **activation.TABLE,
    **arithmetic.TABLE,
    **compare.TABLE,
    **conv.TABLE,
    **convert.TABLE,
    **index.TABLE,
    **linear.TABLE,
    **move.TABLE,
    **norm.TABLE,
    **pool.TABLE,
    **reduce.TABLE,
    **resample.TABLE,
}
