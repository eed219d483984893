# SPDX-License-Identifier: Apache-2.0
"""CMSIS-NN as the kernel library: what it is compiled for, of which `isa` in kernels.json speaks.

What its adapters require there and the memory that they need hold for its versions 18 (Zephyr 4.x) and 19;
every model that is built repeats the sizes against the library it finds (emit/cmsis_nn.py).
"""

from __future__ import annotations

from ...errors import CortexMError
from ...target import CORES, Core, Isa, Target

LIBRARY = "cmsis-nn"


def compiled_isa(target: Target) -> Isa:
    """The instruction set that a library compiled for `target` uses, which chooses by compiler macros.

    M4 and M7 have DSP instructions whatever the plan uses; on other cores the compiler is told.

    Raises:
        CortexMError: CPU any, whose library may be compiled for any core.
    """
    if target.core is Core.ANY:
        raise CortexMError(
            "CMSIS-NN's scratch memory depends on the core, and CPU any names none",
            hint="name the core, or leave KERNELS out",
        )
    return max(CORES[target.core].least, target.isa, key=list(Isa).index)


def level(isa: Isa) -> int:
    """The number that stands for an instruction set in kernels.json."""
    return {Isa.DSP: 1, Isa.MVE: 2}.get(isa, 0)
