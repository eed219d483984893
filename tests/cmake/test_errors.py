# SPDX-License-Identifier: Apache-2.0
"""Wrong arguments end at configure time, exceeded limits at build time, with a way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cmake.projects import MODEL, ROOT, refuse, run, succeed


def configure(tmp_path: Path, *calls: str, before: str = "", **definitions: str):
    """A project of a few calls, without a language so that it takes no time."""
    source = tmp_path / "source"
    source.mkdir(exist_ok=True)
    (source / "digits.pte").write_bytes(MODEL.read_bytes())
    (source / "int.pte").write_bytes(MODEL.read_bytes())
    (source / "notes.txt").write_text("no model")
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\n"
        f"{before}\n"
        f'find_package(CortexMModel REQUIRED PATHS "{ROOT / "cmake"}")\n'
        "project(errors LANGUAGES NONE)\n" + "\n".join(calls) + "\n"
    )
    options = [f"-D{key}={value}" for key, value in definitions.items()]
    return run("cmake", "-S", str(source), "-B", str(tmp_path / "build"), *options)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ("", "no model given", "cortexm_add_model(model.py"),
        ("digits.pte CPUU cortex-m55", "unknown argument 'CPUU'", "did you mean 'CPU'?"),
        ("digits.pte RAMLIMIT 1K", "unknown argument 'RAMLIMIT'", "did you mean 'RAM_LIMIT'?"),
        ("digits.pte XYZZY 1", "unknown argument 'XYZZY'", "known: ARENA"),
        ("digits.pte CPU cortex-m56", "unknown CPU 'cortex-m56'", "did you mean 'cortex-m5"),
        ("digits.pte CPU m55", "unknown CPU 'm55'", "cortex-m55"),
        ("digits.pte CPU cortex-m0 ISA mve", "cortex-m0 has no MVE", "supports: scalar"),
        ("digits.pte CPU cortex-m55 ISA mvee", "unknown ISA 'mvee'", "did you mean 'mve'?"),
        ("digits.pte IO int4", "unknown IO 'int4'", "did you mean 'int8'?"),
        ("digits.pte QUANTIZE a8w5", "unknown QUANTIZE 'a8w5'", "did you mean 'a8w4'?"),
        ("digits.pte CALIBRATE gptq", "cannot calibrate by 'gptq'", "weights=gptq"),
        ("digits.pte QUANTIZE a8w4", "digits.pte is quantized already", "leave them out"),
        ("digits.pte OPTIMIZE sped", "unknown OPTIMIZE 'sped'", "did you mean 'speed'?"),
        ("digits.pte ARENA callers", "unknown arena 'callers'", "own, caller or shared"),
        ("digits.pte ARENA shared:a-b", "'a-b' is not a plain C identifier", "shared:a_b"),
        ("digits.pte ARENA shared:a__b", "'a__b' is not a plain C identifier", "shared:a_b"),
        ("digits.pte RAM_LIMIT lots", "RAM_LIMIT: 'lots' is not a size", "64K"),
        ("digits.pte MIN_SQNR 25", "MIN_SQNR: '25' is not a ratio in dB, above 0", "25dB"),
        ("digits.pte MIN_ACCURACY 95%", "'95%' is not a loss of accuracy, from 0% to 50%", "0.5%"),
        ("digits.pte REGIONS dtcm", "'dtcm' describes no memory region", "dtcm=128K:fast"),
        ("digits.pte SAMPLES 2", "digits.pte has no inputs to take samples", "leave SAMPLES out"),
        ("digits.pte SAMPLES 0", "SAMPLES '0' is not a positive number", "or all"),
        (
            "digits.pte CPU cortex-m4 KERNELS cmsis",
            "unknown KERNELS 'cmsis'",
            "known: builtin, cmsis-nn",
        ),
        (
            "digits.pte CPU cortex-m4 KERNELS cmsis-nn",
            "KERNELS cmsis-nn, but the project has no target cmsis-nn",
            "set CMSIS_NN_ROOT to a checkout of https://github.com/ARM-software/CMSIS-NN",
        ),
        ("digits.pte CPU any KERNELS cmsis-nn", "CPU any names none", "name the core"),
        ("digits.pte TARGET", "no value after TARGET", "leave the word out"),
        ("digits.pte TARGET EMBED_PTE", "no value after TARGET", "leave the word out"),
        ('"a\\;b.pte"', "cannot name a file with ';' in its path", "another name"),
        ("[[$<x>.pte]]", "cannot name a file with '$<' in its path", "another name"),
        ('digits.pte CALIBRATION "a\\;b.npz"', "with ';' in its path", "another name"),
        ('digits.pte TARGET "two words"', "no target named 'two words'", "use TARGET two_words"),
        ("digits.pte CALIBRATION none.npz", "none.npz does not exist", "paths are relative"),
        ("digits.pte EXTERNAL_OPERATORS a::b", "is for RUNTIME executorch", "leave it out"),
        ("digit.pte", "digit.pte does not exist", "did you mean 'digits.pte'?"),
        (
            "notes.txt",
            "is no .py, .pt2, .pte, .bpte or .tflite file",
            "exported, or a .tflite",
        ),
        ("digits.pte TARGET int", "cannot be called 'int'", "use TARGET model_int"),
        ("int.pte", "the model in int.pte is called model_int", "project(<name> C)"),
        ("digits.pte PYTHON /no/such/python", "'/no/such/python' cannot be used", "CORTEXM_PYTHON"),
        ("digits.pte", "needs the language C", "project(<name> C)"),
    ],
)
def test_arguments(tmp_path: Path, arguments: str, message: str, hint: str) -> None:
    said = refuse(configure(tmp_path, f"cortexm_add_model({arguments})"))
    assert message in said
    assert hint in said


def test_samples_of_a_model_file_without_evaluation_data(tmp_path: Path) -> None:
    """Said before the model is lowered, and only then: here the language C is what is missing."""
    (tmp_path / "source").mkdir()
    for text, count, warned in (
        ("ModelInputs = ()\n", 4, True),
        ("ModelInputs = ()\n", 1, False),
        ("EvaluationInputs = ()\n", 4, False),
        ("from data import *\n", 4, False),
    ):
        (tmp_path / "source" / "net.py").write_text(text)
        output = refuse(configure(tmp_path, f"cortexm_add_model(net.py SAMPLES {count})"))
        assert ("SAMPLES 4, but net.py defines no EvaluationInputs" in output) == warned, output


def test_interpreter_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORTEXM_PYTHON", "/no/such/python")
    said = refuse(configure(tmp_path, "cortexm_add_model(digits.pte)"))
    assert "'/no/such/python' cannot be used" in said


def test_a_folder_that_is_no_checkout_of_cmsis_nn(tmp_path: Path) -> None:
    call = "cortexm_add_model(digits.pte CPU cortex-m4 KERNELS cmsis-nn)"
    said = refuse(configure(tmp_path, call, CMSIS_NN_ROOT=str(tmp_path)))
    assert f"CMSIS_NN_ROOT: {tmp_path} is not a checkout of CMSIS-NN" in said
    assert "git clone" in said


@pytest.mark.parametrize(
    ("revision", "old"), [("16.0.0", True), ("18.0.0", False), ("19.1.0", False)]
)
def test_copies_of_cmsis_nn_that_are_too_old(tmp_path: Path, revision: str, old: bool) -> None:
    checkout = tmp_path / "nn"
    (checkout / "Include").mkdir(parents=True)
    (checkout / "Include" / "arm_nnfunctions.h").write_text(
        f"/*\n * $Revision:    V.{revision}\n */\n"
    )
    (checkout / "CMakeLists.txt").write_text("add_library(cmsis-nn INTERFACE)\n")
    call = "cortexm_add_model(digits.pte CPU cortex-m4 KERNELS cmsis-nn)"
    said = refuse(configure(tmp_path, call, CMSIS_NN_ROOT=str(checkout)))
    assert ("has revision 16" in said and "take release 7.0.0" in said) == old
    assert ("needs the language C" in said) != old


def test_model_file_needs_torch_in_the_interpreter(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    succeed(run("python3", "-m", "venv", "--without-pip", str(bare)))
    source = tmp_path / "source"
    source.mkdir()
    (source / "net.py").write_text("")
    said = refuse(
        configure(tmp_path, "cortexm_add_model(net.py)", CORTEXM_PYTHON=str(bare / "bin/python"))
    )
    assert "lacks: numpy torch torchao executorch" in said
    assert "CORTEXM_PYTHON" in said
    assert f"-m pip install -r {ROOT}/requirements/torch.txt," in said
    call = "cortexm_add_model(digits.pte REPORT html)"
    said = refuse(configure(tmp_path, call, CORTEXM_PYTHON=str(bare / "bin/python")))
    assert "lacks: numpy jinja2 hint: " in said


def test_two_targets_of_one_name(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    listing = app.source / "CMakeLists.txt"
    listing.write_text(listing.read_text() + "\ncortexm_add_model(${MODEL} TARGET digits)\n")
    said = refuse(app.configure())
    assert "already a target named 'digits'" in said
    assert "add TARGET" in said


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("TARGET kws)\ncortexm_add_model(${MODEL} TARGET KWS", "differ only in capitals"),
        ("TARGET kws)\ncortexm_add_model(${MODEL} TARGET kws_pte", "files of the same names"),
        ("TARGET case", "TARGET case: a model cannot be called 'case': that is a word of C"),
        ("TARGET 3d", "a model cannot be called '3d': that begins with a digit"),
        ("TARGET install", "that is a word of CMake hint: use TARGET model_install"),
        ('TARGET other SECTION_ARENA "a b"', "SECTION_ARENA: 'a b' cannot name a linker section"),
        ('TARGET other SECTION_WEIGHTS "x\\")"', "cannot name a linker section"),
        ('TARGET other REGIONS "sram=1M@x y"', "'x y' cannot name a linker section"),
    ],
)
def test_names_that_cannot_be(project, lines: str, message: str) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    listing = app.source / "CMakeLists.txt"
    listing.write_text(listing.read_text() + f"\ncortexm_add_model(${{MODEL}} {lines})\n")
    assert message in refuse(app.configure())


def test_sections_of_a_shared_arena_that_differ(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    listing = app.source / "CMakeLists.txt"
    listing.write_text(
        listing.read_text()
        + "\ncortexm_add_model(${MODEL} TARGET a ARENA shared SECTION_ARENA .one)"
        + "\ncortexm_add_model(${MODEL} TARGET b ARENA shared SECTION_ARENA .two)\n"
    )
    said = refuse(app.configure())
    assert "SECTION_ARENA '.two' of b, but the arena shared:shared lies in '.one'" in said


def test_cpu_contradicting_the_board(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"), OPTIONS="CPU;cortex-m55")
    said = refuse(app.configure(CORTEXM_BOARD="mps2-an385"))
    assert "CPU cortex-m55 contradicts the toolchain, which builds for cortex-m3" in said


def test_another_board_in_a_configured_folder(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    succeed(app.configure(CORTEXM_BOARD="mps3-an547"))
    said = refuse(app.configure(CORTEXM_BOARD="mps2-an385"))
    assert "this build folder is configured for cortex-m55" in said
    assert "use another build folder" in said


def test_board_without_its_toolchain(project) -> None:
    app = project("add_subdirectory", ROOT=str(ROOT))
    said = refuse(app.configure(CORTEXM_BOARD="mps3-an547"))
    assert "CORTEXM_BOARD is set, but" in said
    assert "before project()" in said


def test_unknown_board(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    said = refuse(app.configure(CORTEXM_BOARD="mps3-an574"))
    assert "unknown board 'mps3-an574'" in said
    assert "did you mean 'mps3-an547'?" in said


def test_missing_compiler(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"))
    said = refuse(app.configure(CORTEXM_BOARD="microbit", CORTEXM_TOOLCHAIN_PREFIX="no-such-"))
    assert "the compiler no-such-gcc was not found" in said
    assert "apt install gcc-arm-none-eabi" in said


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
@pytest.mark.parametrize(
    ("limit", "value", "culprit"), [("RAM_LIMIT", "2K", "conv2d"), ("FLASH_LIMIT", "1K", "conv2d")]
)
def test_plan_exceeds_limit(project, generator: str, limit: str, value: str, culprit: str) -> None:
    """Known from the plan alone: nothing is generated."""
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"), OPTIONS=f"{limit};{value}")
    app.generator = generator
    succeed(app.configure(CORTEXM_BOARD="mps3-an547"))
    for _ in range(2):
        said = refuse(app.make())
        assert limit in said and culprit in said
    assert not (app.build / "cortexm" / "digits" / "digits.c").exists()


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_code_exceeds_flash_limit(project, generator: str) -> None:
    """The constants alone would fit; the exact size is known after the trial link."""
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"), OPTIONS="FLASH_LIMIT;14K")
    app.generator = generator
    succeed(app.configure(CORTEXM_BOARD="mps3-an547"))
    for _ in range(2):  # a second try must not take the library for finished
        said = refuse(app.make())
        assert "bytes of flash exceed FLASH_LIMIT 14,336" in said
        assert "cortexm_conv2d_s8" in said  # the table of what takes the space
    sizes = json.loads((app.build / "cortexm" / "digits" / "digits.footprint.json").read_text())
    assert sizes["flash"] == sizes["code"] + sizes["constants"] + sizes["data"] > 14336


def test_core_with_this_machines_compiler(project) -> None:
    """Said before the model is lowered, not by an #error in the generated code."""
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"), OPTIONS="CPU;cortex-m55")
    said = refuse(app.configure())
    assert "CPU cortex-m55, but " in said and "-DCORTEXM_CPU=cortex-m55" in said


def test_damaged_program(project, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.pte"
    damaged.write_bytes(MODEL.read_bytes()[:1000])
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"), MODEL=str(damaged))
    succeed(app.configure())
    assert "error: " in refuse(app.make())
    assert not list((app.build / "cortexm" / "digits").glob("*.c"))


def test_memories_that_do_not_exist(project) -> None:
    app = project("find_package", CortexMModel_DIR=str(ROOT / "cmake"), OPTIONS="REGIONS;board")
    said = refuse(app.configure())
    assert "no board says what memories it has" in said


def test_a_region_that_its_memory_does_not_hold(project) -> None:
    """The plan trusts the sizes it is told; the link does not: here the stack fills the DTCM."""
    app = project(
        "find_package",
        CortexMModel_DIR=str(ROOT / "cmake"),
        OPTIONS="REGIONS;sram=4M;dtcm=448K:fast",
        CMAKE_EXE_LINKER_FLAGS="-Wl,--defsym=CORTEXM_STACK_SIZE=524288",
    )
    succeed(app.configure(CORTEXM_BOARD="mps3-an547"))
    said = refuse(app.make())
    assert "of 458,752 in dtcm (fast)" in said
    assert "region `DTCM' overflowed by" in said
