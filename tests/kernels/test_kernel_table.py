# SPDX-License-Identifier: Apache-2.0
"""kernels.json, the files, the headers and the fuzz driver name the same kernels."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cortexm_tools.run.disassembly import disassemble, find_objdump
from cortexm_tools.run.elf import parse_elf
from cortexm_tools.run.image import require_program
from cortexm_tools.run.stack import STACK_BUDGET, CallGraph, read_usage

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parents[1] / "kernels"
DATA = json.loads((KERNELS / "kernels.json").read_text())
TABLE = DATA["kernels"]
NAMES = [f"{k['op']}_{k['types']}_{k['isa']}" for k in TABLE]
ISAS = ["scalar", "dsp", "mve"]
PLAN_STACK = 64  # cortexm_invoke and the generated function above a kernel

# Flags of a core for each instruction set, and of those that must also compile the scalar kernels.
CORES = {
    "cortex-m0": ("scalar", ["-mcpu=cortex-m0"]),
    "cortex-m4": ("dsp", ["-mcpu=cortex-m4"]),
    "cortex-m55": ("mve", ["-march=armv8.1-m.main+mve.fp+fp.dp", "-mfloat-abi=hard"]),
}


def _sources() -> dict[str, Path]:
    files = [*KERNELS.glob("src/*/*.c")]
    return {file.stem: file for file in files if file.parent.name != "cmsis_nn"}


def test_table_lists_every_file_once() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert sorted(_sources()) == sorted(NAMES)
    for kernel, name in zip(TABLE, NAMES, strict=True):
        assert _sources()[name].parent.name == kernel["family"]


def test_every_kernel_has_a_reference() -> None:
    references = {file.stem for file in KERNELS.glob("ref/*.c")}
    assert references == {f"{k['op']}_{k['types']}_ref" for k in TABLE}


def test_header_declares_every_kernel_and_no_other() -> None:
    header = (KERNELS / "include/cortexm/kernels.h").read_text()
    declared = re.findall(r"\bcortexm_(\w+_(?:scalar|dsp|mve))\b", header)
    assert sorted(declared) == sorted(NAMES)


def test_table_and_header_list_every_adapter() -> None:
    rows = DATA["adapters"]
    names = [f"{k['op']}_{k['types']}_{k['library'].replace('-', '_')}" for k in rows]
    assert sorted(names) == sorted(file.stem for file in KERNELS.glob("src/cmsis_nn/*.c"))
    header = (KERNELS / "include/cortexm/kernels.h").read_text()
    assert sorted(names) == sorted(re.findall(r"\bcortexm_(\w+_cmsis_nn)\b", header))
    ours = {(k["op"], k["types"]): k["params"] for k in TABLE}
    assert all(ours[k["op"], k["types"]] == k["params"] for k in rows)


def test_fuzz_driver_runs_every_kernel() -> None:
    driver = "".join(file.read_text() for file in [HERE / "fuzz.c", *HERE.glob("*_kernels.h")])
    fuzzed = {f"{name}_{isa}" for name, isa in re.findall(r"K\((\w+), (\w+), \w+\)", driver)}
    assert fuzzed == set(NAMES)


def test_params_struct_of_every_kernel_exists() -> None:
    params = (KERNELS / "include/cortexm/params.h").read_text()
    for kernel in TABLE:
        assert f"}} {kernel['params']};" in params


def test_every_family_has_a_readme() -> None:
    for family in {k["family"] for k in TABLE}:
        assert (KERNELS / "src" / family / "README.md").read_text().startswith("# ")


@pytest.mark.parametrize(
    ("core", "level", "only"),
    [
        *((core, "-O2", "") for core in CORES),
        # What OPTIMIZE speed compiles with more.
        ("cortex-m4", "-O3", "_dsp"),
        ("cortex-m55", "-O3", "linear_s8_mve"),
    ],
)
def test_cross_compiles_without_warnings_within_the_stack(
    core: str, level: str, only: str, tmp_path: Path
) -> None:
    """One compilation for both: no warning, and no kernel that takes more stack than the budget."""
    compiler = require_program("arm-none-eabi-gcc")
    isa, flags = CORES[core]
    runs = ISAS[: ISAS.index(isa) + 1]
    files = [_sources()[n] for k, n in zip(TABLE, NAMES, strict=True) if k["isa"] in runs]
    files = [file for file in files if file.stem.endswith(only)]
    assert files
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
    includes = [f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}", f"-I{KERNELS / 'ref'}"]
    command = [
        compiler, *flags, "-mthumb", "-std=c11", level, "-fwrapv", "-ffp-contract=off", *warnings,
        *includes, "-fstack-usage", "-c", *map(str, files),
        *([] if only else map(str, sorted(KERNELS.glob("ref/*.c")))),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _check_stack([compiler, *flags, "-mthumb"], [file.stem for file in files], tmp_path)


def _check_stack(compiler: list[str], names: list[str], folder: Path) -> None:
    """Every kernel with all it calls, also in the C library, is within the budget."""
    image = folder / "kernels.elf"
    objects = [f"{name}.o" for name in names]
    link = [*compiler, "--specs=nano.specs", "-nostartfiles", "-Wl,-e,0", "-o", str(image)]
    done = subprocess.run([*link, *objects, "-lm"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    content = image.read_bytes()
    code = disassemble(find_objdump(compiler), image)
    usage = {key: size for key, size in read_usage(folder).items() if "_ref" not in key[0]}
    graph = CallGraph(code, parse_elf(content), {}, usage)
    over = {}
    for name in names:
        bound = graph.bound(f"cortexm_{name}")
        if bound.bytes > STACK_BUDGET - PLAN_STACK:
            over[name] = bound.path
    assert not over
    # Two ways to the same number: the compiler's word, and its code. Of functions in assembler
    # (`naked`) the compiler says 0.
    figures = [(symbol, graph.compiler_figure(symbol)) for symbol in graph.functions]
    known = [(symbol, figure) for symbol, figure in figures if figure is not None]
    assert len(known) >= len(names)
    assert [s.name for s, figure in known if figure and graph.own_depth(s) != figure] == []


@pytest.mark.parametrize("isa", ["dsp", "mve"])
def test_variants_refuse_cores_without_their_instructions(isa: str, tmp_path: Path) -> None:
    for kernel, name in zip(TABLE, NAMES, strict=True):
        if kernel["isa"] == isa:
            text = _sources()[name].read_text()
            code = re.sub(r"/\*.*?\*/", "", text, flags=re.S).strip()
            assert re.match(r"#if !?\(?(!?defined|__ARM)", code), f"{name} has no guard"
            assert "#error" in code.split("#endif")[0]


def test_header_is_cpp(tmp_path: Path) -> None:
    source = tmp_path / "header.cpp"
    source.write_text('#include "cortexm/kernels.h"\nint main() { return 0; }\n')
    done = subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         f"-I{KERNELS / 'include'}", str(source)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_recorded_code_sizes_are_about_right() -> None:
    script = HERE.parents[1] / "scripts" / "kernel_sizes.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
