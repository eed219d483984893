# SPDX-License-Identifier: Apache-2.0
"""Instructions of kernel calls: the one model by which plans are compared.

A call costs the sum of its kernel's terms, each times a coefficient. Terms are expressions of the
parameter block (kernels/terms.json), the same for all kernels of a kind: calls, rows, pixels by blocks of
outputs, products, bytes that are gathered. Coefficients by core are in kernels/costs.json, which
`python -m benchmarks.fit` writes from what an emulator counts. What was not measured costs as much as
products and elements mostly do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from types import CodeType
from typing import Any, Protocol

from ...paths import data_root
from ...target import CORES, Core, Isa
from .contract import FUNCTIONS
from .params import field_types
from .table import Kernel

_GLOBALS = {"__builtins__": {}, **FUNCTIONS}
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}  # bytes of elements
_UNKNOWN = {Isa.MVE: (0.5, 1.0), Isa.DSP: (1.5, 4.0)}
_UNKNOWN_SCALAR, _UNKNOWN_CALL = (4.0, 10.0), 200
"""Instructions of a product and of an element, and of a call, of a kernel that was not measured."""


@cache
def _file(name: str) -> Any:
    return json.loads((data_root() / "kernels" / name).read_text(encoding="utf-8"))


@cache
def terms_of(symbol: str) -> dict[str, Any]:
    """The `terms` of a kernel, what they `let` names stand for, and its `tile`."""
    table, name = _file("terms.json"), symbol.removeprefix("cortexm_")
    known: dict[str, Any] = {"let": {}, "tile": (1, 1, 1), "terms": []}
    for row in table["terms"]:
        if any(fnmatchcase(name, glob) for glob in row["kernels"]):
            lets = (let for part in row["let"] for let in table["let"][part].items())
            return {**known, **row, "let": dict(lets)}
    return known


class Formula:
    """What is computed of the terms of a kernel; `text` is of what they are of."""

    def __init__(self, kernel: Kernel, text: str) -> None:
        row, names = terms_of(kernel.symbol), set(re.findall(r"\w+", text))
        self._lets: list[tuple[str, CodeType]] = []
        self._code = compile(text, text, "eval")
        for name, expression in reversed(row["let"].items()):
            if name in names:
                names.update(re.findall(r"\w+", expression))
                self._lets.insert(0, (name, compile(expression, name, "eval")))
        fields = field_types()[kernel.params]
        element = re.search(r"\d+", kernel.types)
        self._known: dict[str, Any] = dict.fromkeys(fields, 0)  # those that are left out
        self._known |= {f"{name}_{of}": 1 for name in fields for of in ("all", "last", "next")}
        self._known |= {"element": _SIZES[element[0]] if element else 4}
        # Pixels, outputs and inputs that are computed together.
        self._known |= zip(("mr", "nr", "kr"), row["tile"], strict=True)

    def __call__(self, fields: Mapping[str, Any]) -> Any:
        """Its value for a parameter block. Of an array the product, the last element and the next to last
        are known as NAME_all, NAME_last and NAME_next."""
        known = {**self._known, **fields}
        for name, value in fields.items():
            if isinstance(value, tuple):
                known[f"{name}_all"] = math.prod(value)
                known[f"{name}_last"], known[f"{name}_next"] = (1, 1, *value)[:-3:-1]
        for name, code in self._lets:
            known[name] = eval(code, _GLOBALS, known)
        return eval(self._code, _GLOBALS, known)


def column(core: Core) -> str:
    """The core that was measured whose code is most like that of `core`."""
    info = CORES[core]
    if Isa.DSP in info.isas:
        return "cortex-m55" if Isa.MVE in info.isas else "cortex-m4"
    return "cortex-m0" if info.base is Isa.V6M else "cortex-m3"


@cache
def _formula(kernel: Kernel, core: str) -> Formula | None:
    """What a kernel costs on a core that was measured, or on the first one where it was."""
    found = _file("costs.json")["kernels"].get(kernel.symbol)
    if found is None:
        return None
    costs, terms = found["costs"], terms_of(kernel.symbol)["terms"]
    row = costs.get(core) or next(iter(costs.values()))
    return Formula(kernel, " + ".join(f"{k} * ({t})" for k, t in zip(row, terms, strict=True) if k))


class Called(Protocol):
    """A kernel call (plan/types.py)."""

    @property
    def kernel(self) -> Kernel: ...
    @property
    def fields(self) -> tuple[tuple[str, Any], ...]: ...
    @property
    def macs(self) -> int: ...
    @property
    def turns(self) -> int: ...


def instructions(call: Called, core: Core) -> float:
    """Of a call, in all its turns."""
    return call.turns * instructions_of(
        call.kernel, dict(call.fields), core, call.macs / call.turns
    )


def instructions_of(
    kernel: Kernel, fields: Mapping[str, Any], core: Core, products: float = 0
) -> float:
    """Of a kernel with this parameter block, which computes so many products."""
    if (formula := _formula(kernel, column(core))) is not None:
        return float(formula(fields))
    product, element = _UNKNOWN.get(kernel.isa, _UNKNOWN_SCALAR)
    return float(_UNKNOWN_CALL + product * products + element * fields.get("count", 0))
