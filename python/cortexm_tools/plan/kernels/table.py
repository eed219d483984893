# SPDX-License-Identifier: Apache-2.0
"""The table of kernels (kernels/kernels.json) and the choice of a library and a variant for a target."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache

from ...errors import CortexMError
from ...kernels.rows import Row, expand
from ...paths import data_root
from ...target import CORES, Isa, Target
from . import cmsis_nn
from .contract import Expression, Fields, named, parse
from .facts import Facts, Known

BUILTIN = "builtin"


class KernelChoice(Enum):
    """Which library's kernels a model uses: ours; CMSIS-NN's where it has them; of all
    those with which the model costs least."""

    BUILTIN = BUILTIN
    CMSIS_NN = cmsis_nn.LIBRARY
    AUTO = "auto"


@dataclass(frozen=True)
class Kernel:
    """One kernel: ``cortexm_<op>_<types>_<isa>`` with its parameter struct; an adapter of another
    library has that library's name in the place of the instruction set.

    Attributes:
        requires: of a layer, so that its results are right: see contract.py.
        pack: the form of its constants, a name in forms.FORMS.
        scratch: the bytes of memory it needs, if any.
        order: how it walks input and output, see memory/overlap.py; empty where nothing is promised.
        library: whose code computes.
        of: the operator that it computes in a special case; empty where that is `op`.
    """

    op: str
    types: str
    isa: Isa
    family: str
    params: str
    requires: tuple[Expression, ...] = ()
    pack: str = ""
    scratch: Expression | None = None
    order: str = ""
    library: str = BUILTIN
    of: str = ""

    @property
    def serves(self) -> str:
        """The operator among whose kernels it is."""
        return self.of or self.op

    @property
    def symbol(self) -> str:
        last = self.isa.value if self.library == BUILTIN else self.library.replace("-", "_")
        return f"cortexm_{self.op}_{self.types}_{last}"

    def takes(self, layer: Known) -> bool:
        """Whether it may compute a layer."""
        return all(each(layer) for each in self.requires)

    def scratch_bytes(self, fields: Facts) -> int:
        """The memory that it needs for a call."""
        return self.scratch(Fields(fields)) if self.scratch else 0

    @property
    def unit(self) -> int:
        """The bytes of an element where these are moved as they are (x8, x16, ...), which may be a part of
        one of the tensor's; 0 of kernels that compute."""
        return int(self.types[1:]) // 8 if self.types.startswith("x") else 0


@cache
def kernels(part: str = "kernels") -> tuple[Kernel, ...]:
    """All kernels of our library, in the order of the table; or all ``adapters``."""
    table = json.loads((data_root() / "kernels" / "kernels.json").read_text(encoding="utf-8"))

    def expressions(row: Row, key: str) -> tuple[Expression, ...]:
        return tuple(parse(text, named()) for text in row.get(key, ()))

    return tuple(
        Kernel(
            row["op"],
            row["types"],
            Isa(row["isa"]),
            row["family"],
            row["params"],
            expressions(row, "requires"),
            row.get("pack", ""),
            parse(row["scratch"], named()) if "scratch" in row else None,
            row.get("order", ""),
            row.get("library", BUILTIN),
            row.get("of", ""),
        )
        for row in expand(table[part])
    )


@cache
def code_sizes() -> dict[str, int]:
    """Bytes of machine code at -Os of every kernel, by symbol.

    Written by scripts/kernel_sizes.py.
    """
    path = data_root() / "kernels" / "code_sizes.json"
    sizes: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    return sizes


@cache
def variants(op: str, types: str, target: Target) -> tuple[Kernel, ...]:
    """The kernels of ours among which a layer on `target` may choose, the best first.

    Where there is one for the core's architecture it takes the place of the scalar one, but of one that
    needs no scratch where it does itself: a layer may have no room for that."""
    all_isas = [k for k in kernels() if (k.serves, k.types) == (op, types)]
    found = [k for isa in target.runs for k in all_isas if k.isa is isa]
    base = next((k for k in found if k.isa is CORES[target.core].base), None)
    if base is not None:
        found = [k for k in found if k.isa is not Isa.SCALAR or (base.scratch and not k.scratch)]
    return tuple(found)


def find_kernels(
    op: str,
    types: tuple[str, ...],
    target: Target,
    *,
    layer: str = "",
    facts: Facts | None = None,
    choice: KernelChoice = KernelChoice.BUILTIN,
) -> tuple[Kernel, ...]:
    """The kernels that `target` runs and whose requirements `facts` meet: ours, or adapters, or both, as
    `choice` wants them.

    Args:
        types: element types that serve, the best first.

    Raises:
        CortexMError: the table has no such kernel for these types.
    """
    known = Known(facts or {})

    def of_best_types(every: Callable[[str], Iterable[Kernel]]) -> tuple[Kernel, ...]:
        found = (tuple(k for k in every(each) if k.takes(known)) for each in types)
        return next(filter(None, found), ())

    adapters = () if choice is KernelChoice.BUILTIN else kernels("adapters")
    theirs = of_best_types(lambda each: (k for k in adapters if (k.op, k.types) == (op, each)))
    if choice is KernelChoice.CMSIS_NN and theirs:
        return theirs
    if found := of_best_types(lambda each: variants(op, each, target)) + theirs:
        return found
    others = sorted({kernel.types for kernel in kernels() if kernel.op == op})
    raise CortexMError(
        f"no {op} kernel for element types {types[-1]!r}",
        where=layer,
        hint=f"{op} exists for: {', '.join(others) or 'none'}; see docs/kernels.md",
    )
