# SPDX-License-Identifier: Apache-2.0
"""The ledgers of cores and boards as CMake and the tools read them, and the compiler flags of each core."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cortexm_tools.options.memories import parse_regions
from cortexm_tools.run.boards import BOARDS, boards_for
from cortexm_tools.target import CORES, Core, Isa

from tests.cmake.projects import ROOT, run, succeed

CROSS = [core for core in Core if core not in (Core.ANY, Core.HOST)]


def script(tmp_path: Path, text: str) -> str:
    """The output of a CMake script that includes the table."""
    file = tmp_path / "script.cmake"
    file.write_text(f'include("{ROOT / "cmake" / "CortexMCores.cmake"}")\n{text}\n')
    return succeed(run("cmake", "-P", str(file)))


def test_same_cores_and_instruction_sets(tmp_path: Path) -> None:
    said = script(
        tmp_path,
        "get_property(cpus GLOBAL PROPERTY CORTEXM_CPUS)\n"
        "foreach(cpu IN LISTS cpus)\n"
        "  get_property(isas GLOBAL PROPERTY CORTEXM_ISAS_${cpu})\n"
        '  message("${cpu}: ${isas}")\n'
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
    # Where all chips have DSP, there is no flag against it.
    has = {*isa.runs, *CORES[core].least.runs}
    for each in Isa:
        assert (f"{each.macro} " in macros) == (each in has) or not each.macro
    thumb = {Isa.V6M: 1, Isa.V7M: 2}[CORES[core].base or Isa.SCALAR]
    assert f"__ARM_ARCH_ISA_THUMB {thumb}\n" in macros
    assert ("__ARM_FP " in macros) == ("-mfloat-abi=hard" in flags)


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


def test_ledger_says_nothing_that_nobody_reads() -> None:
    """A word that is written wrongly would be taken for one that is not there."""
    ledger = json.loads((ROOT / "cmake" / "cores.json").read_text(encoding="utf-8"))
    isas = [isa.value for isa in reversed(Isa.MVE.runs)]
    assert [row["name"] for row in ledger["isas"]] == isas
    assert {row.get("base") for row in ledger["cores"]} == {None, "v6m", "v7m"}
    for row in ledger["cores"]:
        assert {"name", "isas"} <= set(row) <= set(ledger["fields"]), row["name"]
        assert set(row.get("older_gcc", row["isas"])) == set(row["isas"]) <= set(isas)
    for board in (ROOT / "boards").glob("*/board.json"):
        fields = json.loads(board.read_text(encoding="utf-8"))
        assert set(fields) == {"about", "cpu", "clock_hz", "machine", "regions"}, board
        parse_regions(fields["regions"])


def test_every_core_has_a_board_that_exists() -> None:
    folders = {path.parent.name for path in (ROOT / "boards").glob("*/board.json")}
    assert folders == set(BOARDS)
    for core in CROSS:
        assert set(boards_for(core)) <= folders and boards_for(core)


@pytest.mark.parametrize("board", BOARDS)
def test_board_states_its_core(tmp_path: Path, board: str) -> None:
    said = script(tmp_path, f'cortexm_load_board({board})\nmessage("${{CORTEXM_BOARD_CPU}}")')
    assert said.strip() == BOARDS[board].core.value
