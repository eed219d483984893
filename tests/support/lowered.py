# SPDX-License-Identifier: Apache-2.0
"""The benchmark models, lowered for the M55 once in each worker; tests of one model belong to one
xdist group."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from cortexm_tools.compile import Compiled
from cortexm_tools.program import Program, load_program
from cortexm_tools.target import Target

FOLDER = Path(__file__).parents[2] / "benchmarks" / "models"


@cache
def lowered(name: str) -> Program:
    """The program of benchmarks/models/<name>.py."""
    return load_program(FOLDER / f"{name}.py", name=name, target=Target.parse("cortex-m55"))


def alone(compiled: Compiled) -> Compiled:
    """The same without PyTorch's reference: a run is judged by the interpreter, and only told how far the
    reference is, which takes longer than the run."""
    return replace(compiled, program=replace(compiled.program, reference=None))
