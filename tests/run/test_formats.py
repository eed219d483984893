# SPDX-License-Identifier: Apache-2.0
"""The files between runner and package, and the accounting of sizes."""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cortexm_tools.errors import CortexMError
from cortexm_tools.run import emulator
from cortexm_tools.run.elf import parse_elf
from cortexm_tools.run.footprint import (
    Footprint,
    check_footprint,
    footprint_of,
    measure,
    shares_of,
    stack_header,
    summary_text,
)
from cortexm_tools.run.result import failure_text, pack_inputs, unpack_outputs

from tests.support.cores import cross_compiler

ROOT = Path(__file__).resolve().parents[2]
ARM = cross_compiler("cortex-m3")
SOURCE = """
#include <stdint.h>
const uint8_t weights[1000] = {1};
const uint8_t unused[5000] = {1};
uint8_t model_own_arena[2048] __attribute__((aligned(16)));
uint32_t counter = 5;
uint32_t scratch[10];
static int helper(int x) { return x * weights[x] + (int)counter; }
int model(int x) { return helper(x) + model_own_arena[x] + (int)scratch[x]; }
"""


def outputs_file(rows: list[list[bytes]], sizes: list[int]) -> bytes:
    data = struct.pack(f"<3I{len(sizes)}I", 0x314F5843, 512, len(sizes), *sizes)
    for number, row in enumerate(rows):
        data += struct.pack("<QI", 100 + number, 40 + number) + b"".join(row)
    return data


def test_inputs_file() -> None:
    packed = pack_inputs([[b"ab", b"c"], [b"de", b"f"]], poison=True)
    assert packed == b"CXI1" + struct.pack("<2I", 2, 1) + b"abcdef"


def test_outputs_file() -> None:
    rows = [[b"abc", b"d"], [b"efg", b"h"]]
    file = outputs_file(rows, [3, 1])
    (result,) = unpack_outputs(file, [2], board="host")
    assert result.outputs == rows
    assert result.instructions_each == (100, 101)
    assert (result.stack_bytes, result.arena_bytes) == (41, 512)
    assert result.ram_bytes == 512
    first, second = unpack_outputs(file + outputs_file(rows[:1], [3, 1]), [2, 1], board="host")
    assert first == result and second.outputs == rows[:1]


def test_outputs_file_cut_anywhere_is_an_error() -> None:
    whole = outputs_file([[b"abc", b"d"], [b"efg", b"h"]], [3, 1])
    for length in range(len(whole)):
        with pytest.raises(CortexMError, match="without writing all its outputs"):
            unpack_outputs(whole[:length], [2], board="host")
    with pytest.raises(CortexMError):
        unpack_outputs(whole + b"x", [2], board="host")


def compile_object(folder: Path, *compiler: str) -> Path:
    (folder / "model.c").write_text(SOURCE)
    options = ["-O1", "-ffunction-sections", "-fdata-sections", "-c", "model.c", "-o", "model.o"]
    subprocess.run([*compiler, *options], cwd=folder, check=True)
    subprocess.run(["ar", "rc", "libmodel.a", "model.o"], cwd=folder, check=True)
    return folder / "libmodel.a"


@pytest.mark.parametrize("compiler", [ARM, ["cc", "-no-pie", "-fno-pie"]])
def test_footprint_counts_what_the_model_reaches(tmp_path: Path, compiler: list[str]) -> None:
    size = measure(compiler, [compile_object(tmp_path, *compiler)], "model")
    assert size.arena == 2048
    assert size.bss == 40
    assert size.data == 4
    # Not `unused`. The host adds unwind information to the constants.
    assert size.constants == 1000 or (compiler is not ARM and 1000 < size.constants < 1300)
    assert 0 < size.code < 200
    assert size.flash == size.code + size.constants + 4
    assert size.ram == 4 + 40 + 2048
    assert size.largest[0] == ("model_own_arena", "arena", 2048)
    assert size.largest[1] == ("weights", "constants", 1000)
    assert "2,048 B arena" in summary_text("model", size)


