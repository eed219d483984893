# SPDX-License-Identifier: Apache-2.0
"""Movement of elements of any type: nothing is computed."""

from __future__ import annotations

from ...call import Table
from . import fills, parts, states, views

TABLE: Table = {**views.TABLE, **parts.TABLE, **fills.TABLE, **states.TABLE}
