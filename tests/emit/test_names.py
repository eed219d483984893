# SPDX-License-Identifier: Apache-2.0
"""Whatever a file is called, its model has a name that C and C++ take, and CMake gives it the same."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortexm_tools.cli.configure import cmake_code
from cortexm_tools.emit import EmitOptions, Sample, emit, tie
from cortexm_tools.emit.files import write_files
from cortexm_tools.errors import CortexMError
from cortexm_tools.executorch.emit import kernel_entries, operators_text
from cortexm_tools.executorch.operators import find_operators
from cortexm_tools.frontend.load.builtin import builtin_names
from cortexm_tools.ir import Graph
from cortexm_tools.options.memories import parse_regions
from cortexm_tools.options.names import (
    _words,
    check_name,
    check_target,
    name_of_file,
    name_of_target,
)
from cortexm_tools.plan import make_plan
from cortexm_tools.pte.program import parse_program
from cortexm_tools.simplify import simplify
from cortexm_tools.target import Target

from tests.support.cores import cross_compiler
from tests.support.golden import golden_case
from tests.support.graphs import Net

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    "invoke inputs outputs input_0 linux asm NULL op0_params main case int errno unix class arena "
    "memory band own_arena reset model net cortexm_invoke CORTEXM_OK uint8_t memcpy string "
    "stdint 3d 7 _ __x my-net my.net net_weights test all help install m c INT8_MAX true I "
    "expected_0 kernels planned v0_run operator_0 init state weights a é $ & ' names"
).split()
# The C library's headers, as far as an application on this machine and on a device has them.
HEADERS = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign "
    "stdarg stdbool stddef stdint stdio stdlib stdnoreturn string time wchar wctype"
).split()


def _graph(name: str) -> Graph:
    net = Net(name, seed=6)
    x, hidden = net.input((1, 4)), net.tensor((1, 6))
    total = net.sum(net.linear(x, 6), net.linear(hidden, 6))
    net.keep(hidden, net.activation(total), np.arange(6, dtype=np.int8).reshape(1, 6))
    return net.finish(net.linear(net.states[0].after, 2))


def test_every_name_compiles(tmp_path: Path) -> None:
    """All models in one translation unit behind all headers of the C library, without a warning, so
    that no name stands in the way of another; with profile, poison, samples and ExecuTorch's files."""
    names = sorted({name_of_file(stem)[0] for stem in HOSTILE})
    program = parse_program(golden_case("nn_functional-conv_relu6_avgpool").pte)
    target = Target.parse("any")
    operators = find_operators(program, [], target)
    regions = parse_regions(["sram=1M", "dtcm=1K:fast"])
    units: dict[str, str] = {}
    for name in names:
        options = EmitOptions(name, "test", "0" * 64, profile=True, poison=True)
        plan = make_plan(simplify(_graph(name)), Target.parse("host"), regions)
        samples = [Sample(bytes(4), bytes(2), -1)] * 2
        files = emit(plan, options, pte=b"1234", samples=samples)
        files[f"{name}_operators.c"] = operators_text(operators, options, target)
        write_files(tmp_path, tie(options, files))
        for file in sorted(files):
            kind = file.removeprefix(name)
            unit = "headers.cpp" if kind.endswith(".h") else f"all{kind}"
            units[unit] = units.get(unit, "") + f'#include "{file}"\n'
        body = "\n".join(kernel_entries(operators, options)[1])
        assert not re.findall(rf"static void (?!{name}_)", body)
    system = "".join(f"#include <{header}.h>\n" for header in HEADERS)
    write_files(tmp_path, {unit: system + text for unit, text in units.items()})
    folders = ("runtime/include", "kernels/include", "runtime/executorch/include")
    include = [*(f"-I{ROOT}/{folder}" for folder in folders), "-I."]
    warnings = ["-Wall", "-Wextra", "-Wshadow", "-Wno-unused-function", "-Werror"]
    for unit in units:
        compiler = ["c++", "-std=c++17"] if unit.endswith("pp") else ["cc", "-std=gnu11"]
        command = [*compiler, *warnings, "-fsyntax-only", *include, unit]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=8) | st.sampled_from(HOSTILE))
def test_a_derived_name_can_be_chosen(stem: str) -> None:
    name, reason = name_of_file(stem)
    assert check_name(name) == name
    assert reason or name.isidentifier()
    assert name_of_file(name)[0] in (name, f"model_{name}")


