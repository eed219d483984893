# SPDX-License-Identifier: Apache-2.0
"""Files of one operator: all that there are. Importing this registers them."""

from __future__ import annotations

from tests.litert import functions, layers, moves
from tests.litert.draw import CASES, made

__all__ = ["CASES", "functions", "layers", "made", "moves"]