@pytest.mark.parametrize("compiler", [ARM, ["cc"]])
def test_arena_in_a_section_is_flash_as_far_as_the_image_has_it(
    tmp_path: Path, compiler: list[str]
) -> None:
    for definition, flash in (
        ('CORTEXM_NOBITS(".ram", char model_own_arena[64])', 0),
        ('__attribute__((section(".ram"))) char model_own_arena[64];', 64),
    ):
        (tmp_path / "a.c").write_text(f'#include "cortexm/model.h"\n{definition}\n')
        include = f"-I{ROOT / 'runtime' / 'include'}"
        subprocess.run([*compiler, include, "-c", "a.c"], cwd=tmp_path, check=True)
        placed = footprint_of(parse_elf((tmp_path / "a.o").read_bytes()), "model")
        assert (placed.flash, placed.arena, placed.ram) == (flash, 64 - flash, 64)


def test_a_model_takes_its_part_of_shared_arenas(tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(
        "char cortexm_arena_a[64], cortexm_arena_a__dtcm[32];\n"
        "void *model(int x) { return x ? cortexm_arena_a : cortexm_arena_a__dtcm; }\n"
    )
    subprocess.run([*ARM, "-c", "model.c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rc", "libmodel.a", "model.o"], cwd=tmp_path, check=True)
    report = {
        "arena_bytes": 50,
        "regions": [
            {"name": "sram", "kind": "ram", "bytes": 40},
            {"name": "dtcm", "kind": "fast", "bytes": 10},
            {"name": "flash", "kind": "weights", "bytes": 900},
        ],
    }
    assert shares_of(report) == {"": 40, "dtcm": 10}
    assert shares_of({"arena_bytes": 50, "regions": []}) == {"": 50}
    size = measure(ARM, [tmp_path / "libmodel.a"], "model", shares=shares_of(report))
    assert (size.arena, size.shared_arena, size.bss, size.ram) == (50, 96, 0, 50)
    assert "50 B of the 96 B of a shared arena" in summary_text("model", size)


def test_a_bound_that_is_not_known_is_no_macro() -> None:
    """NAME.h then has what no kernel exceeds."""
    size = Footprint(code=1, constants=1, data=0, bss=0, arena=0, stack_note="calls a pointer")
    assert "calls a pointer" in stack_header("net", size)
    assert "#define" not in stack_header("net", size)
    assert "#define NET_STACK_SIZE 88\n" in stack_header("net", replace(size, stack=88))


def test_limits(tmp_path: Path) -> None:
    size = measure(ARM, [compile_object(tmp_path, *ARM)], "model")
    check_footprint("model", size, size.ram, size.flash)
    with pytest.raises(CortexMError, match=r"exceed RAM_LIMIT") as caught:
        check_footprint("model", size, size.ram - 1, None)
    assert "model_own_arena  2,048  arena" in str(caught.value)
    assert "weights" not in str(caught.value)
    with pytest.raises(CortexMError, match=r"exceed FLASH_LIMIT") as caught:
        check_footprint("model", size, None, size.flash - 1)
    assert "weights" in str(caught.value) and "model_own_arena" not in str(caught.value)


def test_failing_trial_link(tmp_path: Path) -> None:
    with pytest.raises(CortexMError, match="trial link"):
        measure(ARM, [tmp_path / "none.a"], "model")


def test_elf_cut_anywhere_is_an_error(tmp_path: Path) -> None:
    compile_object(tmp_path, *ARM)
    data = (tmp_path / "model.o").read_bytes()
    names = {section.name for section in parse_elf(data).sections}
    assert {".rodata.weights", ".bss.model_own_arena", ".text.model"} <= names
    for length in range(0, len(data), 7):
        with pytest.raises(CortexMError, match="is not an ELF file"):
            parse_elf(data[:length])


def test_words_for_the_runners_exit_statuses() -> None:
    source = (Path(emulator.__file__).parent / "project" / "main.c").read_text()
    numbers = dict(re.findall(r"(RUNNER_\w+) = (\d+)", source))
    for name in ("NO_FILES", "OTHER_FILE", "SHORT_FILE", "NOT_WRITTEN", "OTHER_WEIGHTS"):
        assert failure_text(int(numbers[f"RUNNER_{name}"]), []) != "no message"
    first = int(numbers["RUNNER_INIT"])
    assert failure_text(first + 3, []) == "the model's arena is misaligned"
    assert failure_text(first + 1, []) == "cortexm_init() failed (-1)"
    assert failure_text(int(numbers["RUNNER_INVOKE"]) + 6, []) == "cortexm_invoke() failed (-6)"
    # What the image says itself comes first; other words than errors are the application's.
    assert failure_text(202, ["", "error: HardFault at 0x00000042"]) == "HardFault at 0x00000042"
    assert failure_text(9, ["one", "two", ""]) == "two"
    assert failure_text(9, []) == "no message"
