# SPDX-License-Identifier: Apache-2.0
"""Cores, instruction sets, and the target a model is compiled for.

The table of cores is taken from Arm's Cortex-M processor comparison table and the technical
reference manuals: which extensions each core has, may have, or lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .errors import CortexMError, did_you_mean


class Isa(Enum):
    """Kernel instruction set; each one can run the code of those before it."""

    SCALAR = "scalar"
    DSP = "dsp"
    MVE = "mve"

    @property
    def runs(self) -> tuple[Isa, ...]:
        """The kernel variants that this instruction set executes, best first."""
        return tuple(reversed(list(Isa)[: list(Isa).index(self) + 1]))


class Optimize(Enum):
    """What a build is optimized for; docs/cmake.md says what each does."""

    SIZE = "size"
    BALANCED = "balanced"
    SPEED = "speed"


class Core(Enum):
    """A Cortex-M core, by the name GCC and CMSIS give it."""

    M0 = "cortex-m0"
    M0PLUS = "cortex-m0plus"
    M3 = "cortex-m3"
    M4 = "cortex-m4"
    M7 = "cortex-m7"
    M23 = "cortex-m23"
    M33 = "cortex-m33"
    M35P = "cortex-m35p"
    M52 = "cortex-m52"
    M55 = "cortex-m55"
    M85 = "cortex-m85"
    ANY = "any"
    HOST = "host"


@dataclass(frozen=True)
class CoreInfo:
    """What a core has. `isas` lists what it may be built with, the default last."""

    isas: tuple[Isa, ...]
    fpu: bool


_SCALAR = CoreInfo((Isa.SCALAR,), fpu=False)

CORES: dict[Core, CoreInfo] = {
    Core.M0: _SCALAR,
    Core.M0PLUS: _SCALAR,
    Core.M3: _SCALAR,
    Core.M4: CoreInfo((Isa.SCALAR, Isa.DSP), fpu=True),
    Core.M7: CoreInfo((Isa.SCALAR, Isa.DSP), fpu=True),
    Core.M23: _SCALAR,
    Core.M33: CoreInfo((Isa.SCALAR, Isa.DSP), fpu=True),
    Core.M35P: CoreInfo((Isa.SCALAR, Isa.DSP), fpu=True),
    Core.M52: CoreInfo((Isa.SCALAR, Isa.DSP, Isa.MVE), fpu=True),
    Core.M55: CoreInfo((Isa.SCALAR, Isa.DSP, Isa.MVE), fpu=True),
    Core.M85: CoreInfo((Isa.SCALAR, Isa.DSP, Isa.MVE), fpu=True),
    Core.ANY: _SCALAR,
    Core.HOST: _SCALAR,
}


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