def test_names_that_a_user_chooses() -> None:
    for name in (
        "case",
        "3d",
        "_x",
        "a-b",
        "é",
        "cortexm_net",
        "memcpy",
        "",
        "arm_mve",
        "cmsis_gcc",
    ):
        with pytest.raises(CortexMError, match="a model cannot be called") as caught:
            check_name(name)
        check_name(caught.value.hint.removeprefix("use --name "))
    assert check_name("test") == "test"  # a word of CMake only
    assert name_of_file("test")[0] == "model_test"
    assert all(name_of_file(name) == (name, "") for name in builtin_names())


def test_words_of_arduino_are_taken_where_sketches_see_the_model() -> None:
    """`setup` and `loop` are the sketch's own functions."""
    for name in ("setup", "loop", "Serial", "word"):
        assert name_of_file(name) == (name, "")
        assert name_of_file(name, "words_of_arduino.txt")[0] == f"model_{name}"
        with pytest.raises(CortexMError, match="is a word of Arduino"):
            check_name(name, "words_of_arduino.txt")


def test_words_of_the_compiler_and_its_library() -> None:
    """All macros that the compilers and their headers define, and what newlib's library defines."""
    words = _words("words_of_c.txt")
    text = "".join(f"#include <{header}.h>\n" for header in HEADERS)
    missing: set[str] = set()
    for compiler in ("arm-none-eabi-gcc", "cc"):
        command = [compiler, "-std=gnu11", "-dM", "-E", "-x", "c", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        if compiler != "cc":  # glibc's own macros are many, and no device has them
            missing |= set(re.findall(r"^#define ([A-Za-z]\w*)", done.stdout, re.M)) - words
        command = [compiler, "-std=gnu11", "-dM", "-E", "-x", "c", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        missing |= set(re.findall(r"^#define ([A-Za-z]\w*)", done.stdout, re.M)) - words
    for folder in ("include", "include-fixed", "newlib.h"):
        command = ["arm-none-eabi-gcc", f"-print-file-name={folder}"]
        if folder == "newlib.h":
            command = ["arm-none-eabi-gcc", "-E", "-include", "newlib.h", "-x", "c", "/dev/null"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = re.search(r'^# 1 "(.*)/newlib\.h"', said, re.M)
        headers = Path(found[1] if found else said.strip()).glob("[a-z]*.h")
        missing |= {file.stem for file in headers if file.stem.isidentifier()} - words
    missing = {name for name in missing if not name.startswith("arm_")}
    for library in ("libc.a", "libm.a"):
        command = [*cross_compiler("cortex-m4"), f"-print-file-name={library}"]
        path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        command = ["arm-none-eabi-nm", "-g", "--defined-only", "-f", "posix", path]
        done = subprocess.run(command, capture_output=True, text=True)
        missing |= set(re.findall(r"^([A-Za-z]\w*) [TDBRVW] ", done.stdout, re.M)) - words
    assert not missing


def test_every_file_gives_a_target_and_a_name() -> None:
    for stem in (*HOSTILE, "a.b-c", "a+b", "x y"):
        target, name, reason = name_of_target(stem)
        assert (name, reason) == name_of_file(stem)
        assert target == name or (target == stem and not reason)
        assert re.fullmatch(r"[A-Za-z0-9_.+-]+", target)
    for target in ("two words", "", "é", "case", "3d", "install", "cortexm"):
        with pytest.raises(CortexMError) as caught:
            check_target(target)
        check_target(caught.value.hint.removeprefix("use TARGET "))


def test_cmake_gets_the_values_as_they_are(tmp_path: Path) -> None:
    """Brackets, quotes, variables, backslashes: code that CMake runs must set nothing else."""
    values = [*HOSTILE, "a]]b", "]=]", "${x} $ENV{x}", "a\\b", '"', "#", "]=]==]"]
    lines = ["cmake_minimum_required(VERSION 3.20)"]
    for number, value in enumerate(values):
        (tmp_path / f"{number}.txt").write_bytes(value.encode())
        (tmp_path / f"{number}.code").write_bytes(cmake_code({"v": value}).encode())
        lines += [
            f'file(READ "{tmp_path}/{number}.txt" value)',
            f'file(READ "{tmp_path}/{number}.code" code)',
            'cmake_language(EVAL CODE "${code}")',
            'if(NOT "_${SETTLED_v}" STREQUAL "_${value}")',
            f'  message(SEND_ERROR "{number}: ${{SETTLED_v}}")',
            "endif()",
        ]
    (tmp_path / "values.cmake").write_text("\n".join(lines))
    done = subprocess.run(
        ["cmake", "-P", str(tmp_path / "values.cmake")], capture_output=True, text=True
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert cmake_code({"a": True, "b": ["x", "y"]}) == (
        "set(SETTLED_a [=[TRUE]=])\nset(SETTLED_b [=[x;y]=])\n"
    )
