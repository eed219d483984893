# SPDX-License-Identifier: Apache-2.0
"""Which library computes an operator faster on a core: kernels/cmsis_nn.json, which benchmarks/libraries.py
writes."""

from __future__ import annotations

import json
from functools import cache

from ...paths import data_root
from ...target import CORES, Target


@cache
def _instructions() -> dict[tuple[str, str, str], dict[str, int]]:
    """Instructions by library, of the same work, by core, instruction set and operator."""
    data = json.loads((data_root() / "kernels" / "cmsis_nn.json").read_text(encoding="utf-8"))
    return {
        (row["cpu"], row["isa"], row["operator"]): row["instructions"] for row in data["operators"]
    }


# What was measured.
_TYPES = "s8"


def is_faster(operator: str, types: str, library: str, target: Target) -> bool:
    """Whether `library` needed fewer instructions than our kernels; False where it was not measured."""
    if types != _TYPES:
        return False
    core = CORES[target.core].measured_as
    found = _instructions().get((core.value, target.isa.value, operator))
    return found is not None and library in found and found[library] < found["builtin"]
