# SPDX-License-Identifier: Apache-2.0
"""A placed arena takes no flash, whatever a vendor's linker script says of its section."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.emit.files import write_files
from cortexm_tools.program import load_program
from cortexm_tools.run.elf import SHT_NOBITS, parse_elf
from cortexm_tools.run.image import require_program
from cortexm_tools.target import Target

ROOT = Path(__file__).resolve().parents[2]
CORE = ("-mcpu=cortex-m4", "-mthumb")
LINKERS = ("-nostdlib", "-Tvendor.ld", "-Wl,--unresolved-symbols=ignore-all")
GCC, CLANG = "arm-none-eabi-gcc", ("clang", "--target=arm-none-eabi")

# As STM32Cube has it: for variables with initial values, which start-up code would copy.
SCRIPT = """
MEMORY {
    FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64K
    RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 64K
    CCMRAM (rw) : ORIGIN = 0x10000000, LENGTH = 64K
}
SECTIONS {
    .text : { KEEP(*(.rodata.digits)) *(.text*) *(.rodata*) } >FLASH
    .data : { *(.data*) } >RAM AT>FLASH
    _siccmram = LOADADDR(.ccmram);
    .ccmram : { . = ALIGN(4); KEEP(*(.ccmram)) *(.ccmram*) . = ALIGN(4); } >CCMRAM AT>FLASH
    .bss : { *(.bss*) *(COMMON) } >RAM
}
"""


@pytest.mark.parametrize(
    ("compile_", "link"),
    [
        ((GCC, "-O0"), (GCC, *LINKERS)),
        ((GCC, "-Os", "-fdata-sections"), (GCC, *LINKERS)),
        ((GCC, "-O2", "-flto"), (GCC, "-O2", "-flto", *LINKERS)),
        ((*CLANG, "-O0"), (*CLANG, "-fuse-ld=lld", *LINKERS)),
        ((*CLANG, "-Os", "-fdata-sections"), (GCC, *LINKERS)),
        ((*CLANG, "-O2", "-flto"), ("ld.lld", "-Tvendor.ld", "--unresolved-symbols=ignore-all")),
    ],
    ids=lambda words: " ".join(words),
)
def test_placed_arena_takes_no_flash(
    tmp_path: Path, compile_: tuple[str, ...], link: tuple[str, ...]
) -> None:
    require_program(compile_[0])
    pte = ROOT / "tests" / "data" / "digits" / "digits.pte"
    target = Target.parse("cortex-m4")
    program = load_program(pte, name="digits", target=target)
    compiled = compile_program(program, CompileOptions(target=target, section_arena=".ccmram"))
    write_files(tmp_path, compiled.files)
    (tmp_path / "vendor.ld").write_text(SCRIPT)
    options = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "digits.c"]
    folders = [f"-I{ROOT / folder / 'include'}" for folder in ("kernels", "runtime")]
    headers = ["-isystem", "/usr/include/newlib"] if compile_[0] == "clang" else []
    subprocess.run([*compile_, *CORE, *options, *folders, *headers], cwd=tmp_path, check=True)
    cpu = () if link[0] == "ld.lld" else CORE
    subprocess.run(
        [*link, *cpu, "digits.o", "--entry=digits" if not cpu else "-Wl,--entry=digits"]
        + ["-o", "image.elf"],
        cwd=tmp_path,
        check=True,
    )
    (arena,) = [
        section
        for section in parse_elf((tmp_path / "image.elf").read_bytes()).sections
        if section.name == ".ccmram"
    ]
    assert arena.type == SHT_NOBITS and arena.size == compiled.report["arena_bytes"]
    objcopy = ["arm-none-eabi-objcopy", "-O", "binary", "image.elf", "image.bin"]
    subprocess.run(objcopy, cwd=tmp_path, check=True)
    assert 0 < (tmp_path / "image.bin").stat().st_size < arena.size
