# SPDX-License-Identifier: Apache-2.0
"""Instructions of kernel calls: the one model by which plans are compared.

A call costs the sum of its kernel's terms, each times a coefficient. Terms are expressions of the parameter
block (kernels/terms.json), the same for all kernels of a kind: calls, rows, pixels by blocks of outputs, products,
bytes that are gathered. Coefficients by core are in kernels/costs.json, which `python -m benchmarks.fit` writes
from what an emulator counts. What was not measured costs as much as products and elements mostly do.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from types import CodeType
from typing import Any, Protocol

from ...paths import data_root
from ...target import CORES, Core, Isa
from .params import field_types
from .table import Kernel

FUNCTIONS: dict[str, Callable[..., int]] = {"max": max, "min": min, "ceil": lambda a, b: -(-a // b)}
_GLOBALS = {"__builtins__": {}, **FUNCTIONS}
_SIZES = {"s8": 1, "u8": 1, "x8": 1, "s16": 2, "x16": 2, "s64": 8, "x64": 8}  # bytes; others have 4
_UNKNOWN = {Isa.MVE: (0.5, 1.0), Isa.DSP: (1.5, 4.0)}
_UNKNOWN_SCALAR, _UNKNOWN_CALL = (4.0, 10.0), 200
"""Instructions of a product and of an element, and of a call, of a kernel that was not measured."""


@dataclass(frozen=True)
class Terms:
    """What the cost of some kernels depends on.

    Attributes:
        let: named expressions of fields, and of those before.
        tile: pixels, outputs and inputs that are computed together: `mr`, `nr` and `kr` in expressions.
    """

    let: Mapping[str, str]
    tile: tuple[int, int, int]
    terms: tuple[str, ...]


@cache
def _file(name: str) -> dict[str, Any]:
    text = (data_root() / "kernels" / name).read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


@cache
def terms_of(symbol: str) -> Terms | None:
    """The terms of a kernel; None if it has none."""
    table, name = _file("terms.json"), symbol.removeprefix("cortexm_")
    for row in table["terms"]:
        if any(fnmatchcase(name, glob) for glob in row["kernels"]):
            let = {key: text for part in row["let"] for key, text in table["let"][part].items()}
            return Terms(let, tuple(row.get("tile", (1, 1, 1))), tuple(row["terms"]))
    return None


@cache
def _left_out(params: str) -> dict[str, int]:
    names = field_types()[params]
    ones = (f"{name}_{of}" for name in names for of in ("all", "last", "next"))
    return {**dict.fromkeys(ones, 1), **dict.fromkeys(names, 0)}


def values_of(kernel: Kernel, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What the names of terms stand for: the fields, 0 where they are left out, of an array also its product, its
    last element and the next to last; and the bytes of an element."""
    size = _SIZES.get(kernel.types[: 3 if kernel.types[1:3].isdigit() else 2], 4)
    values = {**_left_out(kernel.params), **fields, "element": size}
    for name, value in fields.items():
        if isinstance(value, tuple):
            values[f"{name}_all"] = math.prod(value)
            values[f"{name}_last"], values[f"{name}_next"] = ((1, 1, *value))[:-3:-1]
    return values


class Formula:
    """Named expressions, and what is computed of them."""

    def __init__(self, terms: Terms, text: str) -> None:
        names, needed = _names(text), list[tuple[str, CodeType]]()
        for name, expression in reversed(terms.let.items()):
            if name in names:
                names |= _names(expression)
                needed.insert(0, (name, compile(expression, name, "eval")))
        self._lets, self._code = needed, compile(text, text, "eval")
        self._tile = dict(zip(("mr", "nr", "kr"), terms.tile, strict=True))

    def __call__(self, values: dict[str, Any]) -> Any:
        known = {**self._tile, **values}
        for name, code in self._lets:
            known[name] = eval(code, _GLOBALS, known)
        return eval(self._code, _GLOBALS, known)


def _names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def column(core: Core) -> str:
    """The core that was measured whose code is most like that of `core`."""
    info = CORES[core]
    if Isa.MVE in info.isas:
        return Core.M55.value
    if Isa.DSP in info.isas:
        return Core.M4.value
    return (Core.M0 if info.base is Isa.V6M else Core.M3).value


@cache
def _formula(symbol: str, core: str) -> Formula | None:
    """What a kernel costs on a core that was measured, or on the first one where it was."""
    found = _file("costs.json")["kernels"].get(symbol, {})
    terms = terms_of(symbol)
    if not found or terms is None:
        return None
    row = found.get(core) or next(iter(found.values()))
    return Formula(terms, " + ".join(f"{k} * ({t})" for k, t in zip(row, terms.terms, strict=True) if k))


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
    turns, fields = call.turns, dict(call.fields)
    return turns * instructions_of(call.kernel, fields, core, call.macs / turns)


def instructions_of(
    kernel: Kernel, fields: Mapping[str, Any], core: Core, products: float = 0
) -> float:
    """Of a kernel with this parameter block, which computes so many products."""
    formula = _formula(kernel.symbol, column(core))
    if formula is not None:
        return float(formula(values_of(kernel, fields)))
    product, element = _UNKNOWN.get(kernel.isa, _UNKNOWN_SCALAR)
    return _UNKNOWN_CALL + product * products + element * fields.get("count", 0)
