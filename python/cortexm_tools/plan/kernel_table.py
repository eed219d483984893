# SPDX-License-Identifier: Apache-2.0
"""The table of kernels (kernels/kernels.json) and the choice of a variant for a target."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from ..errors import CortexMError
from ..paths import data_root
from ..target import Isa, Target
from .cases import CASES, Facts


@dataclass(frozen=True)
class Kernel:
    """One kernel: ``cortexm_<op>_<types>_<isa>`` with its parameter struct.

    Attributes:
        when: what it requires of a layer, names in cases.CASES.
        pack: the form of its constants, a name in pack.PACKERS.
        scratch: the memory it needs, a name in cases.SCRATCH.
        order: how it walks input and output, see access.py; empty where nothing is promised.
    """

    op: str
    types: str
    isa: Isa
    family: str
    params: str
    when: tuple[str, ...] = ()
    pack: str = ""
    scratch: str = ""
    order: str = ""

    @property
    def symbol(self) -> str:
        return f"cortexm_{self.op}_{self.types}_{self.isa.value}"

    @property
    def source(self) -> str:
        """Path of the C file below kernels/src."""
        return f"{self.family}/{self.op}_{self.types}_{self.isa.value}.c"


@cache
def kernels() -> tuple[Kernel, ...]:
    """All kernels of the library, in the order of the table."""
    table = json.loads((data_root() / "kernels" / "kernels.json").read_text(encoding="utf-8"))
    return tuple(
        Kernel(
            row["op"],
            row["types"],
            Isa(row["isa"]),
            row["family"],
            row["params"],
            tuple(row.get("when", ())),
            row.get("pack", ""),
            row.get("scratch", ""),
            row.get("order", ""),
        )
        for row in table["kernels"]
    )


def find_kernel(
    op: str, types: str, target: Target, *, layer: str = "", facts: Facts | None = None
) -> Kernel:
    """The best variant of a kernel that `target` runs, among those whose requirements `facts` meet.

    Raises:
        CortexMError: the table has no such kernel for these types.
    """
    for isa in target.isa.runs:
        for kernel in kernels():
            if (kernel.op, kernel.types, kernel.isa) == (op, types, isa) and all(
                CASES[name](facts or {}) for name in kernel.when
            ):
                return kernel
    known = sorted({kernel.types for kernel in kernels() if kernel.op == op})
    raise CortexMError(
        f"no {op} kernel for element types {types!r}",
        where=layer,
        hint=f"{op} exists for: {', '.join(known) or 'none'}; see docs/kernels.md",
    )
