# SPDX-License-Identifier: Apache-2.0
"""OPTIMIZE on emulated cores: the same bytes, and each choice gives what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.program import Program
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.target import Optimize, Target

from tests.support.golden import golden_case


@pytest.mark.parametrize("cpu", ["cortex-m4", "cortex-m55"])
def test_levels_differ_in_code_and_speed_only(cpu: str, tmp_path: Path) -> None:
    program = Program("net", golden_case("conv-conv2d_x3").pte)
    ram = {}
    memory = {}
    instructions = {}
    for level in Optimize:
        options = CompileOptions(target=Target.parse(cpu), optimize=level)
        request = RunRequest(work=tmp_path / level.value)
        result = run_program(compile_program(program, options), request)
        assert result.matched, level
        ram[level] = result.data["ram_bytes"]
        flash = result.data["flash_code_bytes"] + result.data["flash_constants_bytes"]
        memory[level] = ram[level] + flash
        instructions[level] = result.data["instructions"]
    # Bands cost flash for their calls, and save more RAM: 232 bytes of flash for 488 of RAM on the M4.
    assert ram[Optimize.SIZE] <= ram[Optimize.BALANCED]
    assert memory[Optimize.SIZE] < memory[Optimize.BALANCED]
    # On the M55 the smallest kernel for these layers is the fastest one.
    least = instructions[Optimize.BALANCED] + (cpu != "cortex-m55")
    assert least <= instructions[Optimize.SIZE]
    assert instructions[Optimize.SPEED] <= instructions[Optimize.BALANCED] * 1.001
