# SPDX-License-Identifier: Apache-2.0
"""Exact counts: the counting plugin against the board's clock, and the map file against the image."""

from __future__ import annotations

from pathlib import Path

import pytest

from cortexm_tools.compile import CompileOptions, compile_program
from cortexm_tools.program import Program
from cortexm_tools.run.bench import bench, bench_text
from cortexm_tools.run.classes import EVENTS
from cortexm_tools.run.command import RunRequest, run_program
from cortexm_tools.run.elf import SHF_ALLOC, SHF_WRITE, SHT_NOBITS, parse_elf
from cortexm_tools.run.mapfile import flash_by_part
from cortexm_tools.target import Target

from tests.support.golden import golden_case


@pytest.mark.parametrize("cpu", ["cortex-m3", "cortex-m55"])
def test_counts_agree_with_the_clock(cpu: str, tmp_path: Path) -> None:
    program = Program("net", golden_case("conv-conv2d_x3").pte)
    options = CompileOptions(target=Target.parse(cpu))
    data = bench(program, options, work=tmp_path)
    clock = run_program(compile_program(program, options), RunRequest()).data["instructions"]
    # The marks cost some five instructions a step; clamping makes a few depend on the input.
    assert abs(data["instructions"] - clock) <= 10 * len(data["layers"]) + clock / 1000
    assert sum(layer["instructions"] for layer in data["layers"]) == data["instructions"]
    kernels = sum(row["instructions"] for row in data["functions"])
    assert 0.5 * data["instructions"] < kernels < data["instructions"] + 1000
    assert "conv2d" in bench_text(data)
    # The mix is the exact count, sorted; the estimate is apart from all that is counted.
    classes = {kind: n for kind, n in data["mix"].items() if kind not in EVENTS}
    assert sum(classes.values()) == data["mix"]["fetched"] == data["instructions"]
    cycles = data["estimate"]
    assert 0.3 * data["instructions"] < cycles["cycles_low"] < cycles["cycles_high"]
    assert cycles["cycles_high"] < 4 * data["instructions"]
    assert "estimate, not measured" in bench_text(data)

    (image,) = tmp_path.glob("profile-*/runner.elf")
    elf = parse_elf(image.read_bytes())
    flash = sum(
        section.size
        for section in elf.sections
        if section.flags & SHF_ALLOC
        and section.type != SHT_NOBITS
        and not (section.flags & SHF_WRITE and section.name.startswith(".stack"))
    )
    listed = sum(data["flash_by_part"].values())
    assert 0.95 * flash <= listed <= flash


def test_map_lines_are_sorted_into_parts() -> None:
    text = """
Linker script and memory map

 .text          0x00000100       0x20 CMakeFiles/runner.dir/main.c.obj
 .text.cortexm_conv2d_s8_scalar
                0x00000120      0x300 lib/libcortexm_kernels.a(conv2d_s8_scalar.c.obj)
 .text.invoke   0x00000420       0x40 librunner-model.a(net.c.obj)
 .rodata.net_w  0x60000000       0x80 librunner-model.a(net_weights.c.obj)
 .text.memcpy   0x00000460       0x10 /usr/lib/libc_nano.a(memcpy.o)
 .bss           0x20000000     0x1000 librunner-model.a(net.c.obj)
 .text          0x00000470        0x8 libcortexm_runtime.a(model.c.obj)
"""
    assert flash_by_part(text, "net") == {
        "kernels": 0x300,
        "plan": 0x40,
        "constants": 0x80,
        "runtime": 8,
        "C library": 0x10,
        "start-up and runner": 0x20,
    }
