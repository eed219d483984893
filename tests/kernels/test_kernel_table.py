# SPDX-License-Identifier: Apache-2.0
"""kernels.json, the files, the headers and the fuzz driver name the same kernels."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import kernel_files
import pytest

from cortexm_tools.kernels.rows import expand, source, sources, stamp, written

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parents[1] / "kernels"
DATA = json.loads((KERNELS / "kernels.json").read_text())
TABLE = list(expand(DATA["kernels"]))
ADAPTERS = list(expand(DATA["adapters"]))
NAMES = [kernel["name"] for kernel in TABLE]
FAMILIES = (
    "conv linear recurrent pool activation norm arithmetic compare convert move index reduce resample"
    " spectrum"
).split()


def test_table_lists_every_kernel_once_and_every_file() -> None:
    assert len(set(NAMES)) == len(NAMES)
    files = {str(file.relative_to(KERNELS / "src")) for file in KERNELS.glob("src/*/*.[ci]*")}
    assert files == {written(row) for row in [*TABLE, *ADAPTERS]}


def test_every_operator_is_of_one_of_the_families() -> None:
    families = {kernel["op"]: kernel["family"] for kernel in TABLE}
    assert all(families[row["op"]] == row["family"] for row in [*TABLE, *ADAPTERS])
    assert sorted(FAMILIES) == sorted(set(families.values()))
    assert sorted(FAMILIES) == sorted(file.stem for file in KERNELS.glob("ref/*.c"))
    headings = re.findall(r"^## (\w+)", (KERNELS / "README.md").read_text(), re.MULTILINE)
    assert headings == ["How", "floats", *FAMILIES, "cmsis_nn"]


def test_references_share_nothing_with_what_they_judge() -> None:
    for file in KERNELS.glob("ref/*"):
        included = re.findall(r'#include "(.*)"', file.read_text())
        shared = ["cortexm/kernels.h", "prototypes.h"] if file.name == "ref.h" else ["ref.h"]
        assert included == shared, file
    shared = re.findall(r"#include .*", (KERNELS / "include/cortexm/kernels.h").read_text())
    assert shared == ['#include "cortexm/params.h"']


def test_cmake_and_the_tools_write_the_same_stamps(tmp_path: Path) -> None:
    """And find the same files, in the same order."""
    script = tmp_path / "list.cmake"
    script.write_text(
        f"""cmake_minimum_required(VERSION 3.19)
        include("{KERNELS.parent}/cmake/CortexMKernelSources.cmake")
        set(CMAKE_CURRENT_BINARY_DIR "{tmp_path}")
        cortexm_kernel_sources(kernels mve "v6m|v7m")
        cortexm_adapter_sources(adapters)
        cortexm_kernel_sources(few dsp v7m cortexm_abs_f32_scalar cortexm_add_s8_mve)
        set(levels "${{kernels_BALANCED}}\n${{kernels_SPEED}}")
        file(WRITE "{tmp_path}/list.txt" "${{kernels}}\n${{adapters}}\n${{levels}}\n${{few}}")
        """
    )
    subprocess.run(["cmake", "-P", str(script)], check=True)
    stamps = tmp_path / "stamps"
    texts = {file.stem: file.read_text() for file in stamps.iterdir()}
    rows = [*TABLE, *ADAPTERS]
    sources(KERNELS, tmp_path / "others")
    assert texts.pop("short_names") == (tmp_path / "others" / "short_names.h").read_text()
    assert texts == {row["name"]: stamp(row, DATA) for row in rows if "template" in row}
    kernels, adapters, *levels, few = (tmp_path / "list.txt").read_text().split("\n")
    assert kernels.split(";") == [*map(str, sources(KERNELS, stamps).values())]
    assert adapters.split(";") == [*map(str, sources(KERNELS, stamps, "adapters").values())]
    for name, listed in zip(("balanced", "speed"), levels, strict=True):
        level = DATA["optimize"][name]
        assert listed.split(";") == [kernel.get(name, level) for kernel in TABLE]
    assert few == str(stamps / "abs_f32_scalar.c")


def test_header_declares_every_kernel_and_no_other() -> None:
    header = (KERNELS / "include/cortexm/kernels.h").read_text()
    declared = re.findall(r"\bcortexm_(\w+_(?:scalar|v6m|v7m|dsp|mve))\b", header)
    assert sorted(declared) == sorted(NAMES)


def test_table_and_header_list_every_adapter() -> None:
    names = [row["name"] for row in ADAPTERS]
    header = (KERNELS / "include/cortexm/kernels.h").read_text()
    assert sorted(names) == sorted(re.findall(r"\bcortexm_(\w+_cmsis_nn)\b", header))
    ours = {(k["op"], k["types"]): k["params"] for k in TABLE}
    for row in ADAPTERS:  # those of weights of 4 bits get multipliers of 32, as CMSIS-NN takes them
        types = "s8" if row["types"] == "s8w4" else row["types"]
        assert ours[row["op"], types] == row["params"], row["name"]


def test_fuzz_driver_runs_every_kernel() -> None:
    driver = kernel_files.fuzz_table(TABLE)
    fuzzed = {f"{name}_{isa}" for name, isa in re.findall(r"K\((\w+), (\w+), \w+\)", driver)}
    assert fuzzed == set(NAMES)


def test_two_files_ask_what_they_are_compiled_for() -> None:
    """A kernel's instruction set is what its row says. Files of one begin with a guard, an #error that
    is not part of this; round.h asks the compiler for an FPU and mve.h for the protection of branches,
    of which the row says nothing."""
    macro = r"\b__(?:ARM|arm|thumb|SOFTFP|aarch)\w*"
    asking = set()
    for file in KERNELS.glob("[is]*/**/*.*"):
        if file.parent.name != "cmsis_nn":
            code = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)
            code = re.sub(r"^#if [^\n]*\n#error [^\n]*\n#endif\n", "", code, flags=re.M)
            if re.search(macro, code):
                asking.add(file.name)
    assert asking == {"round.h", "mve.h"}


def test_random_cases_of_a_kernel_are_those_of_its_family() -> None:
    sections = re.split(r"(?m)^/\* (\w+) \*/$", (HERE / "cases.h").read_text())[1:]
    names = [re.findall(r"(\w+)_case\(", text) for text in sections[1::2]]
    found = dict(zip(sections[::2], names, strict=True))
    assert list(found) == FAMILIES
    for row in TABLE:
        case = row.get("case", row.get("template", row["op"]))
        assert f"{case}_{row['types']}" in found[row["family"]], row["name"]


def test_params_struct_of_every_kernel_exists() -> None:
    params = (KERNELS / "include/cortexm/params.h").read_text()
    for kernel in TABLE:
        assert f"}} {kernel['params']};" in params


def short_macros() -> list[str]:
    """The macros of kernels that the project's prefix does not keep apart from an application's."""
    texts = [file.read_text() for file in (KERNELS / "src").rglob("*.*")]
    texts.append("\n".join(DATA["stamp"]))
    names = {name for text in texts for name in re.findall(r"(?m)^ *# *define (\w+)", text)}
    return sorted(name for name in names if not name.lower().startswith("cortexm_"))


@pytest.mark.parametrize("family", FAMILIES)
def test_an_application_may_define_what_kernels_define(family: str, tmp_path: Path) -> None:
    """A kernel of each has the same tokens with definitions under the names of all macros of kernels."""
    row = next(row for row in TABLE if row["family"] == family and row["isa"] == "scalar")
    command = ["cc", "-E", "-P", f"-I{KERNELS / 'include'}", f"-I{KERNELS / 'src'}"]
    command.append(str(source(row, DATA, KERNELS, tmp_path)))
    plain, defined = (
        subprocess.run([*command, *more], capture_output=True, text=True, check=True).stdout
        for more in ([], [f"-D{name}=1" for name in short_macros()])
    )
    assert f"cortexm_{row['name']}(" in plain and defined == plain


@pytest.mark.parametrize("isa", ["v6m", "v7m", "dsp", "mve"])
def test_variants_refuse_cores_without_their_instructions(isa: str) -> None:
    """Those that are templates for several instruction sets do in the header of their routines."""
    for kernel in TABLE:
        if kernel["isa"] == isa:
            folder = "recurrent" if kernel["family"] == "recurrent" else "common"
            name = f"{folder}/{isa}.h" if kernel["shared"] else written(kernel)
            text = (KERNELS / "src" / name).read_text()
            code = re.sub(r"/\*.*?\*/", "", text, flags=re.S).strip()
            head = r"(#ifndef \w+\s#define \w+\s+)?#if !?\(?(!?defined|__ARM)"
            assert re.match(head, code), f"{name} has no guard"
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
