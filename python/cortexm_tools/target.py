# SPDX-License-Identifier: Apache-2.0
"""Cores, instruction sets, and the target a model is compiled for.

What a core is stands in ``cmake/cores.json``, which CMake reads as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .errors import CortexMError, did_you_mean
from .paths import data_root

Cost = tuple[float, float]  # cycles of an instruction: optimistic, pessimistic

_LEDGER = json.loads((data_root() / "cmake" / "cores.json").read_text(encoding="utf-8"))


class Isa(Enum):
    """Kernel instruction set; each one can run the code of those before it."""

    SCALAR = "scalar"
    DSP = "dsp"
    MVE = "mve"

    @property
    def runs(self) -> tuple[Isa, ...]:
        """The kernel variants that this instruction set executes, best first."""
        return tuple(reversed(list(Isa)[: list(Isa).index(self) + 1]))

    @property
    def macro(self) -> str:
        """What a compiler that generates its instructions defines; empty if all do."""
        (row,) = (row for row in _LEDGER["isas"] if row["name"] == self.value)
        return str(row.get("macro", ""))


class Optimize(Enum):
    """What a build is optimized for; docs/cmake.md says what each does."""

    SIZE = "size"
    BALANCED = "balanced"
    SPEED = "speed"


class Core(Enum):
    """A Cortex-M core, by the name GCC and CMSIS give it: M0, M0PLUS, … as the ledger lists them."""

    _ignore_ = ["_members", "_row"]
    _members = vars()
    for _row in _LEDGER["cores"]:
        if _row["name"].startswith("cortex-"):
            _members[_row["name"].removeprefix("cortex-").upper()] = _row["name"]

    ANY = "any"  # of them: code for all
    HOST = "host"  # the machine that builds


@dataclass(frozen=True)
class CoreInfo:
    """What a core is; the ledger says what the fields mean.

    Attributes:
        isas: what it may be built with, the default last.
        least: what every chip with this core has.
        boards: emulated boards that run its code, in the order to try; none for the host.
        measured_as: whose figures of kernel libraries serve for it.
        executorch: its name in ExecuTorch.
        cycles: by class of instructions; empty if there is no estimate.
    """

    isas: tuple[Isa, ...]
    least: Isa
    boards: tuple[str, ...]
    measured_as: Core
    executorch: str
    cycles: Mapping[str, Cost]


def _cycles(name: str) -> dict[str, Cost]:
    (row,) = (row for row in _LEDGER["cores"] if row["name"] == name)
    own: dict[str, Any] = dict(row.get("cycles", {}))
    table = _cycles(own.pop("as")) if "as" in own else {}
    return table | {kind: (low, high) for kind, (low, high) in own.items()}


def _info(row: Mapping[str, Any]) -> CoreInfo:
    name = row["name"]
    return CoreInfo(
        isas=tuple(isa for isa in Isa if isa.value in row["isas"]),
        least=Isa(row.get("least", "scalar")),
        boards=tuple(row.get("boards", ())),
        measured_as=Core(row.get("measured_as", name)),
        executorch=row.get("executorch", name.removeprefix("cortex-").upper()),
        cycles=_cycles(name),
    )


CORES: dict[Core, CoreInfo] = {Core(row["name"]): _info(row) for row in _LEDGER["cores"]}


@dataclass(frozen=True)
class Target:
    """What a model is compiled for."""

    core: Core
    isa: Isa

    @classmethod
    def parse(cls, cpu: str, isa: str | None = None) -> Target:
        """Build a target from its names, e.g. ``("cortex-m55", "dsp")``.

        Raises:
            CortexMError: unknown core or instruction set, or one the core does not have.
        """
        try:
            core = Core(cpu.lower())
        except ValueError:
            raise CortexMError(
                f"unknown CPU {cpu!r}", hint=did_you_mean(cpu, [c.value for c in Core])
            ) from None
        supported = CORES[core].isas
        if isa is None:
            return cls(core, supported[-1])
        names = [i.value for i in supported]
        if isa.lower() not in [i.value for i in Isa]:
            raise CortexMError(f"unknown ISA {isa!r}", hint=did_you_mean(isa, names))
        if isa.lower() not in names:
            raise CortexMError(
                f"{core.value} has no {isa.upper()} instructions",
                hint=f"{core.value} supports: {', '.join(names)}",
            )
        return cls(core, Isa(isa.lower()))

    def __str__(self) -> str:
        return f"{self.core.value} ({self.isa.value})"
