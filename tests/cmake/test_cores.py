# SPDX-License-Identifier: Apache-2.0
"""CMake's table of cores against the tools', and the compiler flags of each."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cortexm_tools.run.boards import BOARDS, boards_for
from cortexm_tools.target import CORES, Core, Isa

from projects import ROOT, run, succeed

CROSS = [core for core in Core if core not in (Core.ANY, Core.HOST)]


def script(tmp_path: Path, text: str) -> str:
    """The output of a CMake script that includes the table."""
    file = tmp_path / "script.cmake"
    file.write_text(f'include("{ROOT / "cmake" / "CortexMCores.cmake"}")\n{text}\n')
    return succeed(run("cmake", "-P", str(file)))


def test_same_cores_and_instruction_sets(tmp_path: Path) -> None:
    said = script(
        tmp_path,
        "foreach(cpu IN LISTS CORTEXM_CPUS)\n"
        '  message("${cpu}: ${CORTEXM_ISAS_${cpu}}")\n'
        "endforeach()",
    )
    table = dict(line.split(": ") for line in said.splitlines() if line)
    assert table == {
        core.value: ";".join(isa.value for isa in info.isas) for core, info in CORES.items()
    }


@pytest.mark.parametrize(
    ("core", "isa"), [(core, isa) for core in CROSS for isa in CORES[core].isas]
)
def test_flags_give_the_instruction_set(tmp_path: Path, core: Core, isa: Isa) -> None:
    said = script(
        tmp_path,
        f"cortexm_cpu_flags(flags arm-none-eabi-gcc {core.value} {isa.value})\n"
        'message("${flags}")',
    )
    flags = said.strip().split(";")
    done = subprocess.run(
        ["arm-none-eabi-gcc", *flags, "-dM", "-E", "-x", "c", "/dev/null"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    macros = done.stdout
    assert ("__ARM_FEATURE_MVE " in macros) == (isa is Isa.MVE)
    # M4 and M7 always have DSP: there is no flag against it.
    expected = isa is not Isa.SCALAR or core in (Core.M4, Core.M7)
    assert ("__ARM_FEATURE_DSP " in macros) == expected
    assert ("__ARM_FP " in macros) == CORES[core].fpu


@pytest.mark.parametrize(
    ("word", "hint"),
    [("cortex-m5", "did you mean 'cortex-m3'?"), ("cotrex-m55", "did you mean 'cortex-m55'?")],
)
def test_did_you_mean(tmp_path: Path, word: str, hint: str) -> None:
    said = script(
        tmp_path,
        f'cortexm_did_you_mean(hint {word} cortex-m3 cortex-m55)\nmessage("${{hint}}")',
    )
    assert said.strip() == hint


def test_every_core_has_a_board_that_exists() -> None:
    folders = {path.parent.name for path in (ROOT / "boards").glob("*/board.cmake")}
    assert folders == set(BOARDS)
    for core in CROSS:
        assert set(boards_for(core)) <= folders and boards_for(core)


@pytest.mark.parametrize("board", BOARDS)
def test_board_states_its_core(tmp_path: Path, board: str) -> None:
    said = script(tmp_path, f'cortexm_load_board({board})\nmessage("${{CORTEXM_BOARD_CPU}}")')
    assert said.strip() == BOARDS[board].value
