# SPDX-License-Identifier: Apache-2.0
"""How much of the slowest tests runs: with CORTEXM_TESTS=thorough all cases on all cores, else every
case on some of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

THOROUGH = os.environ.get("CORTEXM_TESTS") == "thorough"


def share(items: Sequence[T], number: int, of: int) -> list[T]:
    """The `number`-th of so many shares of `items`; all of them if the run is thorough."""
    return list(items if THOROUGH else items[number::of])
