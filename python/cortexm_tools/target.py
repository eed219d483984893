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
    """Instruction set of a kernel.

    What a target names is a core's best extension, or scalar: each of the first three can run the code
    of those before it. The others are the architectures below (``CoreInfo.base``); their kernels take
    the place of scalar ones, which are portable C.
    """

    SCALAR = "scalar"
    DSP = "dsp"
    MVE = "mve"
    V6M = "v6m"
    V7M = "v7m"

    @property
    def runs(self) -> tuple[Isa, ...]:
        """The extensions that this one includes, best first, and scalar."""
        return tuple(reversed(list(Isa)[: list(Isa).index(self) + 1]))

    @property
    def macro(self) -> str:
        """What a compiler that generates its instructions defines; empty if all do."""
        return next(
            (str(row.get("macro", "")) for row in _LEDGER["isas"] if row["name"] == self.value), ""
        )


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
        base: its architecture, if there are kernels for that.
        least: what every chip with this core has.
        flags: what makes arm-none-eabi-gcc compile for each of them, if it knows the core.
        boards: emulated boards that run its code, in the order to try; none for the host.
        executorch: its name in ExecuTorch.
        float_mac: instructions that a multiplication and an addition of floats take; 0 if it may have an
            FPU.
        cycles: by class of instructions; empty if there is no estimate.
        part: its part number in CPUID; 0 if it is none of Arm's.
    """

    isas: tuple[Isa, ...]
    base: Isa | None
    least: Isa
    flags: Mapping[Isa, tuple[str, ...]]
    boards: tuple[str, ...]
    executorch: str
    float_mac: int
    cycles: Mapping[str, Cost]
    part: int


def _cycles(name: str) -> dict[str, Cost]:
    (row,) = (row for row in _LEDGER["cores"] if row["name"] == name)
    own: dict[str, Any] = dict(row.get("cycles", {}))
    table = _cycles(own.pop("as")) if "as" in own else {}
    return table | {kind: (low, high) for kind, (low, high) in own.items()}


def _info(row: Mapping[str, Any]) -> CoreInfo:
    name = row["name"]
    return CoreInfo(
        isas=tuple(isa for isa in Isa if isa.value in row["isas"]),
        base=Isa(row["base"]) if "base" in row else None,
        least=Isa(row.get("least", "scalar")),
        flags={
            Isa(isa): tuple(filter(None, (chosen, *row.get("flags", ()))))
            for isa, chosen in row["isas"].items()
        },
        boards=tuple(row.get("boards", ())),
        executorch=row.get("executorch", name.removeprefix("cortex-").upper()),
        float_mac=row.get("float_mac", 0),
        cycles=_cycles(name),
        part=int(row.get("part", "0"), 0),
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
        if isa.lower() not in [i.value for i in Isa.MVE.runs]:
            raise CortexMError(f"unknown ISA {isa!r}", hint=did_you_mean(isa, names))
        if isa.lower() not in names:
            raise CortexMError(
                f"{core.value} has no {isa.upper()} instructions",
                hint=f"{core.value} supports: {', '.join(names)}",
            )
        return cls(core, Isa(isa.lower()))

    @property
    def kernels(self) -> Isa:
        """The instruction set of most kernels: the extension, or else the architecture below."""
        base = CORES[self.core].base
        return base if self.isa is Isa.SCALAR and base is not None else self.isa

    @property
    def runs(self) -> tuple[Isa, ...]:
        """The instruction sets of the kernels that it executes, best first."""
        base = CORES[self.core].base
        *extensions, scalar = self.isa.runs
        return (*extensions, *([base] if base else []), scalar)

    def __str__(self) -> str:
        return f"{self.core.value} ({self.isa.value})"
